//! Mending a value that no close tag ends before its stop (XT-23).

use std::collections::HashSet;

use super::ahead::{Ahead, Strength};
use super::close::{Inside, Value};
use super::opener::opener;
use crate::code::Code;
use crate::input::{Incomplete, Input, is_blank};
use crate::lex::{self, PARAM, Tag};
use crate::value;

/// Where a mended value ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mended {
    pub(super) to: usize,
    pub(super) end: usize,
    pub(super) report: Code,
    trim: bool,
}

impl Mended {
    pub(super) fn before(pos: usize) -> Self {
        Mended { to: pos, end: pos, report: Code::MissingCloseTag, trim: true }
    }

    fn at((to, end): (usize, usize)) -> Self {
        Mended { to, end, report: Code::MismatchedCloseTag, trim: false }
    }

    /// Where the value's text ends that begins at `from`: without blanks before what it has no end before.
    pub(super) fn text_end(&self, w: &Input<'_>, from: usize) -> usize {
        let mut to = self.to;
        while self.trim && to > from && w.at(to - 1).is_some_and(is_blank) {
            to -= 1;
        }
        to
    }
}

/// Where a value ends that ran into `stop`: the first rule that applies.
pub(super) fn mend(
    ahead: &mut Ahead<'_>,
    value: &Value<'_>,
    inside: &Inside,
    stop: usize,
) -> Result<Mended, Incomplete> {
    if lex::is_word(value.own, &PARAM)
        && let Some(p) = inside.named_param.filter(|&p| p < stop)
    {
        return Ok(Mended::before(p));
    }
    if let Some(tag) = inside.own.structural.or(inside.own.any) {
        return Ok(Mended::at(tag));
    }
    let first = first_tag(&ahead.w, value.from, inside, stop);
    let unopened = look_through(ahead, value, inside, stop, first)?;
    Ok(match unopened {
        Found::FirstCloses(p) => Mended::before(p),
        Found::Unopened(tag) => Mended::at(tag),
        Found::Nothing => Mended::before(stop),
    })
}

/// Where a value ends whose end is not looked for: before its first tag.
pub(super) fn cut_short(w: &Input<'_>, value: &Value<'_>, inside: &Inside) -> Mended {
    let first = first_tag(w, value.from, inside, w.end());
    Mended::before(first.unwrap_or(w.end()))
}

/// The first `<` outside sections.
fn first_tag(w: &Input<'_>, from: usize, inside: &Inside, stop: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let p = w.find(b'<', at).filter(|&p| p < stop)?;
        match value::section_at(&inside.sections, p) {
            Some(s) => at = s.end,
            None => return Some(p),
        }
    }
}

enum Found {
    /// Rule (3): the first tag opens an element that is closed before the stop.
    FirstCloses(usize),
    /// Rule (4): the first structural close tag that nothing inside opens.
    Unopened((usize, usize)),
    Nothing,
}

fn look_through(
    ahead: &mut Ahead<'_>,
    value: &Value<'_>,
    inside: &Inside,
    stop: usize,
    first: Option<usize>,
) -> Result<Found, Incomplete> {
    let w = ahead.w;
    let Some(first) = first else { return Ok(Found::Nothing) };
    let wanted = match lex::tag(&w, first)? {
        Tag::Open(t) if (t.bare() || t.named_param()) && opener(&w, first)?.is_none() => {
            Some(t.name)
        }
        _ => None,
    };
    let mut opened: HashSet<String> = HashSet::new();
    let mut unopened = None;
    let mut at = first;
    while let Some(p) = w.find(b'<', at).filter(|&p| p < stop) {
        #[cfg(test)]
        crate::steps::count();
        if let Some(section) = value::section_at(&inside.sections, p) {
            at = section.end;
            continue;
        }
        at = match lex::tag(&w, p)? {
            Tag::Open(t) => {
                opened.insert(t.name.to_ascii_lowercase());
                t.end
            }
            Tag::Close(c) if wanted.is_some_and(|name| c.is(name)) => {
                return Ok(Found::FirstCloses(first));
            }
            Tag::Close(c) => {
                if unopened.is_none()
                    && c.end <= stop
                    && !opened.contains(&c.name.to_ascii_lowercase())
                    && ahead.structural(c.end, c.name, value.parent)? != Strength::No
                {
                    unopened = Some((p, c.end));
                }
                c.end
            }
            Tag::Cut | Tag::None => p + 1,
        };
    }
    Ok(unopened.map_or(Found::Nothing, Found::Unopened))
}
