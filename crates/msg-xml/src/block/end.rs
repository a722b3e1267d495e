//! How a block ends that its close tag does not end, and what is skipped after one that is none (XT-16, XT-17, XT-28).

use super::draft::{Arguments, Done, Draft};
use super::grammar::{Grammar, Halt};
use super::tokens::{Kind, Pending};
use crate::code::Code;

impl Grammar<'_> {
    /// A real opener stands where this block goes on: the block ends before it.
    pub(super) fn end_before(&mut self, pos: usize) -> Done {
        let whole = self.calls.cur.name.is_some() && self.calls.cur.args_closed;
        if whole {
            self.calls.note(Code::MissingCloseTag, pos, pos);
        }
        self.finish(pos, whole)
    }

    /// Text after the arguments: the block ended after its last element.
    pub(super) fn end_at_last(&mut self) -> Done {
        let end = self.last_end;
        self.calls.note(Code::MissingCloseTag, end, end);
        self.finish(end, true)
    }

    /// The end of input, or a tag that it cut.
    fn end_of_input(&mut self) -> Done {
        let end = self.search.tokens.w.end();
        if let Some(params) = self.args.take() {
            self.calls.cur.add_args(Arguments::Params(params));
            self.calls.cur.args_closed = false;
        }
        let Draft { name, args_closed, .. } = &self.calls.cur;
        let whole = name.is_some() && *args_closed && !self.search.cut;
        if whole {
            self.calls.note(Code::MissingCloseTag, end, end);
        }
        self.finish(end, whole)
    }

    /// What the reading has come to.
    pub(super) fn ended(&mut self, res: Result<Done, Halt>) -> Result<Done, Pending> {
        match res {
            Ok(done) => Ok(done),
            Err(Halt::Pending) => Err(Pending),
            Err(Halt::Eof) => Ok(self.end_of_input()),
            Err(Halt::Deep(at)) => self.skip_depth(at),
            Err(Halt::NoJson(at)) => self.skip_rejected(at),
        }
    }

    /// A rejected body: on to the next `</tool>`.
    fn skip_rejected(&mut self, from: usize) -> Result<Done, Pending> {
        self.calls.refuse(Code::InvalidJson);
        let tokens = &self.search.tokens;
        let close = tokens.iter_from(from).find(|t| t.kind == Kind::Close { tool: true });
        match close.map(|t| t.end) {
            Some(end) => Ok(self.finish(end, true)),
            None if tokens.w.eof => Ok(self.finish(self.search.tokens.w.end(), true)),
            None => Err(Pending),
        }
    }

    /// After too much depth: past the first tail, else past the first `</tool>`, else to the end.
    fn skip_depth(&mut self, from: usize) -> Result<Done, Pending> {
        self.calls.refuse(Code::DepthLimit);
        let tokens = &self.search.tokens;
        let (mut tail, mut close) = (None, None);
        for token in tokens.iter_from(from) {
            tail = self.search.tail(token)?;
            if tail.is_some() {
                break;
            }
            if close.is_none() && token.kind == (Kind::Close { tool: true }) {
                close = Some(token.end);
            }
        }
        let (end, eof) = (tokens.w.end(), tokens.w.eof);
        if tail.is_none() && !eof {
            return Err(Pending);
        }
        self.at_eof = tail.is_none();
        Ok(self.finish(tail.or(close).unwrap_or(end), true))
    }
}
