//! Which close tag ends a text value (XT-21, XT-22, XT-24), and what was seen on the way there. Mending a value that no
//! close tag ends is `recover`.

use super::ahead::{Ahead, Parent, Strength};
use super::opener::opener;
use super::section::{Ended, Holder, section};
use crate::code::Code;
use crate::input::{Incomplete, Input};
use crate::lex::{self, CloseTag, OpenTag, Tag};
use crate::value::Section;

/// Values of a block that may be read to its stop; the end of those behind is looked for near.
const SCANS_MAX: usize = if cfg!(test) { 8 } else { 64 };
/// How near. Both are smaller in unit tests, which count steps, so that growth shows early.
const NEAR: usize = if cfg!(test) { 128 } else { 1024 };

/// A value whose end is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'v> {
    /// The element's name.
    pub(super) own: &'v str,
    pub(super) parent: Parent<'v>,
    /// Where its content begins.
    pub(super) from: usize,
    /// The outermost parameter, if the value is part of an object (strict mode).
    pub(super) outer: Option<(&'v str, Parent<'v>)>,
    /// Where all values of the block end at the latest, if only the end of input showed that.
    pub(super) bare_end: Option<usize>,
}

/// Where a value ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
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
    /// As part of an object it is none.
    NoFit,
}

/// What stands in a value.
#[derive(Debug, Default)]
pub(super) struct Inside {
    pub(super) sections: Vec<Section>,
    /// Reports of sections, by where they begin and end.
    pub(super) reports: Vec<(usize, usize, Code)>,
    /// Close tags of its own that did not end it.
    pub(super) own: Own,
    pub(super) named_param: Option<usize>,
}

/// Own close tags that did not end the value, each the last of its kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Own {
    pub(super) structural: Option<(usize, usize)>,
    pub(super) any: Option<(usize, usize)>,
}

/// XT-21.
pub(super) fn find_end(
    ahead: &mut Ahead<'_>,
    value: &Value<'_>,
) -> Result<(End, Inside), Incomplete> {
    let far = match ahead.scans < SCANS_MAX {
        true => usize::MAX,
        false => value.from + NEAR,
    };
    let mut scan =
        Scan { value, at: value.from, own: 1, bal: 0, bare_end: None, inside: Inside::default() };
    let end = scan.run(ahead, far)?;
    match end {
        End::Stop(stop) | End::Bare(stop) => ahead.scanned(stop),
        End::Open => ahead.scanned(ahead.w.end()),
        End::At(..) | End::Far | End::NoFit => {}
    }
    let end = match end {
        End::Stop(_) | End::Bare(_) | End::Open | End::Far if value.outer.is_some() => End::NoFit,
        end => end,
    };
    Ok((end, scan.inside))
}

struct Scan<'v> {
    value: &'v Value<'v>,
    at: usize,
    own: usize,
    bal: usize,
    /// The first `</tool>` that may be the bare end, and the own close tags before it.
    bare_end: Option<(usize, Own)>,
    inside: Inside,
}

impl Scan<'_> {
    fn run(&mut self, ahead: &mut Ahead<'_>, far: usize) -> Result<End, Incomplete> {
        let w = ahead.w;
        while let Some(p) = w.find(b'<', self.at) {
            #[cfg(test)]
            crate::steps::count();
            if let Some(stop) = self.value.bare_end.filter(|&stop| p >= stop) {
                return Ok(End::Stop(stop));
            }
            if p >= far {
                return Ok(End::Far);
            }
            if let Some(end) = self.markup(ahead, p)? {
                return Ok(end);
            }
        }
        match w.eof {
            true => Ok(self.at_end(ahead)),
            false => Err(Incomplete::never()),
        }
    }

    /// What the `<` at `p` leads to.
    fn markup(&mut self, ahead: &mut Ahead<'_>, p: usize) -> Result<Option<End>, Incomplete> {
        let w = ahead.w;
        if lex::need(&w, p + 1)? == Some(b'!') && lex::marker(&w, p)? {
            self.section(ahead, p)?;
            return Ok(None);
        }
        match lex::tag(&w, p)? {
            Tag::Close(c) => self.close(ahead, p, &c),
            Tag::Open(t) => {
                self.open(&w, &t)?;
                Ok(None)
            }
            Tag::Cut | Tag::None => {
                self.at = p + 1;
                Ok(None)
            }
        }
    }

    fn section(&mut self, ahead: &mut Ahead<'_>, p: usize) -> Result<(), Incomplete> {
        let Value { own, parent, .. } = *self.value;
        let ended = section(ahead, p, Holder { own, parent })?;
        // Many sections that only the end of input ended: no more of them is guessed.
        ahead.cut |= ahead.rewinds > ahead.opts.limits.max_retries;
        let end = ahead.w.end();
        let cut = Section { start: p, from: p + lex::CDATA.len(), to: end, end };
        let section = ended.as_ref().map_or(cut, |ended| ended.section);
        let codes = ended.iter().flat_map(Ended::codes);
        self.inside.reports.extend(codes.map(|code| (section.start, section.end, code)));
        self.inside.sections.push(section);
        self.at = section.end;
        Ok(())
    }

    fn open(&mut self, w: &Input<'_>, t: &OpenTag<'_>) -> Result<(), Incomplete> {
        if t.is_tool() && opener(w, t.start)?.is_some() {
            self.bal += 1;
        } else if t.is(self.value.own) && !t.self_closing {
            self.own += 1;
        }
        if self.inside.named_param.is_none() && t.named_param() {
            self.inside.named_param = Some(t.start);
        }
        self.at = t.end;
        Ok(())
    }

    fn close(
        &mut self,
        ahead: &mut Ahead<'_>,
        p: usize,
        c: &CloseTag<'_>,
    ) -> Result<Option<End>, Incomplete> {
        let Value { own, outer, .. } = *self.value;
        self.at = c.end;
        if let Some(tail) = tail(&ahead.w, c)? {
            let Some(bal) = self.bal.checked_sub(1) else { return Ok(Some(End::Stop(p))) };
            (self.bal, self.at) = (bal, tail);
        } else if c.is(own) {
            return self.own_close(ahead, p, c.end);
        } else if let Some((outer, parent)) = outer.filter(|_| self.bal == 0)
            && c.is(outer)
        {
            let structural = ahead.structural(c.end, outer, parent)? != Strength::No;
            return Ok(structural.then_some(End::NoFit));
        } else if c.is_tool() {
            self.close_tool(&ahead.w, p, c.end)?;
        }
        Ok(None)
    }

    fn own_close(
        &mut self,
        ahead: &mut Ahead<'_>,
        p: usize,
        end: usize,
    ) -> Result<Option<End>, Incomplete> {
        let Value { own, parent, .. } = *self.value;
        let structural = ahead.structural(end, own, parent)? != Strength::No;
        self.own -= 1;
        if self.own == 0 && structural {
            return Ok(Some(End::At(p, end)));
        }
        self.own = self.own.max(1);
        self.inside.own.any = Some((p, end));
        if structural {
            self.inside.own.structural = Some((p, end));
        }
        Ok(None)
    }

    /// `</tool>`: the end of a sample call, or what the end of input may make the bare end.
    fn close_tool(&mut self, w: &Input<'_>, p: usize, end: usize) -> Result<(), Incomplete> {
        if self.bal > 0 {
            self.bal -= 1;
        } else if self.bare_end.is_none() && self.value.bare_end.is_none() {
            let (q, next) = w.after_blanks(end)?;
            let bare = next.is_none() || next == Some(b'<') && opener(w, q)?.is_some();
            self.bare_end = bare.then_some((p, self.inside.own));
        }
        Ok(())
    }

    fn at_end(&mut self, ahead: &Ahead<'_>) -> End {
        match (self.value.bare_end, self.bare_end) {
            _ if ahead.cut => End::Open,
            (Some(stop), _) => End::Stop(stop),
            (None, Some((stop, own))) => {
                // Those behind it do not count for a value that ends there.
                self.inside.own = own;
                End::Bare(stop)
            }
            (None, None) => End::Open,
        }
    }
}

/// The end of a tail whose ARGS close tag this may be.
pub(super) fn tail(w: &Input<'_>, c: &CloseTag<'_>) -> Result<Option<usize>, Incomplete> {
    if !Parent::Args.closed_by(c.name) {
        return Ok(None);
    }
    let (q, next) = w.after_blanks(c.end)?;
    if next != Some(b'<') {
        return Ok(None);
    }
    match lex::tag(w, q)? {
        Tag::Close(c) if c.is_tool() => Ok(Some(c.end)),
        _ => Ok(None),
    }
}
