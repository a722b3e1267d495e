//! JSON in a block: as its body (XT-27), beside the name (XT-12), and as the content of `<arguments>` (XT-18).

use super::close::Parent;
use super::draft::{Arguments, Calls, Done};
use super::grammar::{Grammar, Halt};
use super::json_calls::{json_at, partial_name};
use super::opener::json_fence;
use super::tokens::{Kind, Stand, Token};
use crate::call::Server;
use crate::code::Code;
use crate::input::{Input, is_blank};
use crate::json::{Json, Read};
use crate::lex::ARGS;

/// The members that may have the name; the first is the expected one.
const NAMES: [&str; 3] = ["tool_name", "name", "tool"];

impl Grammar<'_> {
    /// What follows the opener: a JSON body, or elements.
    pub(super) fn body(&mut self) -> Result<Done, Halt> {
        let w = self.search.tokens.w;
        let (start, fence) = match self.search.tokens.behind(self.at, Token::is_misc)? {
            Stand::Text(p, b'{' | b'[') => (Some(p), false),
            Stand::Text(p, b'`') => (json_fence(&w, p)?, true),
            _ => (None, false),
        };
        let Some(start) = start else { return self.top() };
        self.peek()?;
        self.is_json = true;
        match json_at(&w, start, self.opts)? {
            Ok(read) => self.json_tail(start, read, fence),
            Err(members) => {
                if let Some(name) = partial_name(&members, &NAMES) {
                    self.calls.set_name(&name, self.head.start);
                }
                Err(Halt::Eof)
            }
        }
    }

    /// After the value of a body.
    fn json_tail(&mut self, from: usize, read: Read, fence: bool) -> Result<Done, Halt> {
        let to = read.end;
        let tokens = &self.search.tokens;
        let w = tokens.w;
        let mut stand = tokens.behind_blanks(to)?;
        let mut cut_fence = false;
        if let Stand::Text(p, b'`') = stand
            && fence
        {
            cut_fence = w.cut_word(p, "```") && w.eof;
            if w.word(p, "```")? {
                stand = tokens.behind_blanks(p + 3)?;
            }
        }
        match stand {
            Stand::Token(t) if t.kind == Kind::Close { tool: true } => {
                Ok(self.json_done(from, read, (t.end, true)))
            }
            Stand::Token(t) if t.kind == Kind::Opener => Ok(self.json_unclosed(from, read, to)),
            Stand::Token(t) if !(is_cut(&w, &t, "</tool") || is_cut(&w, &t, "<tool")) => {
                Err(Halt::NoJson(to))
            }
            Stand::Text(..) if !cut_fence => Err(Halt::NoJson(to)),
            _ if self.search.cut => Ok(self.json_done(from, read, (w.end(), false))),
            _ => Ok(self.json_unclosed(from, read, w.end())),
        }
    }

    /// The close tag is missing at `end`: of the last call.
    fn json_unclosed(&mut self, from: usize, read: Read, end: usize) -> Done {
        let last = read.value.as_array().map_or(0, |items| items.len().saturating_sub(1));
        self.calls.note_of(last, Code::MissingCloseTag, end, end);
        self.json_done(from, read, (end, true))
    }

    /// The body is a whole value: its calls. The block ends at `end`, and says whether its last call may be complete.
    fn json_done(&mut self, from: usize, mut read: Read, (end, whole): (usize, bool)) -> Done {
        let is_list = matches!(read.value, Json::Array(_));
        let attributes = (self.calls.cur.name.take(), self.calls.cur.server.take());
        if let Some(name) = &attributes.0 {
            complement(&mut read.value, name);
        }
        self.calls.add_json(read, &NAMES, from, self.opts);
        if is_list && !whole {
            self.calls.cut_list();
        }
        self.join_attributes(attributes);
        self.finish(end, whole)
    }

    /// XT-13: what the opener's attributes gave is the first call's; two different values reject the block.
    fn join_attributes(&mut self, (name, server): (Option<String>, Option<Server>)) {
        fn differ<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_some() && b.is_some() && a != b
        }
        let Calls { before, cur, .. } = &mut self.calls;
        let call = before.first_mut().unwrap_or(cur);
        let is_other = differ(&call.name, &name) || differ(&call.server, &server);
        call.server = call.server.take().or(server);
        if is_other {
            self.calls.refuse(Code::DuplicateToolName);
        }
    }

    /// JSON that was written for arguments.
    pub(super) fn json_value(
        &mut self,
        value: Json,
        repaired: bool,
        from: usize,
        to: usize,
    ) -> Arguments {
        self.calls.note(Code::JsonArguments, from, to);
        if repaired {
            self.calls.note(Code::JsonRepaired, from, to);
        }
        self.calls.cur.typed = true;
        value.into()
    }

    /// A JSON value that stands first in ARGS counts if the close tag follows; whether it does.
    pub(super) fn json_args(&mut self) -> Result<bool, Halt> {
        let Stand::Text(from, b'{') = self.search.tokens.behind_blanks(self.at)? else {
            return Ok(false);
        };
        let read = match json_at(&self.search.tokens.w, from, self.opts) {
            Ok(Ok(read)) => read,
            Ok(Err(_)) | Err(Halt::NoJson(_)) => return Ok(false),
            Err(halt) => return Err(halt),
        };
        match self.search.tokens.behind_blanks(read.end)? {
            Stand::Token(t) if t.is_close() && Parent::Args.closed_by(t.name) => {
                let value = self.json_value(read.value, read.repaired, from, read.end);
                self.close_args(value, t.end);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// JSON that stands beside the name: `</tool>` or the end of input make it the arguments.
    pub(super) fn json_beside(&mut self, from: usize) -> Result<(), Halt> {
        let w = self.search.tokens.w;
        let Ok(Read { value, end: to, repaired }) = json_at(&w, from, self.opts)? else {
            self.calls.cur.args_closed = false;
            return Err(Halt::Eof);
        };
        let tokens = &self.search.tokens;
        let fits = match tokens.behind_blanks(to)? {
            Stand::End => true,
            Stand::Text(..) => false,
            Stand::Token(t) => {
                t.kind == Kind::Close { tool: true } || is_cut(&tokens.w, &t, "</tool")
            }
        };
        if !fits {
            return Err(Halt::NoJson(to));
        }
        let args = self.json_value(value, repaired, from, to);
        self.calls.note(Code::MissingArgumentsWrapper, from, to);
        self.calls.cur.add_args(args);
        self.calls.cur.args_closed = true;
        (self.last_end, self.at) = (to, to);
        Ok(())
    }
}

/// Whether the end of input cut this tag: `</tool` or `<tool`.
fn is_cut(w: &Input<'_>, t: &Token<'_>, tag: &str) -> bool {
    let n = (w.end() - t.start).min(tag.len());
    t.kind == Kind::CutTag
        && w.from(t.start)[..n].eq_ignore_ascii_case(&tag.as_bytes()[..n])
        && w.at(t.start + tag.len()).is_none_or(is_blank)
}

/// Gives the first call of a body the name from the opener's attributes, if it has arguments and no name.
fn complement(value: &mut Json, name: &str) {
    let first = match value {
        Json::Array(items) => items.first_mut(),
        value => Some(value),
    };
    if let Some(Json::Object(members)) = first
        && NAMES.iter().all(|key| members.word(key).is_none())
        && ARGS.iter().any(|key| members.word(key).is_some())
    {
        members.set(NAMES[0].to_owned(), Json::String(name.to_owned()));
    }
}
