//! The JSON body (XT-27), and JSON beside the name (XT-12).

use super::draft::{Arguments, Done, Draft, Note};
use super::grammar::{Grammar, Halt};
use super::json_calls::{JsonCalls, partial_name, read_calls};
use super::opener::{json_fence, opener};
use crate::call::Server;
use crate::code::Code;
use crate::input::{Incomplete, Input, is_blank};
use crate::json::{self, Json, Scan, Scanner};
use crate::lex::{self, ARGS, Tag};

/// The members that may have the name; the first is the expected one.
const NAMES: [&str; 3] = ["tool_name", "name", "tool"];

impl Grammar<'_> {
    /// What follows the opener: a JSON body, or elements.
    pub(super) fn body(&mut self) -> Result<Done, Halt> {
        let w = self.ahead.w;
        let p = self.ahead.misc(self.at)?;
        let (start, fence) = match lex::need(&w, p)? {
            Some(b'{' | b'[') => (Some(p), false),
            Some(b'`') => (json_fence(&w, p)?, true),
            _ => (None, false),
        };
        let Some(start) = start else { return self.top() };
        self.misc()?;
        self.is_json = true;
        let Some(to) = self.json(start)? else {
            self.partial_body(start);
            return Err(Halt::Eof);
        };
        self.json_tail(start, to, fence)
    }

    /// One past the JSON value at `from`; `None` if the input ends in it.
    fn json(&mut self, from: usize) -> Result<Option<usize>, Halt> {
        let w = self.ahead.w;
        let mut scan = Scanner::new(from, self.ahead.opts.limits.json_depth());
        match scan.feed(w.from(from)) {
            Scan::More if !w.eof => Err(Incomplete::never().into()),
            Scan::More => Ok(None),
            Scan::Error(at) => Err(Halt::NoJson(at)),
            Scan::Depth(at) => Err(Halt::Deep(at)),
            Scan::Done(to) => {
                if scan.repaired {
                    self.note(Code::JsonRepaired, from, to);
                }
                Ok(Some(to))
            }
        }
    }

    /// The input ends in the body: its name, if that is whole.
    fn partial_body(&mut self, start: usize) {
        let text = self.ahead.w.str(start, self.ahead.w.end());
        if let Some(name) = partial_name(text, &NAMES) {
            self.set_name(&name, self.head.start);
        }
    }

    /// After the value of a body.
    fn json_tail(&mut self, from: usize, to: usize, fence: bool) -> Result<Done, Halt> {
        let w = self.ahead.w;
        let (mut p, mut next) = w.after_blanks(to)?;
        if fence && next == Some(b'`') && w.word(p, "```")? {
            (p, next) = w.after_blanks(p + 3)?;
        }
        let eof = next.is_none()
            || fence && w.cut_word(p, "```") && w.eof
            || next == Some(b'<') && (cut_tag(&w, p, "</tool") || cut_tag(&w, p, "<tool"));
        if eof {
            if !self.ahead.cut {
                self.note(Code::MissingCloseTag, w.end(), w.end());
            }
            return Ok(self.json_done(from, to, w.end(), !self.ahead.cut));
        }
        if next == Some(b'<') {
            if let Tag::Close(c) = lex::tag(&w, p)?
                && c.is_tool()
            {
                return Ok(self.json_done(from, to, c.end, true));
            }
            if opener(&w, p)?.is_some() {
                self.note(Code::MissingCloseTag, to, to);
                return Ok(self.json_done(from, to, to, true));
            }
        }
        Err(Halt::NoJson(to))
    }

    /// The body is a whole value: its calls.
    fn json_done(&mut self, from: usize, to: usize, end: usize, whole: bool) -> Done {
        let mut value = json::build(self.ahead.w.str(from, to));
        let several = matches!(value, Json::Array(_));
        let attributes = (self.cur.name.take(), self.cur.server.take());
        if let Some(name) = &attributes.0 {
            complement(&mut value, name);
        }
        let depth = self.ahead.opts.limits.json_depth();
        match read_calls(value, &NAMES, self.head.start, depth) {
            Err(code) => self.refuse(code),
            Ok(mut read) => {
                if several && !whole {
                    read.calls.truncate(1);
                    read.calls.iter_mut().for_each(|call| (call.name, call.args) = (None, None));
                }
                self.take_calls(read, attributes, from, to);
            }
        }
        self.finish(end, whole)
    }

    fn take_calls(
        &mut self,
        mut read: JsonCalls,
        attributes: (Option<String>, Option<Server>),
        start: usize,
        end: usize,
    ) {
        let notes = read.notes.into_iter();
        self.notes.extend(notes.map(|(code, call)| Note { code, start, end, call }));
        if let Some(first) = read.calls.first_mut() {
            self.join_attributes(first, attributes);
        }
        if let Some(last) = read.calls.pop() {
            self.done = read.calls;
            self.cur = last;
        }
        let n = self.done.len();
        let missing = self.notes.iter_mut().filter(|note| note.code == Code::MissingCloseTag);
        missing.for_each(|note| note.call = n);
    }

    /// XT-13: what the opener's attributes gave is the first call's; two different values reject the block.
    fn join_attributes(
        &mut self,
        call: &mut Draft,
        (name, server): (Option<String>, Option<Server>),
    ) {
        fn differ<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_some() && b.is_some() && a != b
        }
        if differ(&call.name, &name) || differ(&call.server, &server) {
            self.refuse(Code::DuplicateToolName);
        }
        call.server = call.server.take().or(server);
    }

    /// JSON that stands beside the name: `</tool>` or the end of input make it the arguments.
    pub(super) fn json_beside(&mut self, from: usize) -> Result<(), Halt> {
        let w = self.ahead.w;
        let Some(to) = self.json(from)? else {
            self.cur.args_closed = false;
            return Err(Halt::Eof);
        };
        let (p, next) = w.after_blanks(to)?;
        let fits = match next {
            None => true,
            Some(b'<') => {
                matches!(lex::tag(&w, p)?, Tag::Close(c) if c.is_tool()) || cut_tag(&w, p, "</tool")
            }
            Some(_) => false,
        };
        if !fits {
            return Err(Halt::NoJson(to));
        }
        self.note(Code::JsonArguments, from, to);
        self.note(Code::MissingArgumentsWrapper, from, to);
        let args = match json::build(w.str(from, to)) {
            Json::Object(members) => Arguments::Json(members),
            other => Arguments::Other(other),
        };
        self.cur.add_args(args);
        (self.cur.args_closed, self.cur.typed) = (true, true);
        (self.last_end, self.at) = (to, to);
        Ok(())
    }
}

/// Whether the end of input cut this tag: `</tool` or `<tool`.
fn cut_tag(w: &Input<'_>, p: usize, tag: &str) -> bool {
    let n = (w.end() - p).min(tag.len());
    lex::cut_markup(w, p)
        && w.from(p)[..n].eq_ignore_ascii_case(&tag.as_bytes()[..n])
        && w.at(p + tag.len()).is_none_or(is_blank)
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
