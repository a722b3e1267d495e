//! Reads one call between special tokens, or one value that holds several, as it arrives: no byte is read twice.

use std::sync::Arc;

use super::scan::{Early, Scan, Scanned};
use super::{begins_object, is_cut, line_end, name_end, python, token, without_index};
use crate::block::{CallEnd, Calls, Done, Draft, NAMES, read_arguments};
use crate::code::Code;
use crate::dialect::Cx;
use crate::dialects::{DEEPSEEK, Family, HARMONY, KIMI, LLAMA, MISTRAL, Syntax};
use crate::event::Ev;
use crate::input::{Incomplete, MORE, Need, is_blank};
use crate::json::{Json, Read, Stop};
use crate::options::ParseOptions;
use crate::{json, lex};

/// A longer text between opener and arguments is not a name.
const NAME_MAX: usize = 512;
/// The token after the names of Mistral's calls.
const ARGS: &[&str] = &["[ARGS]"];
const CALL_ID: &[&str] = &["[CALL_ID]"];
/// The fence around the arguments of DeepSeek V3.
const FENCE: &[&str] = &["```"];

/// The current state of the reader.
#[derive(Debug)]
pub(super) enum State {
    /// The name follows.
    Name,
    /// After the name: what is before the value.
    Named,
    /// The value begins here, in the syntax of the family.
    Value(usize),
    /// The value begins here, and is of objects with a name.
    Objects(usize),
    /// A single call in Python's syntax.
    Method(usize),
    /// In a value that began here.
    Scan(usize, Syntax, Box<Scan>),
    /// After a value.
    Close,
    /// Not a call: the text up to what may end it.
    Skip,
}

/// How a call begins.
#[derive(Debug)]
pub(super) struct Begun {
    at: usize,
    state: State,
    is_bare: bool,
}

impl Begun {
    /// After its tokens.
    pub(super) fn tokens(at: usize, state: State) -> Self {
        Begun { at, state, is_bare: false }
    }

    /// Without tokens.
    pub(super) fn bare(at: usize, state: State) -> Self {
        Begun { at, state, is_bare: true }
    }
}

/// A call of a family, or several in one value.
#[derive(Debug)]
pub(crate) struct TokenReader {
    family: &'static Family,
    is_bare: bool,
    start: usize,
    at: usize,
    /// The number of the first call.
    call: u32,
    calls: Calls,
    /// The announced parts of each call.
    early: Vec<Early>,
    /// The arguments are in a fence (DeepSeek V3).
    fenced: bool,
    state: State,
}

impl TokenReader {
    pub(super) fn new(family: &'static Family, begun: Begun, start: usize, call: u32) -> Self {
        TokenReader {
            family,
            is_bare: begun.is_bare,
            start,
            at: begun.at,
            call,
            calls: Calls::new(start),
            early: vec![Early::default()],
            fenced: false,
            state: begun.state,
        }
    }

    /// The call of a harmony message with a header from `start` to `end`.
    pub(crate) fn harmony(start: usize, end: usize, tool: &str, call: u32) -> Self {
        let begun = Begun::tokens(end, State::Named);
        let mut reader = TokenReader::new(&HARMONY, begun, start, call);
        reader.calls.cur.name = Some(tool.to_owned());
        reader
    }

    /// The first byte that may still be needed: what turns out not to be a call becomes text, unless it is too large.
    pub(crate) fn keep(&self, opts: &ParseOptions) -> usize {
        let at = self.pos();
        if self.is_large(at, opts) { at } else { self.start }
    }

    fn pos(&self) -> usize {
        if let State::Scan(_, _, scan) = &self.state { scan.at() } else { self.at }
    }

    /// XT-28.
    fn is_large(&self, pos: usize, opts: &ParseOptions) -> bool {
        pos - self.start > opts.limits.max_tool_bytes
    }

    pub(crate) fn run(&mut self, cx: &mut Cx<'_, '_>) -> Result<Done, Incomplete> {
        loop {
            let done = match self.state {
                State::Name => self.name(cx)?,
                State::Named => self.named(cx)?,
                State::Value(at) => self.begin_scan(cx, at, self.family.syntax),
                State::Objects(at) => self.begin_scan(cx, at, Syntax::Objects),
                State::Method(at) => self.begin_scan(cx, at, Syntax::Python),
                State::Scan(..) => self.scan(cx)?,
                State::Close => self.close(cx)?,
                State::Skip => Some(self.skip(cx)?),
            };
            if let Some(done) = done {
                return Ok(done);
            }
        }
    }

    /// The text between the opener and what separates it from the arguments.
    fn name(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        if self.family.name == MISTRAL.name {
            let end = name_end(cx.w, self.at)?;
            return Ok(self.take_name(cx, end, end));
        }
        let limit = self.at + NAME_MAX;
        let Some(p) = cx.w.find(b'<', self.at).filter(|&p| p <= limit) else {
            if cx.w.end() > limit {
                return Ok(self.refuse(Code::InvalidToolBody, limit));
            }
            return match cx.w.eof {
                true => Ok(Some(self.cut(cx))),
                false => Err(Incomplete::on(Need::Byte(b'<')).by(limit + 1)),
            };
        };
        match token(cx.w, p, self.family.separators)? {
            Some(end) => Ok(self.take_name(cx, p, end)),
            None if self.family.separators.iter().any(|it| is_cut(cx.w, p, it)) => {
                Ok(Some(self.cut(cx)))
            }
            None => Ok(self.refuse(Code::InvalidToolBody, p)),
        }
    }

    /// Takes the name up to `to`. Reading continues at `end`.
    fn take_name(&mut self, cx: &mut Cx<'_, '_>, to: usize, end: usize) -> Option<Done> {
        let text = lex::trim(cx.w.str(self.at, to));
        if cx.w.eof && end == cx.w.end() && self.family.name == MISTRAL.name {
            // It may have gone on.
            return Some(self.cut(cx));
        }
        self.at = end;
        self.state = State::Named;
        let is_kimi = self.family.name == KIMI.name;
        let name = if is_kimi { without_index(text) } else { text };
        // DeepSeek V3 has the type of the tool before its name.
        if !(self.family.name == DEEPSEEK.name && name == "function") {
            self.calls.cur.name = Some(name.to_owned());
        } else {
            self.calls.cur.unnamed = true;
        }
        None
    }

    /// Reads from the name to the value: nothing, the tokens of Mistral, or the line and fence of DeepSeek
    /// V3.
    fn named(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let (mut p, mut next) = cx.w.after_blanks(self.at)?;
        if self.calls.cur.unnamed && next.is_some() {
            if next == Some(b'{') {
                self.calls.cur.name = Some("function".to_owned());
            } else {
                let end = line_end(cx.w, p)?;
                let Some(end) = end else { return Ok(Some(self.cut(cx))) };
                let name = lex::trim(cx.w.str(p, end)).to_owned();
                self.calls.cur.name = Some(name);
                self.at = end;
            }
            self.calls.cur.unnamed = false;
            return Ok(None);
        }
        if self.family.name == MISTRAL.name && next == Some(b'[') {
            if let Some(end) = token(cx.w, p, CALL_ID)? {
                let from = cx.w.after_blanks(end)?.0;
                self.at = name_end(cx.w, from)?;
                return Ok(None);
            }
            if let Some(end) = token(cx.w, p, ARGS)? {
                (p, next) = cx.w.after_blanks(end)?;
            } else if next.is_some() {
                let is_cut = is_cut(cx.w, p, ARGS[0]) || is_cut(cx.w, p, CALL_ID[0]);
                return Ok(if is_cut {
                    Some(self.cut(cx))
                } else {
                    self.refuse(Code::InvalidToolBody, p)
                });
            }
        }
        if self.family.name == DEEPSEEK.name && next == Some(b'`') && !self.fenced {
            return self.fence(cx, p);
        }
        self.announce(cx);
        self.at = p;
        match next {
            None => Ok(Some(self.cut(cx))),
            Some(b'{' | b'[' | b'"') => {
                self.state = State::Value(p);
                Ok(None)
            }
            Some(_) => self.no_json(cx, p),
        }
    }

    /// The fence before the arguments of DeepSeek V3.
    fn fence(&mut self, cx: &mut Cx<'_, '_>, p: usize) -> Result<Option<Done>, Incomplete> {
        match token(cx.w, p, FENCE)? {
            None if is_cut(cx.w, p, FENCE[0]) => Ok(Some(self.cut(cx))),
            None => Ok(self.refuse(Code::InvalidToolBody, p)),
            Some(end) => {
                let Some(end) = line_end(cx.w, end)? else { return Ok(Some(self.cut(cx))) };
                (self.fenced, self.at) = (true, end);
                Ok(None)
            }
        }
    }

    /// The text in the place of the arguments is not JSON: it is empty, or in harmony a text such as
    /// code.
    fn no_json(&mut self, cx: &mut Cx<'_, '_>, p: usize) -> Result<Option<Done>, Incomplete> {
        if self.family.name == MISTRAL.name {
            return Ok(self.refuse(Code::InvalidToolBody, p));
        }
        if token(cx.w, p, self.family.close)?.is_some() {
            self.state = State::Close;
            return Ok(None);
        }
        if self.family.name != HARMONY.name {
            let is_cut = self.family.close.iter().any(|it| is_cut(cx.w, p, it));
            return Ok(if is_cut { Some(self.cut(cx)) } else { self.refuse(Code::InvalidJson, p) });
        }
        let mut at = p;
        loop {
            let Some(q) = cx.w.find(b'<', at) else {
                return if cx.w.eof {
                    Ok(Some(self.cut(cx)))
                } else {
                    Err(Incomplete::on(Need::Byte(b'<')))
                };
            };
            let ends = token(cx.w, q, self.family.close)?.is_some()
                || token(cx.w, q, self.family.after)?.is_some();
            if ends {
                let text =
                    cx.w.str(p, q).trim_end_matches(|c: char| c.is_ascii() && is_blank(c as u8));
                let (args, notes) =
                    read_arguments(Json::String(text.to_owned()), cx.opts.limits.json_depth());
                self.arguments(args, notes, (p, q));
                self.at = q;
                return Ok(None);
            }
            at = q + 1;
        }
    }

    fn announce(&mut self, cx: &mut Cx<'_, '_>) {
        let Some(name) = &self.calls.cur.name else { return };
        let code = match name.is_empty() {
            true => Some(Code::MissingToolName),
            false => (!lex::valid_tool_name(name)).then_some(Code::InvalidToolName),
        };
        match code {
            Some(code) => self.calls.refuse(code),
            None if self.early[0].has_name => {}
            None => {
                cx.queue.name(self.call, name);
                self.early[0].has_name = true;
            }
        }
    }

    fn begin_scan(&mut self, cx: &Cx<'_, '_>, at: usize, syntax: Syntax) -> Option<Done> {
        // The calls of objects are met in the value; a call whose name is known has begun.
        let early = match syntax {
            Syntax::Arguments => std::mem::take(&mut self.early),
            _ => Vec::new(),
        };
        self.early.clear();
        let scan = Scan::new(syntax, at, cx.opts.limits.json_depth(), (self.call, early));
        self.state = State::Scan(at, syntax, Box::new(scan));
        None
    }

    fn scan(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let State::Scan(from, syntax, scan) = &mut self.state else { return Ok(None) };
        let (from, syntax) = (*from, *syntax);
        let found = scan.run(cx.w, cx.queue)?;
        self.early.append(&mut scan.calls);
        match found {
            Scanned::Cut => {
                self.at = cx.w.end();
                Ok(Some(self.cut(cx)))
            }
            Scanned::Broken(at) => Ok(self.refuse(self.broken(syntax), at)),
            Scanned::End(to) => {
                self.at = to;
                // A call that is too large was not stored.
                if self.is_large(to, cx.opts) {
                    self.calls.cur.too_large = true;
                    self.state = State::Close;
                    return Ok(None);
                }
                Ok(self.value(cx, syntax, from, to))
            }
        }
    }

    fn broken(&self, syntax: Syntax) -> Code {
        if syntax == Syntax::Python { Code::InvalidToolBody } else { Code::InvalidJson }
    }

    /// A value that ends at `to`.
    fn value(
        &mut self,
        cx: &mut Cx<'_, '_>,
        syntax: Syntax,
        from: usize,
        to: usize,
    ) -> Option<Done> {
        let depth = cx.opts.limits.json_depth();
        let text = cx.w.str(from, to);
        if syntax == Syntax::Python && !begins_object(text) {
            return match python::read(text, depth) {
                Ok(calls) => {
                    self.add_python(calls, to);
                    None
                }
                Err(code) => self.refuse(code, to),
            };
        }
        match json::read(text, depth) {
            Ok(read) if read.end == text.len() => {
                let read = Read { end: to, ..read };
                match syntax {
                    Syntax::Arguments => {
                        if read.repaired {
                            self.calls.note(Code::JsonRepaired, from, to);
                        }
                        let (args, notes) = read_arguments(read.value, depth);
                        self.arguments(args, notes, (from, to));
                    }
                    _ => {
                        self.calls.add_json(read, &NAMES, from, cx.opts);
                        self.state = State::Close;
                    }
                }
                None
            }
            Err(Stop::Depth(_)) => self.refuse(Code::DepthLimit, to),
            _ => self.refuse(Code::InvalidJson, to),
        }
    }

    fn arguments(
        &mut self,
        args: crate::block::Arguments,
        notes: Vec<Code>,
        (from, to): (usize, usize),
    ) {
        notes.into_iter().for_each(|code| self.calls.note(code, from, to));
        (self.calls.cur.typed, self.calls.cur.args_closed) = (true, true);
        self.calls.cur.args = Some(args);
        self.state = State::Close;
    }

    fn add_python(&mut self, list: python::PythonCalls, to: usize) {
        for (n, (name, members)) in list.into_iter().enumerate() {
            if n > 0 {
                self.calls.next_value(self.start);
            }
            // `NAME.call(…)` is how Llama calls the tools that are built in.
            let is_method = self.family.name == LLAMA.name;
            let name = name.strip_suffix(".call").filter(|_| is_method).unwrap_or(&name);
            if !lex::valid_tool_name(name) {
                self.calls.refuse(Code::InvalidToolName);
            }
            let draft = Draft {
                name: Some(name.to_owned()),
                typed: true,
                args_closed: true,
                args: Some(Json::Object(members).into()),
                ..Draft::new(self.start)
            };
            self.calls.cur = draft;
        }
        self.calls.cur.end = to;
        self.state = State::Close;
    }

    /// Reads the end of the call.
    fn close(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Incomplete> {
        let to = self.at;
        let tokens = self.family;
        if self.family.name == MISTRAL.name
            || !self.is_bare && tokens.close.is_empty() && tokens.name != LLAMA.name
        {
            return Ok(Some(self.done(cx, to, true)));
        }
        if self.is_bare && !tokens.is_bare {
            return Ok(Some(self.done(cx, to, true)));
        }
        let (mut p, mut next) = cx.w.after_blanks(to)?;
        if self.fenced && next == Some(b'`') {
            match token(cx.w, p, FENCE)? {
                Some(end) => (p, next) = cx.w.after_blanks(end)?,
                None if is_cut(cx.w, p, FENCE[0]) => (p, next) = (cx.w.end(), None),
                None => return Ok(self.refuse(Code::InvalidJson, p)),
            }
        }
        if next.is_none() {
            return Ok(Some(self.ended(cx, to)));
        }
        if tokens.name == LLAMA.name && next == Some(b';') {
            return self.next_object(cx, p + 1);
        }
        if !self.is_bare
            && let Some(end) = token(cx.w, p, tokens.close)?
        {
            return Ok(Some(self.done(cx, end, true)));
        }
        let is_over = token(cx.w, p, tokens.after)?.is_some()
            || token(cx.w, p, tokens.open)?.is_some()
            || token(cx.w, p, tokens.section)?.is_some();
        if is_over {
            if !tokens.close.is_empty() && !self.is_bare {
                self.calls.note(Code::MissingCloseTag, to, to);
            }
            return Ok(Some(self.done(cx, to, true)));
        }
        let mut all = [tokens.close, tokens.after, tokens.open].into_iter().flatten();
        if all.any(|it| is_cut(cx.w, p, it)) {
            return Ok(Some(self.ended(cx, cx.w.end())));
        }
        match tokens.close.is_empty() && !self.is_bare {
            true => Ok(Some(self.done(cx, to, true))),
            false => Ok(self.refuse(self.broken(tokens.syntax), p)),
        }
    }

    /// Another object after a semicolon (Llama).
    fn next_object(
        &mut self,
        cx: &mut Cx<'_, '_>,
        from: usize,
    ) -> Result<Option<Done>, Incomplete> {
        let (p, next) = cx.w.after_blanks(from)?;
        match next {
            Some(b'{') => {
                self.calls.next_value(self.start);
                let begun = std::mem::take(&mut self.early);
                let first = self.call;
                let scan =
                    Scan::new(Syntax::Objects, p, cx.opts.limits.json_depth(), (first, begun));
                self.state = State::Scan(p, Syntax::Objects, Box::new(scan));
                Ok(None)
            }
            None => Ok(Some(self.ended(cx, cx.w.end()))),
            Some(_) => Ok(self.refuse(Code::InvalidJson, p)),
        }
    }

    /// The input ends after a value, at `end`: a token that stops a model is often not given on.
    fn ended(&mut self, cx: &mut Cx<'_, '_>, end: usize) -> Done {
        let needs_close = !self.is_bare && !self.family.close.is_empty();
        if needs_close && self.family.name != HARMONY.name && !cx.cut {
            self.calls.note(Code::MissingCloseTag, end, end);
        }
        self.done(cx, if cx.cut { cx.w.end() } else { end }, !cx.cut)
    }

    /// The input ends in the call.
    fn cut(&mut self, cx: &mut Cx<'_, '_>) -> Done {
        let is_list = !self.calls.before.is_empty();
        if is_list {
            self.calls.cut_list();
        }
        if self.calls.cur.name.as_ref().is_some_and(|it| !lex::valid_tool_name(it)) {
            self.calls.cur.name = None;
        }
        self.done(cx, cx.w.end(), false)
    }

    /// It is not a call; what ends it is searched from `from` on.
    fn refuse(&mut self, code: Code, from: usize) -> Option<Done> {
        self.calls.refuse(code);
        (self.at, self.state) = (from, State::Skip);
        None
    }

    /// Skips to the end of a rejected call. Without tokens, that is the place where it became
    /// invalid.
    fn skip(&mut self, cx: &mut Cx<'_, '_>) -> Result<Done, Incomplete> {
        let family = self.family;
        if self.is_bare || family.close.is_empty() {
            return Ok(self.done(cx, self.at, true));
        }
        while let Some(p) = cx.w.find(b'<', self.at) {
            self.at = p;
            if let Some(end) = token(cx.w, p, family.close)? {
                return Ok(self.done(cx, end, true));
            }
            let others = [family.after, family.open, family.section];
            for tokens in others {
                if token(cx.w, p, tokens)?.is_some() {
                    return Ok(self.done(cx, p, true));
                }
            }
            self.at = p + 1;
        }
        self.at = cx.w.end().max(self.at);
        if cx.w.eof { Ok(self.done(cx, cx.w.end(), true)) } else { Err(MORE) }
    }

    /// Ends the call at `end`; `whole` says whether it may be complete.
    fn done(&mut self, cx: &mut Cx<'_, '_>, end: usize, whole: bool) -> Done {
        let is_large = self.is_large(end, cx.opts);
        let mut done = self.calls.finish(self.start, end, whole, is_large);
        done.format = Some(Arc::from(self.family.name));
        let begun = self.early.len().max(1) as u32;
        if let CallEnd::Calls(calls) = &mut done.outcome {
            self.early.resize_with(calls.len().max(self.early.len()), Early::default);
            for ((n, call), early) in (self.call..).zip(calls.iter_mut()).zip(&mut self.early) {
                call.sent = std::mem::take(&mut early.sent);
                if n >= self.call + begun {
                    cx.queue.begin(n);
                }
                if let Some(name) = call.name.as_ref().filter(|_| !early.has_name) {
                    cx.queue.name(n, name);
                }
            }
            // All calls begun in a truncated list are in its one incomplete call.
            let code = Code::TruncatedToolCall;
            let left = self.call + calls.len() as u32..self.call + begun;
            left.for_each(|call| cx.queue.push(Ev::Void { call, code }));
            done.begun = begun.max(calls.len() as u32);
        } else {
            done.begun = begun;
        }
        done
    }
}
