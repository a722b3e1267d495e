//! Dialects whose calls are JSON: Hermes (XT-34), and lists of objects in a wrapper (XT-35, XT-40).

use std::sync::Arc;

use super::awaited::Awaited;
use super::gather::{Cx, Gathered};
use crate::block::{Done, Draft, partial_name, read_calls};
use crate::code::Code;
use crate::input::{Incomplete, Input, MORE, until_done};
use crate::json::{Json, Read, Stop};
use crate::shape::{TagShape, close_any, open_any};
use crate::tag_grammar::Grammar;

/// The members that may have the name; the first is the expected one.
const NAMES: [&str; 3] = ["name", "tool_name", "tool"];

#[derive(Debug)]
enum State {
    Start,
    /// In a value, which is read once it may be whole.
    Value(Awaited),
    /// After a value.
    Tail,
    /// Rejected or dropped: to the next close tag.
    Skip(usize),
}

/// A block of JSON calls.
#[derive(Debug)]
pub(crate) struct JsonReader {
    pub(super) out: Gathered,
    shapes: Arc<[TagShape]>,
    /// Several values may follow one another.
    list: bool,
    /// The value is an array of calls.
    array: bool,
    at: usize,
    state: State,
}

fn hermes_shapes() -> [TagShape; 2] {
    [TagShape::bare("tool_call"), TagShape::bare("function_call")]
}

/// XT-34: the opener and an object or list of objects, or the end of input.
pub(super) fn begin_hermes(
    w: &Input<'_>,
    p: usize,
    first_call: u32,
) -> Result<Option<JsonReader>, Incomplete> {
    begin(w, p, &hermes_shapes(), "hermes", false, first_call)
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
        out: Gathered::new(p, first_call, name),
        shapes: shapes.into(),
        list,
        array: false,
        at: open.end,
        state: State::Start,
    }))
}

impl JsonReader {
    pub(super) fn cursor(&self) -> usize {
        match &self.state {
            State::Value(value) => value.start,
            State::Skip(at) => *at,
            State::Start | State::Tail => self.at,
        }
    }

    pub(super) fn run(&mut self, cx: &mut Cx<'_, '_>) -> Result<Done, Incomplete> {
        until_done(|| self.step(cx)).inspect_err(|_| self.out.settle(cx, self.cursor()))
    }

    fn step(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        match &mut self.state {
            State::Start => {
                let (p, next) = cx.w.after_blanks(self.at)?;
                if next.is_none() {
                    return Ok(Some(self.incomplete(cx, None)));
                }
                self.begin_value(p);
                Ok(None)
            }
            State::Value(value) => {
                let from = value.start;
                if value.is_lost(cx.w, cx.opts) {
                    self.refuse(Code::ToolTooLarge, from);
                    return Ok(None);
                }
                match value.read(cx.w, &self.shapes, cx.opts)? {
                    Ok(read) => self.value(cx, from, read),
                    Err(Stop::More(members)) => {
                        let name = partial_name(&members, &NAMES);
                        return Ok(Some(self.incomplete(cx, name)));
                    }
                    Err(Stop::Error(at)) => self.refuse(Code::InvalidJson, at),
                    Err(Stop::Depth(at)) => self.refuse(Code::DepthLimit, at),
                }
                Ok(None)
            }
            State::Tail => self.tail(cx),
            State::Skip(at) => {
                let at = *at;
                self.skip(cx, at)
            }
        }
    }

    /// In a list each value is a call of its own.
    fn begin_value(&mut self, p: usize) {
        if self.list {
            self.out.call_start = p;
        }
        self.state = State::Value(Awaited::new(p));
    }

    fn refuse(&mut self, code: Code, at: usize) {
        self.out.reject.get_or_insert(code);
        self.state = State::Skip(at);
    }

    /// A whole value: its calls.
    fn value(&mut self, cx: &mut Cx<'_, '_>, from: usize, read: Read) {
        let Read { value, end: to, repaired } = read;
        if repaired {
            self.out.note(Code::JsonRepaired, from, to);
        }
        self.at = to;
        self.state = State::Tail;
        let start = if self.out.calls.is_empty() { self.out.start } else { from };
        if self.out.over(cx.opts, to) {
            let call = Draft::new(start);
            self.out.announce(cx.queue, None);
            self.out.push(call, cx.opts, to);
            return;
        }
        let array = matches!(value, Json::Array(_));
        let value = if self.list && array { Json::Null } else { value };
        self.array = array;
        match read_calls(value, &NAMES, start, cx.opts.limits.json_depth()) {
            Err(code) => {
                self.out.reject.get_or_insert(code);
            }
            Ok(read) => {
                let base = self.out.calls.len();
                for (code, call) in read.notes {
                    self.out.notes.push(crate::block::Note {
                        code,
                        start: from,
                        end: to,
                        call: base + call,
                    });
                }
                let last = read.calls.len().saturating_sub(1);
                for (i, mut call) in read.calls.into_iter().enumerate() {
                    // The calls of an array share their source: it is that of the last.
                    call.end = if i == last { to } else { start };
                    // An array that is cut has one call without name.
                    if !array {
                        self.out.announce(cx.queue, call.name.as_deref());
                    }
                    self.out.calls.push(call);
                }
                if self.list {
                    self.out.call_start = to;
                }
            }
        }
    }

    /// What follows a value.
    fn tail(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let (p, next) = cx.w.after_blanks(self.at)?;
        let cut = next.is_none() || next == Some(b'<') && self.cut(cx.w, p);
        if cut {
            let end = cx.w.end();
            if cx.cut {
                if self.array {
                    self.out.calls.truncate(1);
                    self.out.calls.iter_mut().for_each(|call| {
                        (call.name, call.args) = (None, None);
                    });
                }
                if let Some(last) = self.out.calls.last_mut() {
                    last.complete = false;
                }
            } else {
                self.out.note_last(Code::MissingCloseTag, end, end);
            }
            return Ok(Some(self.finish(cx, end)));
        }
        if next == Some(b'<') {
            if let Some(end) = close_any(&self.shapes, cx.w, p)? {
                return Ok(Some(self.finish(cx, end)));
            }
            if !self.list && open_any(&self.shapes, cx.w, p)?.is_some() {
                let end = self.at;
                self.out.note_last(Code::MissingCloseTag, end, end);
                return Ok(Some(self.finish(cx, end)));
            }
        }
        if self.list && next == Some(b'{') {
            self.begin_value(p);
            return Ok(None);
        }
        self.refuse(Code::InvalidJson, self.at);
        Ok(None)
    }

    /// Whether the end of input cut what may follow a value: the close tag or, but in a list, the next opener.
    fn cut(&self, w: &Input<'_>, p: usize) -> bool {
        let opener = !matches!(w.at(p + 1), None | Some(b'/'));
        (!opener || !self.list) && self.shapes.iter().any(|shape| shape.cut(w, p))
    }

    fn finish(&mut self, cx: &mut Cx<'_, '_>, end: usize) -> Done {
        self.out.extend_last(end);
        if self.array {
            for call in std::mem::take(&mut self.out.calls) {
                self.out.announce(cx.queue, call.name.as_deref());
                self.out.calls.push(call);
            }
        }
        if !self.list && end - self.out.start > cx.opts.limits.max_tool_bytes {
            self.out.calls.iter_mut().for_each(|call| call.too_large = true);
        }
        self.out.done(cx, end)
    }

    fn incomplete(&mut self, cx: &mut Cx<'_, '_>, name: Option<String>) -> Done {
        let end = cx.w.end();
        let first = self.out.calls.is_empty();
        let mut call = Draft::new(if first { self.out.start } else { self.out.call_start });
        call.complete = false;
        self.out.announce(cx.queue, name.as_deref());
        call.name = name;
        self.out.push(call, cx.opts, end);
        self.out.done(cx, end)
    }

    fn skip(&mut self, cx: &mut Cx<'_, '_>, from: usize) -> Result<Option<Done>, Incomplete> {
        let mut at = from;
        while let Some(p) = cx.w.find(b'<', at) {
            match close_any(&self.shapes, cx.w, p) {
                Ok(Some(end)) => return Ok(Some(self.out.done(cx, end))),
                Ok(None) => at = p + 1,
                Err(wait) => {
                    self.state = State::Skip(p);
                    return Err(wait);
                }
            }
        }
        self.state = State::Skip(cx.w.end());
        if cx.w.eof { Ok(Some(self.out.done(cx, cx.w.end()))) } else { Err(MORE) }
    }
}
