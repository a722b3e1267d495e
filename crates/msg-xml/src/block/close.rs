//! Finds what ends a text: its close tag (XT-21, XT-22), with what was passed on the way, and the end of a CDATA section
//! (XT-24). It does not recover texts without a close tag (`element`).
//!
//! ```text
//! <x>see </x> in <![CDATA[ a </x> ]]></x></arguments></tool>
//!        |                |           |  the tail, at which every text ends at the latest: the stop
//!        |                section     own close tag before the parent's: structural, the end
//!        own close tag before text: remembered, not the end
//! ```

use std::ops::ControlFlow;

use super::tokens::{Ahead, Kind, Next, Pending, Token, Tokens};
use crate::code::Code;
use crate::lex;
use crate::lex::{ARGS, Section};

/// Values of a block that may be read to its stop; the end of later ones is searched nearby only.
const SCANS_MAX: usize = if cfg!(test) { 8 } else { 64 };
/// The distance in bytes. Both limits are smaller in unit tests, which count steps, so growth shows
/// early.
const NEAR: usize = if cfg!(test) { 128 } else { 1024 };

/// The closer of the element around the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent<'a> {
    /// Any ARGS word.
    Args,
    /// `</tool>`.
    Tool,
    /// An element of this name.
    Name(&'a str),
}

impl Parent<'_> {
    pub(crate) fn closed_by(self, name: &str) -> bool {
        match self {
            Parent::Args => lex::is_word(name, &ARGS),
            Parent::Tool => lex::same(name, "tool"),
            Parent::Name(own) => lex::same(own, name),
        }
    }
}

/// How surely a close tag is structure and not text (XT-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    No,
    Weak,
    Strong,
}

/// A value whose end is searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'v> {
    /// The element's name.
    pub(crate) own: &'v str,
    pub(crate) parent: Parent<'v>,
    /// The start of its content.
    pub(crate) from: usize,
    /// The outermost parameter, if the value is part of an object (strict mode).
    pub(crate) outer: Option<(&'v str, Parent<'v>)>,
    /// The latest end of all values of the block, if only the end of input showed it.
    pub(crate) bare_end: Option<usize>,
}

/// The end of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At this close tag: where it begins and ends.
    At(usize, usize),
    /// It has none before the tail, or the bare end, of the block.
    Stop(usize),
    /// The same, with a bare end that the end of input made one.
    Bare(usize),
    /// It has none near, and too many before it had none either.
    Far,
    /// The input ends in it.
    Open,
    /// As part of an object it is not one.
    NoFit,
}

/// The content of a value.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) sections: Vec<Section>,
    /// Reports of sections, by where they begin and end.
    pub(crate) reports: Vec<(usize, usize, Code)>,
    /// Close tags of its own that did not end it.
    pub(crate) own: Own,
    pub(crate) named_param: Option<usize>,
}

impl Inside {
    /// A section more.
    pub(crate) fn add(&mut self, ended: &Ended) {
        let section = ended.section;
        self.reports.extend(ended.codes().map(|code| (section.start, section.end, code)));
        self.sections.push(section);
    }
}

/// Own close tags that did not end the value, each the last of its kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Own {
    pub(crate) structural: Option<(usize, usize)>,
    pub(crate) any: Option<(usize, usize)>,
}

/// The search for ends in one block, and its cost so far (XT-29).
pub(crate) struct Search<'a> {
    pub(crate) tokens: Tokens<'a>,
    /// The message was cut; meaningful at the end of input only.
    pub(crate) cut: bool,
    /// The maximum number of sections that the end of input may close.
    pub(crate) rewinds_max: usize,
    /// The number of sections that it closed.
    pub(crate) rewinds: usize,
    /// The number of values that were read to the stop of their block without ending before it.
    pub(crate) scans: usize,
    /// The offset up to which such values were read.
    pub(crate) reach: usize,
    /// Bytes that were read in vain as parts of objects.
    pub(crate) vain: usize,
}

impl<'a> Search<'a> {
    pub(crate) fn new(tokens: Tokens<'a>, cut: bool, rewinds_max: usize) -> Self {
        Search { tokens, cut, rewinds_max, rewinds: 0, scans: 0, reach: 0, vain: 0 }
    }

    /// XT-21.
    pub(crate) fn find_end(&mut self, value: &Value<'_>) -> Result<(End, Inside), Pending> {
        let far = match self.scans < SCANS_MAX {
            true => usize::MAX,
            false => value.from + NEAR,
        };
        let mut scan = Scan { value, own: 1, bal: 0, bare_end: None, inside: Inside::default() };
        let end = self.scan(&mut scan, far)?;
        let read = match end {
            End::Stop(stop) | End::Bare(stop) => stop,
            End::Open => self.tokens.w.end(),
            End::Far => far,
            End::At(..) | End::NoFit => value.from,
        };
        if !matches!(end, End::At(..) | End::Far | End::NoFit) {
            self.scans += 1;
            self.reach = self.reach.max(read);
        }
        if value.outer.is_none() || matches!(end, End::At(..)) {
            return Ok((end, scan.inside));
        }
        self.vain += read.saturating_sub(value.from);
        Ok((End::NoFit, scan.inside))
    }

    fn scan(&mut self, scan: &mut Scan<'_>, far: usize) -> Result<End, Pending> {
        let mut i = self.tokens.index(scan.value.from);
        while let Some(&token) = self.tokens.get(i) {
            #[cfg(test)]
            crate::growth::count();
            if let Some(stop) = scan.value.bare_end.filter(|&stop| token.start >= stop) {
                return Ok(End::Stop(stop));
            }
            if token.start >= far {
                return Ok(End::Far);
            }
            i = match token.kind {
                Kind::Undecided => return Err(Pending),
                Kind::Marker => self.value_section(scan, &token)?,
                Kind::Close { tool } => match self.close(scan, &token, tool)? {
                    ControlFlow::Continue(tags) => i + tags,
                    ControlFlow::Break(end) => return Ok(end),
                },
                _ => {
                    scan.open(&token);
                    i + 1
                }
            };
        }
        match self.tokens.w.eof {
            true => Ok(scan.at_end(self.cut)),
            false => Err(Pending),
        }
    }

    /// A section in a value: the index after it.
    fn value_section(&mut self, scan: &mut Scan<'_>, marker: &Token<'_>) -> Result<usize, Pending> {
        let Value { own, parent, .. } = *scan.value;
        let ended = self.section(marker, own, parent)?;
        // Many sections that only the end of input ended: no more of them is guessed.
        self.cut |= self.rewinds > self.rewinds_max;
        let end = self.tokens.w.end();
        let cut = Section { start: marker.start, from: marker.end, to: end, end };
        match &ended {
            Some(ended) => scan.inside.add(ended),
            None => scan.inside.sections.push(cut),
        }
        let section = ended.map_or(cut, |ended| ended.section);
        Ok(self.tokens.index(section.end))
    }

    /// A close tag in a value: its end, or how many tags are passed.
    fn close(
        &mut self,
        scan: &mut Scan<'_>,
        token: &Token<'_>,
        tool: bool,
    ) -> Result<ControlFlow<End, usize>, Pending> {
        let Value { own, parent, outer, .. } = *scan.value;
        if self.tail(token)?.is_some() {
            let Some(bal) = scan.bal.checked_sub(1) else {
                return Ok(ControlFlow::Break(End::Stop(token.start)));
            };
            scan.bal = bal;
            return Ok(ControlFlow::Continue(2));
        }
        if token.is(own) {
            let structural = self.structural(token, parent)? != Strength::No;
            if scan.own_close(token, structural) {
                return Ok(ControlFlow::Break(End::At(token.start, token.end)));
            }
        } else if let Some((_, parent)) = outer.filter(|(name, _)| scan.bal == 0 && token.is(name))
        {
            if self.structural(token, parent)? != Strength::No {
                return Ok(ControlFlow::Break(End::NoFit));
            }
        } else if tool {
            scan.close_tool(token, self.tokens.after_blanks(token.end));
        }
        Ok(ControlFlow::Continue(1))
    }

    /// The end of the tail whose ARGS close tag this may be.
    pub(crate) fn tail(&self, token: &Token<'_>) -> Result<Option<usize>, Pending> {
        if !token.is_close() || !Parent::Args.closed_by(token.name) {
            return Ok(None);
        }
        Ok(match self.tokens.after_blanks(token.end)? {
            Ahead::Token(t) if t.kind == Kind::Close { tool: true } => Some(t.end),
            _ => None,
        })
    }

    /// XT-22: how surely this close tag is one of the structure, in an element of `parent`.
    pub(crate) fn structural(
        &self,
        token: &Token<'_>,
        parent: Parent<'_>,
    ) -> Result<Strength, Pending> {
        let next = if parent.closed_by(token.name) { token.after } else { token.row };
        let Some(t) = self.tokens.of(next) else {
            return match next {
                Next::End => Ok(Strength::Strong),
                Next::Pending => Err(Pending),
                Next::Text | Next::Token(_) => Ok(Strength::No),
            };
        };
        Ok(match t.kind {
            Kind::Undecided => return Err(Pending),
            Kind::Close { tool } if tool || parent.closed_by(t.name) => Strength::Strong,
            Kind::Opener => Strength::Weak,
            _ if t.is_plain_open() || t.is_short_cut(self.tokens.w.end()) => Strength::Weak,
            _ => Strength::No,
        })
    }
}

/// A value that is being read.
struct Scan<'v> {
    value: &'v Value<'v>,
    /// Open elements of its own name, and open sample calls.
    own: usize,
    bal: usize,
    /// The first `</tool>` that may be the bare end, and the own close tags before it.
    bare_end: Option<(usize, Own)>,
    inside: Inside,
}

impl Scan<'_> {
    fn open(&mut self, token: &Token<'_>) {
        match token.kind {
            Kind::Opener => self.bal += 1,
            Kind::Open { empty: false, .. } if token.is(self.value.own) => self.own += 1,
            _ => {}
        }
        if self.inside.named_param.is_none() && matches!(token.kind, Kind::Open { named: true, .. })
        {
            self.inside.named_param = Some(token.start);
        }
    }

    /// Whether this own close tag ends the value.
    fn own_close(&mut self, token: &Token<'_>, structural: bool) -> bool {
        self.own -= 1;
        if self.own == 0 && structural {
            return true;
        }
        self.own = self.own.max(1);
        let place = Some((token.start, token.end));
        self.inside.own.any = place;
        if structural {
            self.inside.own.structural = place;
        }
        false
    }

    /// `</tool>`: the end of a sample call, or the bare end if the end of input makes it so.
    fn close_tool(&mut self, token: &Token<'_>, following: Result<Ahead<'_>, Pending>) {
        if self.bal > 0 {
            self.bal -= 1;
        } else if self.bare_end.is_none() && self.value.bare_end.is_none() {
            let bare = match following {
                Ok(Ahead::Token(t)) => t.kind == Kind::Opener,
                Ok(ahead) => matches!(ahead, Ahead::End),
                // It matters at the end of input only, where nothing is pending.
                Err(Pending) => false,
            };
            self.bare_end = bare.then_some((token.start, self.inside.own));
        }
    }

    fn at_end(&mut self, cut: bool) -> End {
        match (self.value.bare_end, self.bare_end) {
            _ if cut => End::Open,
            (Some(stop), _) => End::Stop(stop),
            (None, Some((stop, own))) => {
                // Those after it do not count for a value that ends there.
                self.inside.own = own;
                End::Bare(stop)
            }
            (None, None) => End::Open,
        }
    }
}

// Where a CDATA section ends (XT-24): a `]]>` may be content, and a section may have no end.
//
// ```text
// <x><![CDATA[ a ]]> b <![CDATA[ c ]]> ]]></x></arguments></tool>
//                (d)      nest: 2  (b) (a)  a structural close tag follows: the end
// ```

/// A section that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) section: Section,
    unescaped: bool,
    unterminated: bool,
}

impl Ended {
    /// The reports, if the value uses the section.
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
    /// The result of rule (d). It holds for every `]]>` up to the deciding place.
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
    /// XT-24: the section of this marker in an element `own`; `None` if the input ends in it and no rule closes it.
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

    /// The deciding place of rule (d) for a `]]>` before `pos`, and whether it is content.
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

    /// The first own close tag that is followed only by close tags up to `</tool>`.
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
