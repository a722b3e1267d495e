//! JSON between the tags of a dialect: Hermes (XT-34), and lists of objects in a wrapper (XT-35, XT-40).
//!
//! ```text
//! <tool_call>{"name":"ls","arguments":{}}</tool_call>
//! <tool_calls>{"name":"ls","arguments":{}} {"name":"pwd","arguments":{}}</tool_calls>
//! ```

use std::sync::Arc;

use super::draft::{Calls, Done};
use super::grammar::{Halt, Head};
use super::json_calls::{json_at, partial_name};
use super::tokens::Pending;
use crate::code::Code;
use crate::input::{Incomplete, Input};
use crate::json::{Json, Read};
use crate::options::Options;
use crate::shape::{TagShape, close_any, open_any};

/// The members that may have the name; the first is the expected one.
const NAMES: [&str; 3] = ["name", "tool_name", "tool"];

/// The tags of a dialect between which calls stand as JSON.
#[derive(Debug)]
pub(crate) struct JsonTags {
    pub(crate) format: Arc<str>,
    pub(crate) shapes: Arc<[TagShape]>,
    /// Several values may follow one another.
    pub(crate) list: bool,
}

/// What follows a value.
enum Behind {
    /// The close tag, up to here.
    Close(usize),
    /// The next block.
    Opener,
    /// The end of input, or a tag that it cut.
    End,
    /// Another value of a list.
    Value(usize),
    /// Nothing that fits.
    Other,
}

impl JsonTags {
    /// The block of these tags whose opener is `head`.
    pub(super) fn read(
        &self,
        w: Input<'_>,
        head: Head,
        opts: &Options,
        cut: bool,
    ) -> Result<Done, Pending> {
        let mut body = Body { tags: self, w, head, opts, cut, calls: Calls::new(head.start) };
        match body.values() {
            Ok(done) => Ok(done),
            Err(Halt::Pending) => Err(Pending),
            Err(Halt::Eof) => Ok(body.finish(w.end(), false)),
            Err(Halt::Deep(at)) => body.refused(Code::DepthLimit, at),
            Err(Halt::NoJson(at)) => body.refused(Code::InvalidJson, at),
        }
    }
}

/// What has been read of a block.
struct Body<'a> {
    tags: &'a JsonTags,
    w: Input<'a>,
    head: Head,
    opts: &'a Options,
    cut: bool,
    calls: Calls,
}

impl Body<'_> {
    fn values(&mut self) -> Result<Done, Halt> {
        let mut from = self.w.after_blanks(self.head.body)?.0;
        loop {
            let read = match json_at(&self.w, from, self.opts)? {
                Ok(read) => read,
                Err(members) => {
                    self.calls.cur.name = partial_name(&members, &NAMES);
                    return Err(Halt::Eof);
                }
            };
            let (to, is_array) = (read.end, matches!(read.value, Json::Array(_)));
            self.value(from, read);
            match self.behind(to)? {
                Behind::Close(end) => return Ok(self.finish(end, true)),
                Behind::Opener => return Ok(self.unclosed(to)),
                Behind::End if !self.cut => return Ok(self.unclosed(self.w.end())),
                Behind::End => {
                    if is_array {
                        self.calls.cut_list();
                    }
                    return Err(Halt::Eof);
                }
                Behind::Value(next) => {
                    self.calls.next_value(next);
                    from = next;
                }
                Behind::Other => return Err(Halt::NoJson(to)),
            }
        }
    }

    /// A whole value: its calls. In a list each is measured on its own (XT-28), and is an object.
    fn value(&mut self, from: usize, read: Read) {
        let is_list = self.tags.list;
        if is_list && read.end - from > self.opts.limits.max_tool_bytes {
            (self.calls.cur.end, self.calls.cur.too_large) = (read.end, true);
            return;
        }
        let is_nested = is_list && matches!(read.value, Json::Array(_));
        let read = if is_nested { Read { value: Json::Null, ..read } } else { read };
        self.calls.add_json(read, &NAMES, from, self.opts);
    }

    /// What follows the value that ends at `to`.
    fn behind(&self, to: usize) -> Result<Behind, Incomplete> {
        let JsonTags { shapes, list, .. } = self.tags;
        let (p, next) = self.w.after_blanks(to)?;
        Ok(match next {
            None => Behind::End,
            Some(b'{') if *list => Behind::Value(p),
            Some(b'<') if self.is_cut(p) => Behind::End,
            Some(b'<') => match close_any(shapes, &self.w, p)? {
                Some(end) => Behind::Close(end),
                None if !list && open_any(shapes, &self.w, p)?.is_some() => Behind::Opener,
                None => Behind::Other,
            },
            Some(_) => Behind::Other,
        })
    }

    /// Whether the end of input cut what may follow a value: the close tag or, but in a list, the next opener.
    fn is_cut(&self, p: usize) -> bool {
        let opener = !matches!(self.w.at(p + 1), None | Some(b'/'));
        let JsonTags { shapes, list, .. } = self.tags;
        (!opener || !list) && shapes.iter().any(|shape| shape.cut(&self.w, p))
    }

    /// The block ends at `end` without its close tag: the next one begins there, or the input ends.
    fn unclosed(&mut self, end: usize) -> Done {
        self.calls.note(Code::MissingCloseTag, end, end);
        self.finish(end, true)
    }

    /// It is no call: it goes to the first close tag from `from` on, or to the end of input.
    fn refused(&mut self, code: Code, from: usize) -> Result<Done, Pending> {
        self.calls.refuse(code);
        let tags = memchr::memchr_iter(b'<', self.w.from(from)).map(|i| from + i);
        for p in tags {
            if let Some(end) = close_any(&self.tags.shapes, &self.w, p).map_err(|_| Pending)? {
                return Ok(self.finish(end, true));
            }
        }
        if self.w.eof { Ok(self.finish(self.w.end(), true)) } else { Err(Pending) }
    }

    fn finish(&mut self, end: usize, whole: bool) -> Done {
        let is_over = end - self.calls.cur.start > self.opts.limits.max_tool_bytes;
        let too_large = is_over && (!self.tags.list || self.calls.is_refused());
        let mut done = self.calls.finish(self.head.start, end, whole, too_large);
        done.format = Some(Arc::clone(&self.tags.format));
        done
    }
}
