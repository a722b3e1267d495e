//! Mending a value that no close tag ends before its stop (XT-23).

use std::collections::HashSet;

use super::close::{Inside, Search, Strength, Value};
use super::tokens::{Kind, Pending, Token};
use crate::code::Code;
use crate::input::{Input, is_blank};
use crate::lex::{self, PARAM};
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

impl Search<'_> {
    /// Where a value ends that ran into `stop`: the first rule that applies.
    pub(super) fn mend(
        &self,
        value: &Value<'_>,
        inside: &Inside,
        stop: usize,
    ) -> Result<Mended, Pending> {
        if lex::is_word(value.own, &PARAM)
            && let Some(p) = inside.named_param.filter(|&p| p < stop)
        {
            return Ok(Mended::before(p));
        }
        if let Some(tag) = inside.own.structural.or(inside.own.any) {
            return Ok(Mended::at(tag));
        }
        self.look_through(value, inside, stop)
    }

    /// Where a value ends whose end is not looked for: before its first tag.
    pub(super) fn cut_short(&self, value: &Value<'_>, inside: &Inside) -> Mended {
        let first = self.outside(value.from, inside, usize::MAX).next();
        Mended::before(first.map_or(self.tokens.w.end(), |token| token.start))
    }

    /// The tokens from `from` on before `stop`, those in sections aside.
    fn outside<'s>(
        &'s self,
        from: usize,
        inside: &'s Inside,
        stop: usize,
    ) -> impl Iterator<Item = &'s Token<'s>> {
        self.tokens
            .iter_from(from)
            .take_while(move |token| token.start < stop)
            .filter(|token| value::section_at(&inside.sections, token.start).is_none())
    }

    /// Rule (3), that the first tag opens an element that is closed before the stop; rule (4), the first structural
    /// close tag that nothing inside opens; else the stop.
    fn look_through(
        &self,
        value: &Value<'_>,
        inside: &Inside,
        stop: usize,
    ) -> Result<Mended, Pending> {
        let mut opened: HashSet<String> = HashSet::new();
        let (mut first, mut unopened) = (None, None);
        for token in self.outside(value.from, inside, stop) {
            #[cfg(test)]
            crate::steps::count();
            let first = *first.get_or_insert(token);
            match token.kind {
                Kind::Open { .. } | Kind::Opener => {
                    opened.insert(token.name.to_ascii_lowercase());
                }
                Kind::Close { .. } if first.is_plain_open() && token.is(first.name) => {
                    return Ok(Mended::before(first.start));
                }
                Kind::Close { .. }
                    if unopened.is_none()
                        && token.end <= stop
                        && !opened.contains(&token.name.to_ascii_lowercase())
                        && self.structural(token, value.parent)? != Strength::No =>
                {
                    unopened = Some((token.start, token.end));
                }
                _ => {}
            }
        }
        Ok(unopened.map_or(Mended::before(stop), Mended::at))
    }
}
