//! Dialects whose calls are JSON: Hermes (XT-34), and lists of objects in a wrapper (XT-35, XT-40). A block is stored
//! until it is whole, and then read; nothing of it is sent before.

use std::sync::Arc;

use super::awaited::Awaited;
use super::gather::{Cx, Gathered};
use crate::block::{Done, Draft, Note, Outcome, partial_name, read_calls};
use crate::code::Code;
use crate::input::{Incomplete, Input, MORE};
use crate::json::{self, Json, Read, Stop};
use crate::shape::{TagShape, close_any, open_any};
use crate::tag_grammar::Grammar;

/// The members that may have the name; the first is the expected one.
const NAMES: [&str; 3] = ["name", "tool_name", "tool"];

/// A block of JSON calls.
#[derive(Debug)]
pub(crate) struct JsonReader {
    start: usize,
    first_call: u32,
    format: Arc<str>,
    shapes: Arc<[TagShape]>,
    /// Several values may follow one another.
    list: bool,
    /// What stands behind the opener.
    body: Awaited,
    /// It is too large: from here on its end is looked for, and nothing is stored.
    skip: Option<usize>,
}

/// What follows a value.
enum Tail {
    /// The block ends here.
    End(usize),
    /// The input ends here, where the close tag was missing.
    Cut(usize),
    /// Another value of a list.
    Value(usize),
    /// Nothing that fits.
    Bad,
}

/// XT-34: the opener and an object or list of objects, or the end of input.
pub(super) fn begin_hermes(
    w: &Input<'_>,
    p: usize,
    first_call: u32,
) -> Result<Option<JsonReader>, Incomplete> {
    let shapes = [TagShape::bare("tool_call"), TagShape::bare("function_call")];
    begin(w, p, &shapes, "hermes", false, first_call)
}

/// XT-35 and XT-40: a wrapper that holds JSON objects.
pub(super) fn begin_list(
    w: &Input<'_>,
    p: usize,
    grammar: &Grammar,
    first_call: u32,
) -> Result<Option<JsonReader>, Incomplete> {
    begin(w, p, &grammar.json_list, &grammar.name, true, first_call)
}

fn begin(
    w: &Input<'_>,
    p: usize,
    shapes: &[TagShape],
    name: &str,
    list: bool,
    first_call: u32,
) -> Result<Option<JsonReader>, Incomplete> {
    let Some(open) = open_any(shapes, w, p)? else { return Ok(None) };
    let (_, next) = w.after_blanks(open.end)?;
    if !matches!((next, list), (Some(b'{'), _) | (Some(b'[') | None, false)) {
        return Ok(None);
    }
    Ok(Some(JsonReader {
        start: p,
        first_call,
        format: name.into(),
        shapes: shapes.into(),
        list,
        body: Awaited::new(open.end),
        skip: None,
    }))
}

impl JsonReader {
    /// The first byte that may still be needed.
    pub(super) fn keep(&self) -> usize {
        self.skip.unwrap_or(self.start)
    }

    pub(super) fn run(&mut self, cx: &mut Cx<'_, '_>) -> Result<Done, Incomplete> {
        if self.skip.is_none() && self.body.is_lost(cx.w, cx.opts) {
            self.skip = Some(self.body.start);
        }
        if let Some(from) = self.skip {
            let end = self.close_tag(cx.w, from).inspect_err(|_| self.skip = Some(cx.w.end()))?;
            return Ok(self.dropped(end));
        }
        self.body.text(cx.w, &self.shapes)?;
        let mut out = Gathered::new(self.start, self.first_call, &self.format);
        let end = self.values(cx, &mut out)?;
        if !self.list && end - self.start > cx.opts.limits.max_tool_bytes {
            return Ok(self.dropped(end));
        }
        for call in std::mem::take(&mut out.calls) {
            out.announce(cx.queue, call.name.as_deref());
            out.calls.push(call);
        }
        Ok(out.done(cx, end))
    }

    fn dropped(&self, end: usize) -> Done {
        let outcome = Outcome::Dropped(Code::ToolTooLarge);
        Done::new(self.start, end, outcome, Vec::new())
    }

    /// The values of the block: where it ends.
    fn values(&self, cx: &Cx<'_, '_>, out: &mut Gathered) -> Result<usize, Incomplete> {
        let (w, depth) = (cx.w, cx.opts.limits.json_depth());
        let mut from = w.after_blanks(self.body.start)?.0;
        loop {
            let (code, at) = match json::read(w.str(from, w.end()), depth) {
                Ok(read) => {
                    let to = from + read.end;
                    let is_array = matches!(read.value, Json::Array(_));
                    self.value(cx, out, from, read);
                    match self.tail(cx, to)? {
                        Tail::End(end) => {
                            out.extend_last(end);
                            return Ok(end);
                        }
                        Tail::Cut(end) => {
                            cut(cx, out, is_array, end);
                            return Ok(end);
                        }
                        Tail::Value(next) => {
                            from = next;
                            continue;
                        }
                        Tail::Bad => (Code::InvalidJson, to),
                    }
                }
                Err(Stop::More(_)) if !w.eof => return Err(MORE),
                Err(Stop::More(members)) => {
                    let first = out.calls.is_empty();
                    let mut call = Draft::new(if first { self.start } else { from });
                    (call.complete, call.name) = (false, partial_name(&members, &NAMES));
                    out.push(call, cx.opts, w.end());
                    return Ok(w.end());
                }
                Err(Stop::Error(at)) => (Code::InvalidJson, from + at),
                Err(Stop::Depth(at)) => (Code::DepthLimit, from + at),
            };
            out.reject.get_or_insert(code);
            return self.close_tag(w, at);
        }
    }

    /// A whole value: its calls.
    fn value(&self, cx: &Cx<'_, '_>, out: &mut Gathered, from: usize, read: Read) {
        let to = from + read.end;
        if read.repaired {
            out.note(Code::JsonRepaired, from, to);
        }
        let start = if out.calls.is_empty() { self.start } else { from };
        out.call_start = if self.list { from } else { self.start };
        if self.list && out.over(cx.opts, to) {
            return out.push(Draft::new(start), cx.opts, to);
        }
        let nested = self.list && matches!(read.value, Json::Array(_));
        let value = if nested { Json::Null } else { read.value };
        match read_calls(value, &NAMES, start, cx.opts.limits.json_depth()) {
            Err(code) => {
                out.reject.get_or_insert(code);
            }
            Ok(read) => {
                let base = out.calls.len();
                let note = |(code, call)| Note { code, start: from, end: to, call: base + call };
                out.notes.extend(read.notes.into_iter().map(note));
                out.calls.extend(read.calls);
                // The calls of an array share their source: it is that of the last.
                out.calls[base..].iter_mut().for_each(|call| call.end = start);
                out.calls.iter_mut().next_back().into_iter().for_each(|last| last.end = to);
            }
        }
    }

    /// What follows the value that ends at `to`.
    fn tail(&self, cx: &Cx<'_, '_>, to: usize) -> Result<Tail, Incomplete> {
        let w = cx.w;
        let (p, next) = w.after_blanks(to)?;
        Ok(match next {
            None => Tail::Cut(w.end()),
            Some(b'{') if self.list => Tail::Value(p),
            Some(b'<') if self.is_cut(w, p) => Tail::Cut(w.end()),
            Some(b'<') => match close_any(&self.shapes, w, p)? {
                Some(end) => Tail::End(end),
                None if !self.list && open_any(&self.shapes, w, p)?.is_some() => Tail::Cut(to),
                None => Tail::Bad,
            },
            Some(_) => Tail::Bad,
        })
    }

    /// Whether the end of input cut what may follow a value: the close tag or, but in a list, the next opener.
    fn is_cut(&self, w: &Input<'_>, p: usize) -> bool {
        let opener = !matches!(w.at(p + 1), None | Some(b'/'));
        (!opener || !self.list) && self.shapes.iter().any(|shape| shape.cut(w, p))
    }

    /// One past the first close tag from `from` on, or the end of input.
    fn close_tag(&self, w: &Input<'_>, from: usize) -> Result<usize, Incomplete> {
        let mut at = from;
        while let Some(p) = w.find(b'<', at) {
            if let Some(end) = close_any(&self.shapes, w, p)? {
                return Ok(end);
            }
            at = p + 1;
        }
        if w.eof { Ok(w.end()) } else { Err(MORE) }
    }
}

/// The block ends at `end` without its close tag: the next one begins there, or the input ends.
fn cut(cx: &Cx<'_, '_>, out: &mut Gathered, is_array: bool, end: usize) {
    if end < cx.w.end() || !cx.cut {
        out.note_last(Code::MissingCloseTag, end, end);
    } else {
        if is_array {
            out.calls.truncate(1);
            out.calls.iter_mut().for_each(|call| (call.name, call.args) = (None, None));
        }
        out.calls.iter_mut().next_back().into_iter().for_each(|last| last.complete = false);
    }
    out.extend_last(end);
}
