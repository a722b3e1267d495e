//! Where a CDATA section ends (XT-24): a `]]>` may be content, and a section may have no end. It does not
//! know the value that contains the section (`close`, `grammar`).
//!
//! ```text
//! <x><![CDATA[ a ]]> b <![CDATA[ c ]]> ]]></x></arguments></tool>
//!                (d)      nest: 2  (b) (a)  a structural close tag follows: the end
//! ```

use super::close::{Parent, Search, Strength};
use super::tokens::{Ahead, Kind, Pending, Token};
use crate::code::Code;
use crate::lex;
use crate::value::Section;

/// A section that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) section: Section,
    unescaped: bool,
    unterminated: bool,
}

impl Ended {
    /// What is to be reported if the value uses the section.
    pub(crate) fn codes(&self) -> impl Iterator<Item = Code> + use<> {
        let a = self.unescaped.then_some(Code::CdataUnescapedTerminator);
        let b = self.unterminated.then_some(Code::CdataUnterminated);
        a.into_iter().chain(b)
    }
}

/// A section that is open.
struct Cdata<'h> {
    /// The element around it.
    own: &'h str,
    parent: Parent<'h>,
    start: usize,
    from: usize,
    nest: usize,
    bal: usize,
    /// The first `]]>` that nesting made content although a close tag followed (for the end of input).
    taken: Option<usize>,
    unescaped: bool,
    /// What rule (d) has found out: up to the place that decided, it holds for every `]]>`.
    later: Option<(usize, bool)>,
}

impl Cdata<'_> {
    fn end(&self, to: usize, end: usize) -> Ended {
        let section = Section { start: self.start, from: self.from, to, end };
        Ended { section, unescaped: self.unescaped, unterminated: false }
    }

    /// Markers, real openers and `</tool>` only count.
    fn count(&mut self, token: &Token<'_>) {
        match token.kind {
            Kind::Marker => self.nest += 1,
            Kind::Opener => self.bal += 1,
            Kind::Close { tool: true } => self.bal = self.bal.saturating_sub(1),
            _ => {}
        }
    }
}

impl Search<'_> {
    /// XT-24: the section of this marker in an element `own`; `None` if the input ends in it and nothing mends that.
    pub(crate) fn section(
        &mut self,
        marker: &Token<'_>,
        own: &str,
        parent: Parent<'_>,
    ) -> Result<Option<Ended>, Pending> {
        let (start, from) = (marker.start, marker.end);
        let mut open = Cdata {
            own,
            parent,
            start,
            from,
            nest: 1,
            bal: 0,
            taken: None,
            unescaped: false,
            later: None,
        };
        let mut i = self.tokens.index(from);
        let mut at = from;
        while let Some(p) = self.tokens.terminator(at) {
            at = p + 3;
            let mut in_opener = false;
            while let Some(token) = self.tokens.get(i).filter(|t| t.start < p) {
                if token.kind == Kind::Undecided {
                    return Err(Pending);
                }
                open.count(token);
                in_opener |= token.kind == Kind::Opener && token.end > p;
                i += 1;
            }
            if !in_opener && self.ends_section(&mut open, p)? {
                return Ok(Some(open.end(p, p + 3)));
            }
        }
        match self.tokens.w.eof {
            true => Ok(self.section_at_end(&open)),
            false => Err(Pending),
        }
    }

    /// Whether the `]]>` at `p` ends the section: rules (a) to (e).
    fn ends_section(&self, open: &mut Cdata<'_>, p: usize) -> Result<bool, Pending> {
        let after = self.tokens.after_blanks(p + 3)?;
        let strength = match after {
            Ahead::Token(t) if t.is_close() && t.is(open.own) => {
                self.structural(&t, open.parent)?
            }
            _ => Strength::No,
        };
        if strength != Strength::No {
            if open.nest == 1 || strength == Strength::Strong && open.bal == 0 {
                return Ok(true);
            }
            if open.bal == 0 {
                open.taken.get_or_insert(p);
            }
        }
        if open.nest > 1 {
            open.nest -= 1;
            return Ok(false);
        }
        if matches!(after, Ahead::Token(t) if t.kind == Kind::Marker && t.start == p + 3) {
            return Ok(true);
        }
        let content = self.is_content(open, p + 3)?;
        open.unescaped |= content;
        Ok(!content)
    }

    /// Rule (d): whether a later `]]>` with a structural close tag comes first.
    fn is_content(&self, open: &mut Cdata<'_>, pos: usize) -> Result<bool, Pending> {
        let known = open.later.filter(|(at, _)| pos <= *at);
        let found = match known {
            Some(known) => known,
            None => self.decided_later(open, pos)?,
        };
        open.later = Some(found);
        Ok(found.1)
    }

    /// Where rule (d) is decided for a `]]>` before `pos`, and whether it is content.
    fn decided_later(&self, open: &Cdata<'_>, pos: usize) -> Result<(usize, bool), Pending> {
        let mut i = self.tokens.index(pos);
        while let Some(token) = self.tokens.get(i) {
            match token.kind {
                Kind::Undecided => return Err(Pending),
                Kind::Marker => return Ok((token.start, false)),
                Kind::Close { .. }
                    if token.is(open.own)
                        && self.structural(token, open.parent)? != Strength::No =>
                {
                    let before = lex::trim_end(self.tokens.w.str(pos, token.start));
                    return Ok((token.start, before.ends_with("]]>")));
                }
                _ => i += 1,
            }
        }
        if self.tokens.w.eof { Ok((self.tokens.w.end(), false)) } else { Err(Pending) }
    }

    /// The end of input inside the section.
    fn section_at_end(&mut self, open: &Cdata<'_>) -> Option<Ended> {
        if self.cut {
            return None;
        }
        let ended = match open.taken {
            Some(p) => Ended { unescaped: true, ..open.end(p, p + 3) },
            None => {
                let p = self.closing_run(open.from, open.own)?;
                Ended { unterminated: true, ..open.end(p, p) }
            }
        };
        self.rewinds += 1;
        Some(ended)
    }

    /// The first own close tag from which only close tags lead to `</tool>`.
    fn closing_run(&self, from: usize, own: &str) -> Option<usize> {
        let (mut first, mut run_end) = (None, from);
        let mut i = self.tokens.index(from);
        while let Some(token) = self.tokens.get(i) {
            if !lex::all_blank(self.tokens.w.str(run_end, token.start)) {
                first = None;
            }
            match token.kind {
                Kind::Close { tool: true } if first.is_some() => return first,
                Kind::Close { .. } if first.is_none() && token.is(own) => first = Some(token.start),
                Kind::Close { .. } => {}
                _ => first = None,
            }
            run_end = if token.is_close() { token.end } else { token.start + 1 };
            i += 1;
        }
        None
    }
}
