//! What one reading of a block shares: the bytes, the memory of lookahead (misc and what follows close tags, XT-22),
//! and the count of what was read in vain.

use std::collections::HashMap;

use super::opener::{self, opener};
use crate::input::{Incomplete, Input};
use crate::lex::{self, ARGS, CloseTag, Tag};
use crate::options::Options;

/// Longest tag that the end of input may cut and that still counts.
const CUT_TAG_MAX: usize = 80;

/// What closes the element around the one that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent<'a> {
    /// Any ARGS word.
    Args,
    /// `</tool>`.
    Tool,
    /// An element of this name.
    Name(&'a str),
}

impl Parent<'_> {
    pub(super) fn closed_by(self, name: &str) -> bool {
        match self {
            Parent::Args => lex::is_word(name, &ARGS),
            Parent::Tool => lex::same(name, "tool"),
            Parent::Name(own) => lex::same(own, name),
        }
    }
}

/// How surely a close tag is structure and not text (XT-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    No,
    Weak,
    Strong,
}

/// What follows a close tag.
#[derive(Clone, Copy, Debug)]
enum After<'a> {
    /// No close tag: its strength.
    Known(Strength),
    /// A close tag, whose strength depends on names.
    Close(CloseTag<'a>),
}

/// One reading.
pub(super) struct Ahead<'a> {
    pub(super) w: Input<'a>,
    pub(super) opts: &'a Options,
    /// The message was cut; meaningful at the end of input only.
    pub(super) cut: bool,
    /// The places of each terminator that was asked for, from the block's beginning on.
    places: Vec<(&'static [u8], Vec<usize>)>,
    from: usize,
    /// What follows a row of close tags of one name, by the end of each of them.
    rows: HashMap<usize, After<'a>>,
    /// So many values were read to the stop of their block and did not end before it.
    pub(super) scans: usize,
    /// So far such values were read.
    pub(super) reach: usize,
    /// So many sections were ended by the end of input.
    pub(super) rewinds: usize,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(w: Input<'a>, opts: &'a Options, cut: bool, from: usize) -> Self {
        Ahead {
            w,
            opts,
            cut,
            places: Vec::new(),
            from,
            rows: HashMap::new(),
            scans: 0,
            reach: 0,
            rewinds: 0,
        }
    }

    /// A value was read up to `stop` in vain.
    pub(super) fn scanned(&mut self, stop: usize) {
        self.scans += 1;
        self.reach = self.reach.max(stop);
    }

    /// The first `needle` at or after `pos`. All of them are found at once: the questions come from many places.
    pub(super) fn find(&mut self, needle: &'static [u8], pos: usize) -> Option<usize> {
        let n = match self.places.iter().position(|(known, _)| *known == needle) {
            Some(n) => n,
            None => {
                let all = memchr::memmem::find_iter(self.w.from(self.from), needle);
                self.places.push((needle, all.map(|i| self.from + i).collect()));
                self.places.len() - 1
            }
        };
        let all = &self.places[n].1;
        all.get(all.partition_point(|&at| at < pos)).copied()
    }

    /// Where the misc at `pos` ends.
    pub(super) fn misc(&mut self, pos: usize) -> Result<usize, Incomplete> {
        let w = self.w;
        match w.blank_misc(pos) {
            Some(p) => Ok(p),
            None => opener::misc(&w, pos, |_, needle, from| self.find(needle, from)),
        }
    }

    /// The declarations in misc that ends at `end`.
    pub(super) fn declarations(&mut self, pos: usize, end: usize) -> Vec<(usize, usize)> {
        let w = self.w;
        let mut found = Vec::new();
        let mut p = w.skip_blanks(pos);
        while p < end
            && let Ok(Some((to, declares))) =
                opener::part(&w, p, |_, needle, from| self.find(needle, from))
        {
            found.extend(declares.then_some((p, to)));
            p = w.skip_blanks(to);
        }
        found
    }

    /// The end of the section whose content begins at `from`, by its first terminator; `None` if the input ends in it.
    pub(super) fn section_end(&mut self, from: usize) -> Result<Option<usize>, Incomplete> {
        match self.find(b"]]>", from) {
            Some(at) => Ok(Some(at + 3)),
            None if self.w.eof => Ok(None),
            None => Err(Incomplete::never()),
        }
    }

    /// Skips blanks and comments; `None` if the input ends there.
    pub(super) fn comments(&mut self, pos: usize) -> Result<Option<usize>, Incomplete> {
        let mut at = pos;
        loop {
            let (p, next) = self.w.after_blanks(at)?;
            if next != Some(b'<') || !self.w.word(p, "<!--")? {
                return Ok(next.map(|_| p));
            }
            match self.find(b"-->", p + 4) {
                Some(end) => at = end + 3,
                None if self.w.eof => return Ok(Some(p)),
                None => return Err(Incomplete::never()),
            }
        }
    }

    /// XT-22: what follows a close tag of `own` that ends at `pos`.
    pub(super) fn structural(
        &mut self,
        pos: usize,
        own: &str,
        parent: Parent<'_>,
    ) -> Result<Strength, Incomplete> {
        let after = match parent.closed_by(own) {
            true => self.after_close(pos)?,
            false => self.after_row(pos, own)?,
        };
        Ok(match after {
            After::Known(strength) => strength,
            After::Close(c) if c.is_tool() || parent.closed_by(c.name) => Strength::Strong,
            After::Close(_) => Strength::No,
        })
    }

    /// What follows the row of close tags of `own` of which one ends at `pos`.
    fn after_row(&mut self, pos: usize, own: &str) -> Result<After<'a>, Incomplete> {
        let mut ends = vec![pos];
        let mut end = pos;
        let after = loop {
            if let Some(known) = self.rows.get(&end) {
                break *known;
            }
            match self.after_close(end)? {
                After::Close(c) if c.is(own) && !c.is_tool() => {
                    end = c.end;
                    ends.push(end);
                }
                after => break after,
            }
        };
        self.rows.extend(ends.into_iter().map(|end| (end, after)));
        Ok(after)
    }

    /// What follows a close tag that ends at `pos`, after misc.
    fn after_close(&mut self, pos: usize) -> Result<After<'a>, Incomplete> {
        #[cfg(test)]
        crate::steps::count();
        let p = self.misc(pos)?;
        let w = self.w;
        match lex::need(&w, p)? {
            None => return Ok(After::Known(Strength::Strong)),
            Some(b'<') => {}
            Some(_) => return Ok(After::Known(Strength::No)),
        }
        Ok(After::Known(match lex::tag(&w, p)? {
            Tag::Close(c) => return Ok(After::Close(c)),
            Tag::None => Strength::No,
            Tag::Open(t) if t.bare() || t.named_param() => Strength::Weak,
            Tag::Open(_) if opener(&w, p)?.is_some() => Strength::Weak,
            Tag::Open(_) => Strength::No,
            Tag::Cut if w.end() - p <= CUT_TAG_MAX => Strength::Weak,
            Tag::Cut => Strength::No,
        }))
    }
}
