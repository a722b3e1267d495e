//! Reads a block by a grammar of tags (XT-33); GLM's keys and values by the same rules, once `glm` has its name.

use std::sync::Arc;

use super::gather::{Cx, Gathered};
use super::tag_value::Value;
use crate::block::{Counts, Done, Draft, Extent};
use crate::code::Code;
use crate::input::{Incomplete, Input, MORE, Need};
use crate::json::{self, Json};
use crate::lex;
use crate::shape::{Opened, close_any, open_any};
use crate::tag_grammar::Grammar;

#[derive(Debug)]
pub(super) enum State {
    /// After the wrapper: the first call.
    Wrapper,
    /// Right after a call's open tag.
    Begun,
    /// JSON from here on, as far as it has come.
    Json(usize, Extent),
    Call,
    Value(Value),
    /// After a call.
    After,
    /// To the first close tag of the opener's name.
    Skip(usize),
}

/// A block of a tag dialect.
#[derive(Debug)]
pub(crate) struct TagReader {
    pub(super) grammar: Arc<Grammar>,
    pub(super) glm: bool,
    pub(super) wrapped: bool,
    pub(super) out: Gathered,
    pub(super) at: usize,
    pub(super) last_end: usize,
    pub(super) cur: Draft,
    /// Of the parameters of that call.
    pub(super) counts: Counts,
    pub(super) stray: bool,
    pub(super) announced: bool,
    pub(super) state: State,
}

/// XT-33: a wrapper or a call at `p`.
pub(super) fn begin(
    w: &Input<'_>,
    p: usize,
    grammar: &Arc<Grammar>,
    first_call: u32,
) -> Result<Option<TagReader>, Incomplete> {
    if let Some(end) = open_block(grammar, w, p)? {
        return Ok(Some(TagReader::new(p, end, grammar, true, first_call)));
    }
    if grammar.wrapper_required || open_any(&grammar.call, w, p)?.is_none() {
        return Ok(None);
    }
    Ok(Some(TagReader::new(p, p, grammar, false, first_call)))
}

/// One past a wrapper at `p` that a call, or the end of input, follows: a block begins there wherever it stands.
pub(super) fn open_block(
    grammar: &Grammar,
    w: &Input<'_>,
    p: usize,
) -> Result<Option<usize>, Incomplete> {
    let Some(wrapper) = open_any(&grammar.wrapper, w, p)? else { return Ok(None) };
    let (q, next) = w.after_blanks(wrapper.end)?;
    let call = match next {
        None => true,
        Some(b'<') => {
            open_any(&grammar.call, w, q)?.is_some()
                || grammar.call.iter().any(|shape| shape.cut(w, q))
        }
        Some(_) => false,
    };
    Ok(call.then_some(wrapper.end))
}

impl TagReader {
    pub(super) fn new(
        start: usize,
        at: usize,
        grammar: &Arc<Grammar>,
        wrapped: bool,
        first_call: u32,
    ) -> Self {
        TagReader {
            out: Gathered::new(start, first_call, &grammar.name),
            grammar: Arc::clone(grammar),
            glm: false,
            wrapped,
            at,
            last_end: at,
            cur: Draft::new(start),
            counts: Counts::default(),
            stray: false,
            announced: false,
            state: State::Wrapper,
        }
    }

    pub(super) fn cursor(&self) -> usize {
        match &self.state {
            State::Value(value) => value.at,
            State::Json(start, _) => *start,
            State::Skip(at) => *at,
            _ => self.at,
        }
    }

    pub(super) fn run(&mut self, cx: &mut Cx<'_, '_>) -> Result<Done, Incomplete> {
        if self.glm && !std::mem::replace(&mut self.announced, true) {
            // The name came with the opener.
            self.announce_glm(cx);
        }
        loop {
            if let Some(done) = self.step(cx)? {
                return Ok(done);
            }
        }
    }

    fn step(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        match &mut self.state {
            State::Wrapper => self.first_call(cx),
            State::Begun => self.begun(cx),
            State::Json(..) => self.json(cx),
            State::Call => self.call(cx),
            State::Value(_) => self.value(cx),
            State::After => self.after(cx),
            State::Skip(at) => {
                let at = *at;
                self.skip(cx, at)
            }
        }
    }

    fn first_call(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let (q, next) = cx.w.after_blanks(self.at)?;
        if next != Some(b'<') {
            return Ok(Some(self.incomplete(cx, cx.w.end())));
        }
        match open_any(&self.grammar.call, cx.w, q)? {
            Some(opened) => self.open_call(cx, q, &opened),
            None => return Ok(Some(self.incomplete(cx, cx.w.end()))),
        }
        Ok(None)
    }

    fn open_call(&mut self, cx: &mut Cx<'_, '_>, start: usize, opened: &Opened<'_>) {
        if !self.out.calls.is_empty() {
            self.cur = Draft::new(start);
        }
        (self.stray, self.counts) = (false, Counts::default());
        self.out.begin_call(cx.w, start);
        self.cur.name = Some(opened.name.to_owned());
        let code = if opened.name.is_empty() {
            Some(Code::MissingToolName)
        } else {
            (!lex::valid_tool_name(opened.name)).then_some(Code::InvalidToolName)
        };
        match code {
            Some(code) => {
                self.out.reject.get_or_insert(code);
                self.out.announce(cx.queue, None);
            }
            None => self.out.announce(cx.queue, Some(opened.name)),
        }
        self.at = opened.end;
        self.state = State::Begun;
    }

    fn begun(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let (q, next) = cx.w.after_blanks(self.at)?;
        self.state = match next {
            Some(b) if json::begins(b) => State::Json(q, Extent::new(q, q)),
            _ => State::Call,
        };
        Ok(None)
    }

    /// What stands next in a call.
    fn call(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let (p, next) = cx.w.after_blanks(self.at)?;
        self.at = p;
        let grammar = Arc::clone(&self.grammar);
        match next {
            None => return Ok(Some(self.incomplete(cx, cx.w.end()))),
            Some(b'<') => {}
            Some(_) => return self.stray(cx, p),
        }
        if let Some(end) = close_any(&grammar.call, cx.w, p)? {
            self.end_call(cx, end);
            return Ok(None);
        }
        if close_any(&grammar.wrapper, cx.w, p)?.is_some()
            || open_any(&grammar.call, cx.w, p)?.is_some()
            || open_block(&grammar, cx.w, p)?.is_some()
        {
            self.out.note(Code::MissingCloseTag, p, p);
            self.end_call(cx, p);
            return Ok(None);
        }
        if let Some(opened) = self.parameter(cx, p)? {
            self.begin_value(cx, &opened);
            return Ok(None);
        }
        if self.at > p {
            // A key without value has been taken.
            return Ok(None);
        }
        if let Some(end) = self.close_param(cx.w, p)? {
            self.out.note(Code::MismatchedCloseTag, p, end);
            self.at = end;
            return Ok(None);
        }
        if self.cut(cx.w, p) || self.cut_key(cx.w, p) {
            return Ok(Some(self.incomplete(cx, cx.w.end())));
        }
        self.stray(cx, p)
    }

    pub(super) fn add(&mut self, key: String, value: Json) {
        self.cur.unwrapped.push((key, value));
    }

    fn stray(&mut self, cx: &mut Cx<'_, '_>, p: usize) -> Result<Option<Done>, Incomplete> {
        let end = match cx.w.find(b'<', p + 1) {
            Some(q) => q,
            None if cx.w.eof => cx.w.end(),
            None => return Err(Incomplete::on(Need::Byte(b'<'))),
        };
        if !self.stray {
            self.out.note(Code::StrayTextInTool, p, end);
        }
        self.stray = true;
        self.at = end;
        Ok(None)
    }

    fn end_call(&mut self, cx: &Cx<'_, '_>, end: usize) {
        if self.stray && !self.cur.has_params() {
            self.out.reject.get_or_insert(Code::InvalidToolBody);
        }
        let next = Draft::new(end);
        let call = std::mem::replace(&mut self.cur, next);
        self.out.push(call, cx.opts, end);
        self.at = end;
        self.last_end = end;
        self.state = State::After;
    }

    fn after(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        if self.glm {
            return Ok(Some(self.out.done(cx, self.at)));
        }
        let (p, next) = cx.w.after_blanks(self.at)?;
        let grammar = Arc::clone(&self.grammar);
        if next == Some(b'<') {
            if let Some(opened) = open_any(&grammar.call, cx.w, p)? {
                self.open_call(cx, p, &opened);
                return Ok(None);
            }
            if let Some(end) = close_any(&grammar.wrapper, cx.w, p)? {
                return Ok(Some(self.finish(cx, end)));
            }
        }
        let mut end = self.last_end;
        if self.wrapped {
            self.out.note_last(Code::MissingCloseTag, end, end);
            if next.is_none()
                || cx.w.str(p, cx.w.end()).starts_with("</")
                    && grammar.wrapper.iter().any(|s| s.cut(cx.w, p))
            {
                end = cx.w.end();
            }
        }
        Ok(Some(self.finish(cx, end)))
    }

    fn finish(&mut self, cx: &Cx<'_, '_>, end: usize) -> Done {
        self.out.extend_last(end);
        self.out.done(cx, end)
    }

    /// The block breaks off at `end`: the input ends there, or the next block begins.
    pub(super) fn incomplete(&mut self, cx: &mut Cx<'_, '_>, end: usize) -> Done {
        let mut call = std::mem::replace(&mut self.cur, Draft::new(end));
        call.complete = false;
        self.out.push(call, cx.opts, end);
        self.out.done(cx, end)
    }

    fn skip(&mut self, cx: &mut Cx<'_, '_>, from: usize) -> Result<Option<Done>, Incomplete> {
        let mut at = from;
        let shapes =
            if self.wrapped { self.grammar.wrapper.clone() } else { self.grammar.call.clone() };
        while let Some(p) = cx.w.find(b'<', at) {
            match close_any(&shapes, cx.w, p) {
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
