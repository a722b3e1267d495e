//! The level of `<tool>` itself: names, servers, arguments, parameters without wrapper (XT-12 to XT-15).

use super::draft::{Done, Draft};
use super::grammar::{Grammar, Halt};
use super::names::{opener_attributes, read_name};
use super::opener::opener;
use crate::call::{self, Server};
use crate::code::Code;
use crate::input::{Incomplete, Need};
use crate::lex::{self, ARGS, NAME, OpenTag, SERVER, Tag};
use crate::value;

/// How far text after the arguments is followed.
pub(super) const TEXT_MAX: usize = 256;

impl<'a> Grammar<'a> {
    /// XT-13: names that the opener's attributes give.
    pub(super) fn attributes(&mut self) {
        let attrs = opener_attributes(&self.ahead.w, self.head.start, self.head.body);
        for server in lex::attributes(attrs, &SERVER).map(value::decoded) {
            self.join_server(call::server(lex::trim(&server)));
        }
        for name in lex::attributes(attrs, &NAME).map(value::decoded) {
            let name = lex::trim(&name);
            if name.is_empty() {
                continue;
            }
            if self.cur.name.is_none() {
                self.note(Code::ToolNameInAttribute, self.head.start, self.head.body);
            }
            self.set_name(name, self.head.start);
        }
    }

    /// A NAME element's content, trimmed; a blank one begins a call too: what follows was not meant for the one before.
    pub(super) fn set_name(&mut self, name: &str, at: usize) {
        if (self.cur.name.is_some() || self.cur.unnamed) && self.cur.has_params() {
            self.note(Code::MissingToolBoundary, at, at);
            self.next_call(at);
            self.cur.unnamed = name.is_empty();
        } else if self.cur.name.as_ref().is_some_and(|known| !name.is_empty() && known != name) {
            return self.refuse(Code::DuplicateToolName);
        }
        if name.is_empty() {
            return;
        }
        if !lex::valid_tool_name(name) {
            self.refuse(Code::InvalidToolName);
        }
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

    /// The elements of the block, and whatever else stands between them.
    pub(super) fn top(&mut self) -> Result<Done, Halt> {
        let w = self.ahead.w;
        loop {
            let p = self.misc()?;
            match lex::need(&w, p)? {
                None => return Err(Halt::Eof),
                Some(b'<') => {}
                Some(b'{') if self.cur.name.is_some() && !self.cur.has_params() => {
                    self.json_beside(p)?;
                    continue;
                }
                Some(_) if self.stray(p)? => return Ok(self.end_at_last()),
                Some(_) => continue,
            }
            if opener(&w, p)?.is_some() {
                return Ok(self.end_before(p));
            }
            match lex::tag(&w, p)? {
                Tag::Close(c) if c.is_tool() => return Ok(self.finish(c.end, true)),
                Tag::Close(c) => {
                    self.note(Code::MismatchedCloseTag, p, c.end);
                    self.at = c.end;
                }
                Tag::Open(t) => self.open(&t)?,
                Tag::Cut => return Err(Halt::Eof),
                Tag::None if lex::marker(&w, p)? => self.stray_section(p)?,
                Tag::None if lex::cut_markup(&w, p) => return Err(Halt::Eof),
                Tag::None if self.stray(p)? => return Ok(self.end_at_last()),
                Tag::None => {}
            }
        }
    }

    fn open(&mut self, t: &OpenTag<'a>) -> Result<(), Halt> {
        let known = |known: bool| !known || self.cur.args_closed;
        let is_name = t.is("tool_name") || t.is("name") && known(self.cur.name.is_some());
        let is_server = t.is("server_name") || t.is("server") && known(self.cur.server.is_some());
        if is_name || is_server {
            return self.name(t, is_name);
        }
        if lex::is_word(t.name, &ARGS) {
            return self.args(t);
        }
        if self.cur.loose.is_empty() {
            self.note(Code::MissingArgumentsWrapper, t.start, t.end);
        }
        self.param(t)
    }

    fn name(&mut self, t: &OpenTag<'_>, is_name: bool) -> Result<(), Halt> {
        let w = self.ahead.w;
        let section_end = |from| self.ahead.section_end(from);
        let Some(name) = read_name(&w, section_end, t)? else { return Err(Halt::Eof) };
        if t.is("name") || t.is("server") {
            self.note(Code::FieldAlias, t.start, t.end);
        }
        if let Some(code) = name.report {
            self.note(code, t.start, name.end);
        }
        self.at = name.end;
        self.last_end = name.end;
        let content = lex::trim(&name.content);
        match is_name {
            true => self.set_name(content, t.start),
            false => self.set_server(call::server(content), t.start),
        }
        Ok(())
    }

    /// CDATA where nothing should be, up to the first `]]>`.
    fn stray_section(&mut self, p: usize) -> Result<(), Halt> {
        match self.ahead.section_end(p + lex::CDATA.len())? {
            Some(end) => self.skip_stray(p, end),
            None => return Err(Halt::Eof),
        }
        Ok(())
    }

    /// Text at the top is skipped; whether it ends a block whose call is whole.
    fn stray(&mut self, p: usize) -> Result<bool, Halt> {
        if self.cur.args_closed && !self.envelope_follows(p)? {
            return Ok(true);
        }
        match self.ahead.w.find(b'<', p + 1) {
            Some(q) => self.skip_stray(p, q),
            None if self.ahead.w.eof => self.skip_stray(p, self.ahead.w.end()),
            None => return Err(Incomplete::never().into()),
        }
        Ok(false)
    }

    fn skip_stray(&mut self, from: usize, to: usize) {
        if !self.notes.iter().any(|note| note.code == Code::StrayTextInTool) {
            self.note(Code::StrayTextInTool, from, to);
        }
        self.cur.stray_after_name |= self.cur.name.is_some();
        self.at = to;
    }

    /// Whether `</tool>` or an envelope open tag follows within 256 bytes.
    fn envelope_follows(&self, p: usize) -> Result<bool, Incomplete> {
        let w = &self.ahead.w;
        let mut at = p;
        while let Some(q) = w.find(b'<', at).filter(|q| q - p <= TEXT_MAX) {
            if opener(w, q)?.is_some() {
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
            Err(Incomplete::on(Need::Byte(b'<')).by(p + TEXT_MAX + 1))
        }
    }
}
