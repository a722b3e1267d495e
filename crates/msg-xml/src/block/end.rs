//! How a block ends, and what that makes of its calls (XT-16, XT-17, XT-28).

use super::close::tail;
use super::draft::{Arguments, Done, Draft, Note, Outcome};
use super::grammar::Grammar;
use crate::code::Code;
use crate::input::Incomplete;
use crate::lex::{self, Tag};

/// A block for which so many bytes behind it were read counts as read twice.
pub(crate) const REACH_MAX: usize = 4096;

impl Grammar<'_> {
    /// A real opener stands where this block goes on: the block ends before it.
    pub(super) fn end_before(&mut self, pos: usize) -> Done {
        let whole = self.cur.name.is_some() && self.cur.args_closed;
        if whole {
            self.note(Code::MissingCloseTag, pos, pos);
        }
        self.finish(pos, whole)
    }

    /// Text after the arguments: the block ended after its last element.
    pub(super) fn end_at_last(&mut self) -> Done {
        let end = self.last_end;
        self.note(Code::MissingCloseTag, end, end);
        self.finish(end, true)
    }

    /// The end of input, or a tag that it cut.
    pub(super) fn end_of_input(&mut self) -> Done {
        let end = self.ahead.w.end();
        if let Some(params) = self.args.take() {
            self.cur.add_args(Arguments::Object(params));
            self.cur.args_closed = false;
        }
        let whole = self.cur.name.is_some() && self.cur.args_closed && !self.ahead.cut;
        if whole {
            self.note(Code::MissingCloseTag, end, end);
        }
        self.finish(end, whole)
    }

    /// The block is over; `whole` says whether its last call may be complete.
    pub(super) fn finish(&mut self, end: usize, whole: bool) -> Done {
        if let Some((server, _)) = self.pending_server.take() {
            self.join_server(server);
        }
        self.cur.end = end;
        self.cur.complete = whole;
        let last = self.done.len();
        let mut calls = std::mem::take(&mut self.done);
        calls.push(std::mem::replace(&mut self.cur, Draft::new(end)));
        self.judge(&calls);
        let start = self.head.start;
        let mut notes = std::mem::take(&mut self.notes);
        if !whole {
            notes.retain(|n| n.call != last);
            notes.push(Note { code: Code::TruncatedToolCall, start, end, call: last });
        }
        let outcome = match self.reject {
            _ if self.is_large(end) => Outcome::Dropped(Code::ToolTooLarge),
            Some(code @ Code::DepthLimit) => Outcome::Dropped(code),
            Some(code) => Outcome::Rejected(code),
            None => Outcome::Calls(calls),
        };
        if let Outcome::Rejected(code) | Outcome::Dropped(code) = outcome {
            notes = vec![Note { code, start, end, call: 0 }];
        }
        let mut done = Done::new(start, end, outcome, notes);
        done.at_eof = self.at_eof || self.ahead.rewinds > 0 || self.ahead.reach > end + REACH_MAX;
        done.format = self.is_json.then(|| "json".into());
        done
    }

    /// What complete calls lack rejects the block.
    fn judge(&mut self, calls: &[Draft]) {
        for call in calls.iter().filter(|c| c.complete) {
            if call.name.is_none() {
                self.refuse(Code::MissingToolName);
            } else if call.stray_after_name && !call.has_params() {
                self.refuse(Code::InvalidToolBody);
            }
        }
    }

    /// A rejected body: on to the next `</tool>`.
    pub(super) fn skip_rejected(&mut self, from: usize) -> Result<Done, Incomplete> {
        self.refuse(Code::InvalidJson);
        let w = self.ahead.w;
        let mut at = from;
        while let Some(p) = w.find(b'<', at) {
            match lex::tag(&w, p)? {
                Tag::Close(c) if c.is_tool() => return Ok(self.finish(c.end, true)),
                _ => at = p + 1,
            }
        }
        if w.eof { Ok(self.finish(w.end(), true)) } else { Err(Incomplete::never()) }
    }

    /// After too much depth: past the first tail, else past the first `</tool>`, else to the end.
    pub(super) fn skip_depth(&mut self, from: usize) -> Result<Done, Incomplete> {
        self.refuse(Code::DepthLimit);
        let w = self.ahead.w;
        let (mut at, mut close) = (from, None);
        while let Some(p) = w.find(b'<', at) {
            at = p + 1;
            let Tag::Close(c) = lex::tag(&w, p)? else { continue };
            if c.is_tool() {
                close.get_or_insert(c.end);
            } else if let Some(end) = tail(&w, &c)? {
                return Ok(self.finish(end, true));
            }
        }
        if !w.eof {
            return Err(Incomplete::never());
        }
        self.at_eof = true;
        Ok(self.finish(close.unwrap_or(w.end()), true))
    }
}
