//! Where a CDATA section ends (XT-24): nested markers, sample calls, unescaped terminators, a missing end.
//! What the section means for its value is decided by the value.

use super::{Block, Cx};
use crate::code::Code;
use crate::lex::{self, Tag};
use crate::look::{Parent, Strength};
use crate::value::Section;
use crate::window::{MORE, Wait, Wake, Win, is_blank};

/// The element around the section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder<'h> {
    pub(super) own: &'h str,
    pub(super) parent: &'h Parent,
}

/// An open section.
#[derive(Debug)]
pub(super) struct Cdata {
    pub(super) start: usize,
    pub(super) from: usize,
    pub(super) at: usize,
    nest: usize,
    bal: usize,
    /// The first `]]>` that nesting made content although a close tag followed (for the end of input).
    taken: Option<usize>,
    unescaped: bool,
    /// What rule (d) has found out: valid for every `]]>` from here to the place that decided.
    later: Option<Later>,
}

#[derive(Debug)]
struct Later {
    from: usize,
    at: usize,
    decided: Option<(usize, bool)>,
}

/// A section that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) section: Section,
    unescaped: bool,
    unterminated: bool,
    /// The end of input decided.
    pub(super) at_eof: bool,
}

impl Ended {
    /// What is to be reported if the value uses the section.
    pub(super) fn codes(&self) -> impl Iterator<Item = Code> + use<> {
        let a = self.unescaped.then_some(Code::CdataUnescapedTerminator);
        let b = self.unterminated.then_some(Code::CdataUnterminated);
        a.into_iter().chain(b)
    }
}

impl Block {
    /// Keeps count of what only the end of input decided.
    pub(super) fn cdata_ended(&mut self, ended: &Ended) {
        if ended.at_eof {
            self.at_eof = true;
            self.rewinds += 1;
        }
    }
}

impl Cdata {
    pub(super) fn new(start: usize) -> Self {
        let from = start + lex::CDATA.len();
        Cdata { start, from, at: from, nest: 1, bal: 0, taken: None, unescaped: false, later: None }
    }

    /// Where content that was sent up to `sent` surely goes on to: an undecided `<` and what follows it are content
    /// either way, up to what may be a terminator.
    pub(super) fn content_upto(&self, w: &Win<'_>, sent: usize) -> usize {
        if w.at(self.at) != Some(b'<') {
            return self.at;
        }
        let from = self.at.max(sent);
        let rest = w.from(from);
        let open = rest.iter().rev().take(2).take_while(|&&b| b == b']').count();
        let to = memchr::memmem::find(rest, b"]]>").unwrap_or(rest.len() - open);
        from + to
    }

    fn end(&self, to: usize, end: usize) -> Ended {
        let section = Section { start: self.start, from: self.from, to, end };
        Ended { section, unescaped: self.unescaped, unterminated: false, at_eof: false }
    }

    /// Reads on to the end of the section; `None` if the input ends in it and nothing mends that.
    pub(super) fn run(
        &mut self,
        cx: &mut Cx<'_, '_>,
        holder: Holder<'_>,
    ) -> Result<Option<Ended>, Wait> {
        loop {
            let Some(i) = memchr::memchr2(b'<', b']', cx.w.from(self.at)) else {
                self.at = cx.w.end();
                return if cx.w.eof { Ok(self.at_end(cx, holder)) } else { Err(MORE) };
            };
            let p = self.at + i;
            self.at = p;
            if cx.w.at(p) == Some(b'<') {
                self.markup(cx, p)?;
                continue;
            }
            match cx.w.from(p) {
                [b']', b']', b'>', ..] => {
                    if self.terminator(cx, holder, p)? {
                        return Ok(Some(self.end(p, p + 3)));
                    }
                    self.at = p + 3;
                }
                [b']'] | [b']', b']'] if !cx.w.eof => return Err(MORE),
                _ => self.at = p + 1,
            }
        }
    }

    /// Markers, real openers and `</tool>` only count.
    fn markup(&mut self, cx: &mut Cx<'_, '_>, p: usize) -> Result<(), Wait> {
        match lex::need(cx.w, p + 1)? {
            Some(b'!') if lex::marker(cx.w, p)? => {
                self.nest += 1;
                self.at = p + lex::CDATA.len();
            }
            Some(b't' | b'T') => match cx.look.opener(cx.w, p)? {
                Some(open) => {
                    self.bal += 1;
                    self.at = open.end;
                }
                None => self.at = p + 1,
            },
            Some(b'/') if cx.w.word(p, "</tool")? => {
                if let Tag::Close(c) = lex::tag(cx.w, p)?
                    && c.is_tool()
                {
                    self.bal = self.bal.saturating_sub(1);
                }
                self.at = p + 1;
            }
            _ => self.at = p + 1,
        }
        Ok(())
    }

    /// Whether the `]]>` at `p` ends the section: rules (a) to (e).
    fn terminator(
        &mut self,
        cx: &mut Cx<'_, '_>,
        holder: Holder<'_>,
        p: usize,
    ) -> Result<bool, Wait> {
        let strength = own_close(cx, holder, p + 3)?;
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
        if lex::marker(cx.w, p + 3)? {
            return Ok(true);
        }
        if self.later(cx, holder, p + 3)? {
            self.unescaped = true;
            return Ok(false);
        }
        Ok(true)
    }

    /// Rule (d): whether a later `]]>` with a structural close tag comes first.
    fn later(&mut self, cx: &mut Cx<'_, '_>, holder: Holder<'_>, pos: usize) -> Result<bool, Wait> {
        let known = self
            .later
            .as_ref()
            .is_some_and(|l| l.from <= pos && l.decided.is_none_or(|(at, _)| pos <= at));
        if !known {
            self.later = None;
        }
        let later = self.later.get_or_insert(Later { from: pos, at: pos, decided: None });
        if let Some((_, res)) = later.decided {
            return Ok(res);
        }
        loop {
            let Some(p) = cx.w.find(b'<', later.at) else {
                later.at = cx.w.end();
                if !cx.w.eof {
                    return Err(Wait::on(Wake::Byte(b'<')));
                }
                later.decided = Some((cx.w.end(), false));
                return Ok(false);
            };
            later.at = p;
            let res = match lex::need(cx.w, p + 1)? {
                Some(b'!') if lex::marker(cx.w, p)? => Some(false),
                Some(b'/') => match lex::tag(cx.w, p)? {
                    Tag::Close(c) if c.is(holder.own) => {
                        let strength =
                            cx.look.structural(cx.w, c.end, holder.own, holder.parent)?;
                        (strength != Strength::No).then(|| after_terminator(cx.w, p, later.from))
                    }
                    _ => None,
                },
                _ => None,
            };
            if let Some(res) = res {
                later.decided = Some((p, res));
                return Ok(res);
            }
            later.at = p + 1;
        }
    }

    /// The end of input inside the section.
    fn at_end(&mut self, cx: &mut Cx<'_, '_>, holder: Holder<'_>) -> Option<Ended> {
        if cx.cut {
            return None;
        }
        if let Some(p) = self.taken {
            let mut ended = self.end(p, p + 3);
            (ended.unescaped, ended.at_eof) = (true, true);
            return Some(ended);
        }
        let p = closing_run(cx.w, self.from, holder.own)?;
        let mut ended = self.end(p, p);
        (ended.unterminated, ended.at_eof) = (true, true);
        Some(ended)
    }
}

/// The section at `start` of a value whose close tag follows none of its terminators: only markers count. It is cut at
/// `limit`; `closed` takes the names of the close tags that follow terminators in it.
pub(super) fn plain(
    cx: &mut Cx<'_, '_>,
    start: usize,
    limit: usize,
    mut closed: impl FnMut(&str),
) -> Result<Section, Wait> {
    let mut section = Cdata::new(start);
    while let Some(i) = memchr::memchr2(b'<', b']', cx.w.from(section.at)) {
        let p = section.at + i;
        section.at = p;
        if p >= limit {
            break;
        }
        if cx.w.at(p) == Some(b'<') {
            section.markup(cx, p)?;
        } else if !cx.w.from(p).starts_with(b"]]>") {
            section.at = p + 1;
        } else if section.nest == 1 {
            return Ok(section.end(p, p + 3).section);
        } else {
            section.nest -= 1;
            section.at = p + 3;
            let (q, next) = cx.w.after_blanks(p + 3)?;
            if next == Some(b'<')
                && let Tag::Close(c) = lex::tag(cx.w, q)?
            {
                closed(c.name);
            }
        }
    }
    Ok(section.end(limit, limit).section)
}

/// The strength of an own close tag after blanks at `pos`; `No` if none stands there.
fn own_close(cx: &mut Cx<'_, '_>, holder: Holder<'_>, pos: usize) -> Result<Strength, Wait> {
    let (q, next) = cx.w.after_blanks(pos)?;
    if next != Some(b'<') {
        return Ok(Strength::No);
    }
    match lex::tag(cx.w, q)? {
        Tag::Close(c) if c.is(holder.own) => {
            cx.look.structural(cx.w, c.end, holder.own, holder.parent)
        }
        _ => Ok(Strength::No),
    }
}

/// Whether `]]>` and blanks stand before `p`, not before `from`.
pub(super) fn after_terminator(w: &Win<'_>, p: usize, from: usize) -> bool {
    let before = w.str(from, p).trim_end_matches(|c: char| c.is_ascii() && is_blank(c as u8));
    before.ends_with("]]>")
}

/// The first own close tag from which only close tags lead to `</tool>`.
fn closing_run(w: &Win<'_>, from: usize, own: &str) -> Option<usize> {
    let mut first = None;
    let mut run_end = from;
    let mut at = from;
    while let Some(p) = w.find(b'<', at) {
        if !lex::all_blank(w.str(run_end, p)) {
            first = None;
        }
        match lex::tag(w, p) {
            Ok(Tag::Close(c)) => {
                if c.is_tool() && first.is_some() {
                    return first;
                }
                if first.is_none() && c.is(own) {
                    first = Some(p);
                }
                run_end = c.end;
                at = c.end;
            }
            _ => {
                first = None;
                at = p + 1;
                run_end = at;
            }
        }
    }
    None
}
