//! The level of `<tool>` itself: names, servers, arguments, parameters without wrapper (XT-12 to XT-15).

use std::borrow::Cow;

use super::{Block, Cx, Done, Draft, State, Why};
use crate::call::{self, Server};
use crate::code::Code;
use crate::event::Queue;
use crate::json::Scanner;
use crate::lex::{self, ARGS, NAME, OpenTag, SERVER, Tag};
use crate::look::Look;
use crate::value;
use crate::window::{Wait, Wake, Win};

/// How far text after the arguments is followed.
const TEXT_MAX: usize = 256;

/// A name element that has been read.
struct Name<'a> {
    /// With the blanks around it.
    content: Cow<'a, str>,
    end: usize,
    report: Option<Code>,
}

impl Block {
    /// XT-13: names that the opener's attributes give.
    pub(super) fn attributes(&mut self, attrs: &str, queue: &mut Queue) {
        for server in lex::attributes(attrs, &SERVER).map(value::decoded) {
            self.join_server(call::server(lex::trim(&server)));
        }
        for name in lex::attributes(attrs, &NAME).map(value::decoded) {
            let name = lex::trim(&name);
            if name.is_empty() {
                continue;
            }
            if self.cur.name.is_none() {
                self.note(Code::ToolNameInAttribute, self.start, self.at);
            }
            if self.cur.name.as_deref() != Some(name) {
                self.set_name(name, self.start, queue);
            }
        }
    }

    pub(super) fn set_name(&mut self, name: &str, at: usize, queue: &mut Queue) {
        if (self.cur.name.is_some() || self.cur.unnamed) && self.cur.has_params() {
            self.note(Code::MissingToolBoundary, at, at);
            self.next_call(at);
            queue.begin(self.call());
            // A blank name begins a call too: what follows was not meant for the call before.
            self.cur.unnamed = name.is_empty();
        } else if self.cur.name.as_ref().is_some_and(|known| !name.is_empty() && known != name) {
            self.refuse(Code::DuplicateToolName);
            return;
        }
        if name.is_empty() {
            return;
        }
        if !lex::valid_tool_name(name) {
            self.refuse(Code::InvalidToolName);
        }
        queue.name(self.call(), name);
        self.cur.name = Some(name.to_owned());
    }

    /// The call is over, another begins in the same block.
    fn next_call(&mut self, at: usize) {
        let server = self.pending_server.take();
        let start = server.as_ref().map_or(at, |(_, start)| *start);
        let mut old = std::mem::replace(&mut self.cur, Draft::new(start));
        old.end = start;
        self.done.push(old);
        self.cur.server = server.map(|(name, _)| name).filter(|name| !name.is_empty());
    }

    fn set_server(&mut self, server: Server, at: usize) {
        if !(self.cur.name.is_some() && self.cur.args_closed) {
            return self.join_server(server);
        }
        match &mut self.pending_server {
            None => self.pending_server = Some((server, at)),
            Some((known, _)) if known.is_empty() => *known = server,
            Some((known, _)) if server.is_empty() || *known == server => {}
            Some(_) => self.refuse(Code::DuplicateToolName),
        }
    }

    /// A server for the current call.
    pub(super) fn join_server(&mut self, server: Server) {
        if server.is_empty() {
            return;
        }
        if self.cur.server.as_ref().is_some_and(|known| *known != server) {
            self.refuse(Code::DuplicateToolName);
        }
        self.cur.server = Some(server);
    }

    /// One element, or whatever else stands at the top of the block.
    pub(super) fn top(&mut self, cx: &mut Cx<'_, '_>) -> Result<Option<Done>, Wait> {
        let p = self.misc(cx)?;
        match lex::need(cx.w, p)? {
            None => return Ok(Some(self.end_of_input(cx, p))),
            Some(b'<') => {}
            Some(b'{') if self.cur.name.is_some() && !self.cur.has_params() => {
                self.state = State::Json(Scanner::new(p, cx.opts.limits.json_depth()), Why::Beside);
                return Ok(None);
            }
            Some(_) => return self.stray(cx, p),
        }
        if cx.look.opener(cx.w, p)?.is_some() {
            return Ok(Some(self.end_before(cx, p)));
        }
        match lex::tag(cx.w, p)? {
            Tag::Close(c) if c.is_tool() => Ok(Some(self.end_closed(cx, c.end))),
            Tag::Close(c) => {
                self.note(Code::MismatchedCloseTag, p, c.end);
                self.at = c.end;
                Ok(None)
            }
            Tag::Open(t) => self.open(cx, &t),
            Tag::Cut => Ok(Some(self.end_of_input(cx, p))),
            Tag::None if lex::marker(cx.w, p)? => self.stray_cdata(cx, p),
            Tag::None if lex::cut_markup(cx.w, p) => Ok(Some(self.end_of_input(cx, p))),
            Tag::None => self.stray(cx, p),
        }
    }

    /// Skips misc, reporting declarations.
    pub(super) fn misc(&mut self, cx: &mut Cx<'_, '_>) -> Result<usize, Wait> {
        if let Some(p) = cx.w.blank_misc(self.at) {
            self.at = p;
            return Ok(p);
        }
        let p = cx.look.misc(cx.w, self.at)?;
        for (from, to) in cx.look.declarations(cx.w, self.at, p) {
            self.note(Code::DtdIgnored, from, to);
        }
        self.at = p;
        Ok(p)
    }

    fn open(&mut self, cx: &mut Cx<'_, '_>, t: &OpenTag<'_>) -> Result<Option<Done>, Wait> {
        let known = |x: bool, closed: bool| !x || closed;
        let is_name = t.is("tool_name")
            || t.is("name") && known(self.cur.name.is_some(), self.cur.args_closed);
        let is_server = t.is("server_name")
            || t.is("server") && known(self.cur.server.is_some(), self.cur.args_closed);
        if is_name || is_server {
            let Some(name) = read_name(cx.w, cx.look, t)? else {
                return Ok(Some(self.end_of_input(cx, t.start)));
            };
            if t.is("name") || t.is("server") {
                self.note(Code::FieldAlias, t.start, t.end);
            }
            if let Some(code) = name.report {
                self.note(code, t.start, name.end);
            }
            self.at = name.end;
            self.last_end = name.end;
            if is_name {
                self.set_name(lex::trim(&name.content), t.start, cx.queue);
            } else {
                self.set_server(call::server(lex::trim(&name.content)), t.start);
            }
            return Ok(None);
        }
        if lex::is_word(t.name, &ARGS) {
            self.open_args(cx, t);
            return Ok(None);
        }
        if self.cur.loose.is_empty() {
            self.note(Code::MissingArgumentsWrapper, t.start, t.end);
        }
        self.at = t.end;
        self.open_param(cx, t)
    }

    /// CDATA where nothing should be, up to the first `]]>`.
    fn stray_cdata(&mut self, cx: &mut Cx<'_, '_>, p: usize) -> Result<Option<Done>, Wait> {
        match cx.look.section_end(cx.w, p + lex::CDATA.len())? {
            Some(end) => {
                self.skip_stray(p, end);
                Ok(None)
            }
            None => Ok(Some(self.end_of_input(cx, p))),
        }
    }

    /// Text at the top: skipped, or the end of a block whose call is whole.
    fn stray(&mut self, cx: &mut Cx<'_, '_>, p: usize) -> Result<Option<Done>, Wait> {
        if self.cur.args_closed && !self.envelope_follows(cx, p)? {
            return Ok(Some(self.end_at_last(cx)));
        }
        match cx.w.find(b'<', p + 1) {
            Some(q) => {
                self.skip_stray(p, q);
                Ok(None)
            }
            None if cx.w.eof => {
                self.skip_stray(p, cx.w.end());
                Ok(None)
            }
            None => Err(Wait::on(Wake::Byte(b'<'))),
        }
    }

    fn skip_stray(&mut self, from: usize, to: usize) {
        if !self.stray_noted {
            self.note(Code::StrayTextInTool, from, to);
            self.stray_noted = true;
        }
        self.cur.stray_after_name |= self.cur.name.is_some();
        self.at = to;
    }

    /// Whether `</tool>` or an envelope open tag follows within 256 bytes.
    fn envelope_follows(&self, cx: &mut Cx<'_, '_>, p: usize) -> Result<bool, Wait> {
        let w = cx.w;
        let mut at = p;
        while let Some(q) = w.find(b'<', at).filter(|q| q - p <= TEXT_MAX) {
            if cx.look.opener(w, q)?.is_some() {
                return Ok(false);
            }
            match lex::tag(w, q)? {
                Tag::Close(c) if c.is_tool() => return Ok(true),
                Tag::Open(t) if lex::is_envelope(t.name) => return Ok(true),
                _ => at = q + 1,
            }
        }
        if w.eof || w.end() > p + TEXT_MAX {
            Ok(false)
        } else {
            Err(Wait::on(Wake::Byte(b'<')).by(p + TEXT_MAX + 1))
        }
    }
}

/// XT-13: the content of a NAME or SERVER element; `None` if the input ends in it.
fn read_name<'a>(w: &Win<'a>, look: &mut Look, t: &OpenTag<'_>) -> Result<Option<Name<'a>>, Wait> {
    if t.self_closing {
        return Ok(Some(Name { content: "".into(), end: t.end, report: None }));
    }
    let (p, next) = w.after_blanks(t.end)?;
    let mut section = "";
    let mut text = t.end;
    if next == Some(b'<') && lex::marker(w, p)? {
        let from = p + lex::CDATA.len();
        let Some(end) = look.section_end(w, from)? else { return Ok(None) };
        section = w.str(from, end - "]]>".len());
        text = end;
    }
    let Some(lt) = w.find(b'<', text) else {
        return if w.eof { Ok(None) } else { Err(Wait::on(Wake::Byte(b'<'))) };
    };
    let (end, report) = match lex::tag(w, lt)? {
        Tag::Close(c) if c.is(t.name) => (c.end, None),
        Tag::Close(c) => (c.end, Some(Code::MismatchedCloseTag)),
        Tag::Cut => return Ok(None),
        Tag::Open(_) | Tag::None => (lt, Some(Code::MissingCloseTag)),
    };
    let text = value::decoded(w.str(text, lt));
    let content = if section.is_empty() { text } else { Cow::Owned(format!("{section}{text}")) };
    Ok(Some(Name { content, end, report }))
}
