//! Finds the end of a value of a tag dialect and reads it (XT-33). The tags around values are read by `tags`.

use std::sync::Arc;

use super::Cx;
use super::tags::{State, TagReader, open_block};
use crate::block::Done;
use crate::code::Code;
use crate::dialects::{Opened, close_any, open_any};
use crate::event::ArgPath;
use crate::input::{Incomplete, Input, MORE, is_blank};
use crate::json::Json;
use crate::options::ParseOptions;
use crate::stream::{FastPath, Kind};
use crate::{json, lex};

/// Values of a block that may be read without coming to an end of their own; the end of later ones is searched nearby only.
const SCANS_MAX: usize = if cfg!(test) { 8 } else { 64 };
/// How near.
const NEAR: usize = if cfg!(test) { 128 } else { 1024 };

/// The cost of reading in vain (XT-29).
#[derive(Debug, Default)]
pub(crate) struct Vain {
    /// Only the end of input decided where something ends.
    pub(crate) at_eof: bool,
    /// The number of such values, up to `reach`.
    pub(crate) scans: usize,
    pub(crate) reach: usize,
}

impl Vain {
    /// A value was read up to `to` in vain.
    fn scanned(&mut self, to: usize) {
        self.scans += 1;
        self.reach = self.reach.max(to);
    }
}

/// A value that is open.
#[derive(Debug, Default)]
pub(crate) struct Value {
    pub(crate) key: String,
    pub(crate) from: usize,
    pub(crate) at: usize,
    pub(crate) text: bool,
    open: Open,
    inside: Inside,
    /// The first close tag of a wrapper that is not opened in the value, and the tags before it.
    bare: Option<(usize, Inside)>,
    /// The start of a block in it.
    block: Option<usize>,
    /// The first tag of the dialect in it. The bytes before it certainly belong to the value.
    first: Option<usize>,
    /// The end of the leading blanks.
    blank: usize,
    /// The end of the sent bytes, once non-blank text shows what the block rule takes.
    pub(crate) sent: Option<usize>,
    /// After too many without an end, ends are not searched for from this offset on.
    far: usize,
}

/// How many parameters, calls and wrappers are open in a value.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    params: usize,
    calls: usize,
    wraps: usize,
}

/// Tags of parameters in a value without an own end.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    first_param: Option<usize>,
    last_close: Option<(usize, usize)>,
}

impl Value {
    pub(crate) fn new(key: String, from: usize, text: bool, scans: usize) -> Self {
        let far = if scans < SCANS_MAX { usize::MAX } else { from + NEAR };
        Value { key, from, at: from, text, blank: from, far, ..Value::default() }
    }

    /// Continues after a tag of the dialect. Returns the end of the value, if it is not followed any
    /// further.
    fn pass(&mut self, end: usize) -> Option<Ends> {
        let first = *self.first.get_or_insert(self.at);
        let is_far = self.at >= self.far;
        self.at = end;
        is_far.then(|| Ends::before(first))
    }
}

impl TagReader {
    /// The value of the parameter `opened` begins.
    pub(crate) fn begin_value(&mut self, opened: &Opened<'_>) {
        let nth = self.counts.add(opened.name);
        self.calls.cur.sent.open(ArgPath::root().child(opened.name, nth));
        let (key, scans) = (opened.name.to_owned(), self.vain.scans);
        self.state = State::Value(Value::new(key, opened.end, opened.text, scans));
    }

    /// The fast path for the bytes from `end` on, if a value is being sent there.
    pub(crate) fn fast_path(&self, end: usize, opts: &ParseOptions) -> FastPath {
        let State::Value(Value { at, first: None, sent: Some(sent), .. }) = &self.state else {
            return FastPath::new(Kind::Closed);
        };
        match self.calls.cur.sent.path().filter(|_| *at == end) {
            Some(path) => {
                let until = self.call_start.saturating_add(opts.limits.max_tool_bytes);
                FastPath::value(Kind::Raw, self.call_number(), path.clone(), *sent, until)
            }
            None => FastPath::new(Kind::Closed),
        }
    }

    /// Moves to `end`, past a value that was sent up to `to`.
    pub(crate) fn pass_on(&mut self, to: usize, end: usize) {
        if let State::Value(value) = &mut self.state {
            self.calls.cur.sent.note(value.sent.unwrap_or(to), to);
            (value.at, value.sent) = (end, Some(to));
        }
    }

    /// Finds the end of the value.
    pub(crate) fn value(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let state = std::mem::replace(&mut self.state, State::Call);
        let State::Value(mut value) = state else { return Ok(None) };
        loop {
            let Some(p) = cx.w.find(b'<', value.at) else {
                value.at = cx.w.end();
                if !cx.w.eof {
                    return Err(self.put_off(cx, value, MORE));
                }
                return Ok(self.end_of_input(cx, value));
            };
            value.at = p;
            match self.value_tag(cx.w, &mut value, p) {
                Ok(None) => {}
                Ok(Some(ends)) => {
                    if ends.report.is_some() {
                        self.vain.scanned(p);
                    }
                    self.end_value(cx, &value, ends);
                    return Ok(None);
                }
                Err(wait) => return Err(self.put_off(cx, value, wait)),
            }
        }
    }

    /// The value continues. Sends the bytes that certainly belong to it.
    fn put_off(&mut self, cx: &mut Cx<'_, '_>, mut value: Value, wait: Incomplete) -> Incomplete {
        let to = value.first.unwrap_or(value.at);
        if value.sent.is_none() {
            value.blank = cx.w.skip_blanks(value.blank);
            let lead = || lex::block_lead(cx.w.str(value.from, value.blank));
            value.sent = (value.text && value.blank < to).then(|| value.from + lead());
        }
        let call = self.call_number();
        if let Some(sent) = &mut value.sent {
            *sent = self.calls.cur.sent.send_text(cx.w, cx.queue, call, (*sent, to));
        }
        self.state = State::Value(value);
        wait
    }

    /// A `<` in a value: whether it ends there.
    fn value_tag(
        &mut self,
        w: &Input<'_>,
        value: &mut Value,
        p: usize,
    ) -> Result<Option<Ends>, Incomplete> {
        #[cfg(test)]
        crate::growth::count();
        let grammar = Arc::clone(&self.grammar);
        if let Some(end) = self.close_param(w, p)? {
            return Ok(self.closed_param(value, p, end, self.followed(w, end)?));
        }
        if let Some(opened) = open_any(&grammar.parameter, w, p)? {
            value.open.params += 1;
            value.inside.first_param.get_or_insert(p);
            return Ok(value.pass(opened.end));
        } else if let Some(opened) = open_any(&grammar.call, w, p)? {
            value.open.calls += 1;
            return Ok(value.pass(opened.end));
        } else if let Some(end) = close_any(&grammar.call, w, p)? {
            let Some(calls) = value.open.calls.checked_sub(1) else {
                let (stop, inside) = value.bare.unwrap_or((p, value.inside));
                return Ok(Some(unclosed(inside, stop)));
            };
            value.open.calls = calls;
            return Ok(value.pass(end));
        }
        self.wrapper_tag(w, value, p)
    }

    fn closed_param(
        &self,
        value: &mut Value,
        p: usize,
        end: usize,
        followed: bool,
    ) -> Option<Ends> {
        if value.open.params == 0 && value.open.calls == 0 && followed {
            return Some(Ends { to: p, end, report: None, trim: false });
        }
        value.open.params = value.open.params.saturating_sub(1);
        value.inside.last_close = Some((p, end));
        value.pass(end)
    }

    /// A wrapper's tag in a value, or no tag of the dialect: the next block shows that what seemed to close this one did.
    fn wrapper_tag(
        &self,
        w: &Input<'_>,
        value: &mut Value,
        p: usize,
    ) -> Result<Option<Ends>, Incomplete> {
        let grammar = &self.grammar;
        if let Some(end) = close_any(&grammar.wrapper, w, p)? {
            match value.open.wraps.checked_sub(1) {
                Some(wraps) => value.open.wraps = wraps,
                None => _ = value.bare.get_or_insert((p, value.inside)),
            }
            return Ok(value.pass(end));
        } else if let Some(opened) = open_any(&grammar.wrapper, w, p)? {
            let block = open_block(grammar, w, p)?.is_some();
            value.open.wraps += 1;
            if block {
                value.block.get_or_insert(p);
            }
            let bare = value.bare.filter(|_| block);
            let passed = value.pass(opened.end);
            return Ok(bare.map(|(stop, inside)| unclosed(inside, stop)).or(passed));
        }
        value.at = p + 1;
        Ok(None)
    }

    /// The input ends in a value: it ends before the wrapper's close tag, if there was one, else at the next block or
    /// the end of input.
    fn end_of_input(&mut self, cx: &mut Cx<'_, '_>, value: Value) -> Option<Done> {
        match (value.bare, value.block) {
            (Some((stop, inside)), _) if !cx.cut => {
                self.vain.at_eof = true;
                self.vain.scanned(cx.w.end());
                self.end_value(cx, &value, unclosed(inside, stop));
                None
            }
            (None, Some(block)) if !cx.cut => {
                self.vain.at_eof = true;
                self.store(cx, &value, block);
                Some(self.incomplete(cx, block))
            }
            _ => Some(self.open_value(cx, value)),
        }
    }

    /// Whether blanks and a tag of the block, or the end of input, follow a parameter's close tag.
    fn followed(&self, w: &Input<'_>, end: usize) -> Result<bool, Incomplete> {
        let (q, next) = w.after_blanks(end)?;
        let grammar = &self.grammar;
        Ok(match next {
            None => true,
            Some(b'<') => {
                open_any(&grammar.parameter, w, q)?.is_some()
                    || close_any(&grammar.call, w, q)?.is_some()
                    || open_any(&grammar.call, w, q)?.is_some()
                    || close_any(&grammar.wrapper, w, q)?.is_some()
                    || open_block(grammar, w, q)?.is_some()
                    || self.cut(w, q)
            }
            Some(_) => false,
        })
    }

    fn end_value(&mut self, cx: &mut Cx<'_, '_>, value: &Value, ends: Ends) {
        let mut to = ends.to;
        while ends.trim && to > value.from && cx.w.at(to - 1).is_some_and(is_blank) {
            to -= 1;
        }
        if let Some(code) = ends.report {
            self.calls.note(code, to, ends.end);
        }
        self.store(cx, value, to);
        self.at = ends.end;
    }

    fn store(&mut self, cx: &mut Cx<'_, '_>, value: &Value, to: usize) {
        let text = lex::block_rule(cx.w.str(value.from, to));
        let typed = if value.text { None } else { json::parse(text, cx.opts.limits.json_depth()) };
        let item = match typed {
            Some((item, _)) => item,
            None => {
                if !value.text {
                    self.calls.note(Code::ValueNotJson, value.from, to);
                }
                Json::String(text.to_owned())
            }
        };
        if let Json::String(text) = &item {
            let call = self.call_number();
            self.calls.cur.sent.send_rest(cx.queue, call, text);
        }
        self.calls.cur.raws.push((value.key.as_str().into(), value.from, to));
        self.calls.cur.unwrapped.push((value.key.clone(), item));
    }

    /// The input ends in a value: its bytes so far, without an unfinished tag and without an apparent end of
    /// the block.
    fn open_value(&mut self, cx: &mut Cx<'_, '_>, value: Value) -> Done {
        let end = cx.w.end();
        let raw = cx.w.str(value.from, end);
        let cut = raw.rfind('<').map(|i| value.from + i).filter(|&p| self.cut(cx.w, p));
        let bare = value.bare.map(|(stop, _)| stop);
        self.store(cx, &value, bare.or(cut).unwrap_or(end));
        self.incomplete(cx, end)
    }
}

/// The end of a value that is cut off by the close tag of its call or block at `p`.
fn unclosed(inside: Inside, p: usize) -> Ends {
    match (inside.first_param, inside.last_close) {
        (Some(first), _) => Ends::before(first),
        (None, Some((to, end))) => {
            Ends { to, end, report: Some(Code::MismatchedCloseTag), trim: false }
        }
        (None, None) => Ends::before(p),
    }
}

/// The end of a value, and the reports about it.
struct Ends {
    to: usize,
    end: usize,
    report: Option<Code>,
    trim: bool,
}

impl Ends {
    fn before(pos: usize) -> Self {
        Ends { to: pos, end: pos, report: Some(Code::MissingCloseTag), trim: true }
    }
}
