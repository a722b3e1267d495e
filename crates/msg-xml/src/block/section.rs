//! Where a CDATA section ends (XT-24): nested markers, sample calls, unescaped terminators, a missing end.
//! What the section means for its value is decided by the value.

use super::ahead::{Ahead, Parent, Strength};
use super::opener::opener;
use crate::code::Code;
use crate::input::{Incomplete, Input, is_blank};
use crate::lex::{self, Tag};
use crate::value::Section;

/// The element around the section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder<'h> {
    pub(super) own: &'h str,
    pub(super) parent: Parent<'h>,
}

/// A section that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) section: Section,
    unescaped: bool,
    unterminated: bool,
}

impl Ended {
    /// What is to be reported if the value uses the section.
    pub(super) fn codes(&self) -> impl Iterator<Item = Code> + use<> {
        let a = self.unescaped.then_some(Code::CdataUnescapedTerminator);
        let b = self.unterminated.then_some(Code::CdataUnterminated);
        a.into_iter().chain(b)
    }
}

/// Reads the section whose marker stands at `start`; `None` if the input ends in it and nothing mends that.
pub(super) fn section(
    ahead: &mut Ahead<'_>,
    start: usize,
    holder: Holder<'_>,
) -> Result<Option<Ended>, Incomplete> {
    let from = start + lex::CDATA.len();
    Cdata { start, from, at: from, nest: 1, bal: 0, taken: None, unescaped: false, later: None }
        .run(ahead, holder)
}

/// An open section.
#[derive(Debug)]
struct Cdata {
    start: usize,
    from: usize,
    at: usize,
    nest: usize,
    bal: usize,
    /// The first `]]>` that nesting made content although a close tag followed (for the end of input).
    taken: Option<usize>,
    unescaped: bool,
    /// What rule (d) has found out: up to the place that decided, it holds for every `]]>`.
    later: Option<(usize, bool)>,
}

impl Cdata {
    fn end(&self, to: usize, end: usize) -> Ended {
        let section = Section { start: self.start, from: self.from, to, end };
        Ended { section, unescaped: self.unescaped, unterminated: false }
    }

    fn run(
        &mut self,
        ahead: &mut Ahead<'_>,
        holder: Holder<'_>,
    ) -> Result<Option<Ended>, Incomplete> {
        let w = ahead.w;
        while let Some(i) = memchr::memchr2(b'<', b']', w.from(self.at)) {
            let p = self.at + i;
            if w.at(p) == Some(b'<') {
                self.at = self.markup(&w, p)?;
                continue;
            }
            match w.from(p) {
                [b']', b']', b'>', ..] => {
                    if self.terminator(ahead, holder, p)? {
                        return Ok(Some(self.end(p, p + 3)));
                    }
                    self.at = p + 3;
                }
                _ => self.at = p + 1,
            }
        }
        if w.eof { Ok(self.at_end(ahead, holder)) } else { Err(Incomplete::never()) }
    }

    /// Markers, real openers and `</tool>` only count; the result is one past what was looked at.
    fn markup(&mut self, w: &Input<'_>, p: usize) -> Result<usize, Incomplete> {
        match lex::need(w, p + 1)? {
            Some(b'!') if lex::marker(w, p)? => {
                self.nest += 1;
                return Ok(p + lex::CDATA.len());
            }
            Some(b't' | b'T') => {
                if let Some(end) = opener(w, p)? {
                    self.bal += 1;
                    return Ok(end);
                }
            }
            Some(b'/') if w.word(p, "</tool")? => {
                if let Tag::Close(c) = lex::tag(w, p)?
                    && c.is_tool()
                {
                    self.bal = self.bal.saturating_sub(1);
                }
            }
            _ => {}
        }
        Ok(p + 1)
    }

    /// Whether the `]]>` at `p` ends the section: rules (a) to (e).
    fn terminator(
        &mut self,
        ahead: &mut Ahead<'_>,
        holder: Holder<'_>,
        p: usize,
    ) -> Result<bool, Incomplete> {
        let strength = own_close(ahead, holder, p + 3)?;
        if strength != Strength::No {
            if self.nest == 1 || strength == Strength::Strong && self.bal == 0 {
                return Ok(true);
            }
            if self.bal == 0 {
                self.taken.get_or_insert(p);
            }
        }
        if self.nest > 1 {
            self.nest -= 1;
            return Ok(false);
        }
        if lex::marker(&ahead.w, p + 3)? {
            return Ok(true);
        }
        self.unescaped |= self.later(ahead, holder, p + 3)?;
        Ok(!self.later.is_some_and(|(_, content)| content))
    }

    /// Rule (d): whether a later `]]>` with a structural close tag comes first.
    fn later(
        &mut self,
        ahead: &mut Ahead<'_>,
        holder: Holder<'_>,
        pos: usize,
    ) -> Result<bool, Incomplete> {
        if let Some((at, content)) = self.later
            && pos <= at
        {
            return Ok(content);
        }
        let found = decided_later(ahead, holder, pos)?;
        self.later = Some(found);
        Ok(found.1)
    }

    /// The end of input inside the section.
    fn at_end(&mut self, ahead: &mut Ahead<'_>, holder: Holder<'_>) -> Option<Ended> {
        if ahead.cut {
            return None;
        }
        let ended = match self.taken {
            Some(p) => Ended { unescaped: true, ..self.end(p, p + 3) },
            None => {
                let p = closing_run(&ahead.w, self.from, holder.own)?;
                Ended { unterminated: true, ..self.end(p, p) }
            }
        };
        ahead.rewinds += 1;
        Some(ended)
    }
}

/// Where rule (d) is decided for a `]]>` before `pos`, and whether it is content.
fn decided_later(
    ahead: &mut Ahead<'_>,
    holder: Holder<'_>,
    pos: usize,
) -> Result<(usize, bool), Incomplete> {
    let w = ahead.w;
    let mut at = pos;
    while let Some(p) = w.find(b'<', at) {
        at = p + 1;
        match lex::need(&w, p + 1)? {
            Some(b'!') if lex::marker(&w, p)? => return Ok((p, false)),
            Some(b'/') => {
                if let Tag::Close(c) = lex::tag(&w, p)?
                    && c.is(holder.own)
                    && ahead.structural(c.end, holder.own, holder.parent)? != Strength::No
                {
                    return Ok((p, after_terminator(&w, p, pos)));
                }
            }
            _ => {}
        }
    }
    if w.eof { Ok((w.end(), false)) } else { Err(Incomplete::never()) }
}

/// The strength of an own close tag after blanks at `pos`; `No` if none stands there.
fn own_close(
    ahead: &mut Ahead<'_>,
    holder: Holder<'_>,
    pos: usize,
) -> Result<Strength, Incomplete> {
    let (q, next) = ahead.w.after_blanks(pos)?;
    if next != Some(b'<') {
        return Ok(Strength::No);
    }
    match lex::tag(&ahead.w, q)? {
        Tag::Close(c) if c.is(holder.own) => ahead.structural(c.end, holder.own, holder.parent),
        _ => Ok(Strength::No),
    }
}

/// Whether `]]>` and blanks stand before `p`, not before `from`.
fn after_terminator(w: &Input<'_>, p: usize, from: usize) -> bool {
    let before = w.str(from, p).trim_end_matches(|c: char| c.is_ascii() && is_blank(c as u8));
    before.ends_with("]]>")
}

/// The first own close tag from which only close tags lead to `</tool>`.
fn closing_run(w: &Input<'_>, from: usize, own: &str) -> Option<usize> {
    let mut first = None;
    let mut run_end = from;
    let mut at = from;
    while let Some(p) = w.find(b'<', at) {
        if !lex::all_blank(w.str(run_end, p)) {
            first = None;
        }
        match lex::tag(w, p) {
            Ok(Tag::Close(c)) if c.is_tool() && first.is_some() => return first,
            Ok(Tag::Close(c)) => {
                if first.is_none() && c.is(own) {
                    first = Some(p);
                }
                (run_end, at) = (c.end, c.end);
            }
            _ => {
                first = None;
                (run_end, at) = (p + 1, p + 1);
            }
        }
    }
    None
}
