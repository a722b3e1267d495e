//! Finds the close tag that ends a text (XT-21, XT-22) and records what it passed on the way. It does not judge CDATA
//! sections (`section`) and does not recover texts without a close tag (`element`).
//!
//! ```text
//! <x>see </x> in <![CDATA[ a </x> ]]></x></arguments></tool>
//!        |                |           |  the tail, at which every text ends at the latest: the stop
//!        |                section     own close tag before the parent's: structural, the end
//!        own close tag before text: remembered, not the end
//! ```

use std::ops::ControlFlow;

use super::section::Ended;
use super::tokens::{Ahead, Kind, Next, Pending, Token, Tokens};
use crate::code::Code;
use crate::lex;
use crate::lex::ARGS;
use crate::value::Section;

/// Values of a block that may be read to its stop; the end of later ones is searched nearby only.
const SCANS_MAX: usize = if cfg!(test) { 8 } else { 64 };
/// How near. Both are smaller in unit tests, which count steps, so that growth shows early.
const NEAR: usize = if cfg!(test) { 128 } else { 1024 };

/// What closes the element around the one that is asked about.
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

/// A value whose end is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'v> {
    /// The element's name.
    pub(crate) own: &'v str,
    pub(crate) parent: Parent<'v>,
    /// Where its content begins.
    pub(crate) from: usize,
    /// The outermost parameter, if the value is part of an object (strict mode).
    pub(crate) outer: Option<(&'v str, Parent<'v>)>,
    /// Where all values of the block end at the latest, if only the end of input showed that.
    pub(crate) bare_end: Option<usize>,
}

/// Where a value ends.
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

/// The search for ends in one block, and what it has cost (XT-29).
pub(crate) struct Search<'a> {
    pub(crate) tokens: Tokens<'a>,
    /// The message was cut; meaningful at the end of input only.
    pub(crate) cut: bool,
    /// So many sections may be ended by the end of input.
    pub(crate) rewinds_max: usize,
    /// So many were.
    pub(crate) rewinds: usize,
    /// So many values were read to the stop of their block and did not end before it.
    pub(crate) scans: usize,
    /// So far such values were read.
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

    /// A section in a value: the index of what is after it.
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

    /// `</tool>`: the end of a sample call, or what the end of input may make the bare end.
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
