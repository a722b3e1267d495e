//! Misc: blanks, closed comments, instructions and declarations. Each part of it is read once, however many questions
//! begin inside of it, as they do after the close tags in comments and declarations.

use super::memo::{Places, Steps};
use crate::lex;
use crate::window::{Wait, Wake, Win, is_blank};

const DOCTYPE: &str = "<!DOCTYPE";

/// The memory of misc over one text.
#[derive(Debug, Default)]
pub(super) struct Misc {
    pub(super) comments: Places,
    instructions: Places,
    pub(super) doctypes: Doctypes,
    steps: Steps,
}

impl Misc {
    /// Where the misc at `pos` ends.
    pub(super) fn end(&mut self, w: &Win<'_>, pos: usize) -> Result<usize, Wait> {
        if let Some(p) = w.blank_misc(pos) {
            return Ok(p);
        }
        let mut p = self.steps.last(pos);
        while let Some((to, _)) = self.part(w, p)? {
            self.steps.add(w, p, to);
            p = self.steps.last(to);
        }
        Ok(p)
    }

    /// The declarations in misc that ends at `end`.
    pub(super) fn declarations(
        &mut self,
        w: &Win<'_>,
        pos: usize,
        end: usize,
    ) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut p = pos;
        while p < end
            && let Ok(Some((to, doctype))) = self.part(w, p)
        {
            found.extend(doctype.then_some((p, to)));
            p = to;
        }
        found
    }

    /// The end of the part of misc at `p`, if there is one, and whether it is a declaration.
    fn part(&mut self, w: &Win<'_>, p: usize) -> Result<Option<(usize, bool)>, Wait> {
        #[cfg(test)]
        crate::steps::count();
        match w.at(p) {
            None if w.eof => return Ok(None),
            None => return Err(Wait::on(Wake::NonBlank)),
            Some(b) if is_blank(b) => return Ok(Some((w.skip_blanks(p), false))),
            Some(b'<') => {}
            Some(_) => return Ok(None),
        }
        let end = match lex::need(w, p + 1)? {
            Some(b'?') => closed(w, &mut self.instructions, b"?>", p + 2)?,
            Some(b'!') if w.word(p, "<!--")? => closed(w, &mut self.comments, b"-->", p + 4)?,
            Some(b'!') if w.word(p, DOCTYPE)? => {
                return Ok(self.doctypes.end(w, p)?.map(|end| (end, true)));
            }
            _ => None,
        };
        Ok(end.map(|end| (end, false)))
    }
}

/// One past the first terminator from `pos` on, which only a `>` can complete; `None` if the input ends before.
pub(super) fn closed(
    w: &Win<'_>,
    places: &mut Places,
    terminator: &[u8],
    pos: usize,
) -> Result<Option<usize>, Wait> {
    match places.first(w, terminator, pos) {
        Some(at) => Ok(Some(at + terminator.len())),
        None if w.eof => Ok(None),
        None => Err(Wait::on(Wake::Byte(b'>'))),
    }
}

/// Where declarations end: at the first `>` outside of their brackets. One pass finds it for all of them, also for
/// those that begin in others.
#[derive(Debug, Default)]
pub(super) struct Doctypes {
    from: usize,
    pub(super) at: usize,
    /// Those that have not ended, in order.
    open: Vec<usize>,
    /// For each bracket that is open, how many of those began before it: a `>` in it does not end them.
    brackets: Vec<usize>,
    ends: Steps,
}

impl Doctypes {
    /// The end of the declaration at `p`; `None` if the input ends in it.
    fn end(&mut self, w: &Win<'_>, p: usize) -> Result<Option<usize>, Wait> {
        if p < self.from || self.at < w.base || self.at == 0 {
            *self = Doctypes { from: p, at: p, ..Doctypes::default() };
        }
        loop {
            if let Some(end) = self.ends.step(p) {
                return Ok(Some(end));
            }
            let rest = w.from(self.at);
            let Some(i) = rest.iter().position(|b| matches!(b, b'<' | b'[' | b']' | b'>')) else {
                self.at = self.at.max(w.end());
                return if w.eof { Ok(None) } else { Err(Wait::on(Wake::Byte(b'>'))) };
            };
            self.at += i;
            #[cfg(test)]
            crate::steps::count();
            match rest[i] {
                b'<' if w.word(self.at, DOCTYPE)? => self.open.push(self.at),
                b'[' => self.brackets.push(self.open.len()),
                // A stray one is nothing; else the outer bracket goes on, for what began in the inner one too.
                b']' => drop(self.brackets.pop()),
                b'>' => {
                    let here = self.brackets.last().copied().unwrap_or_default();
                    for start in self.open.drain(here..) {
                        self.ends.add(w, start, self.at + 1);
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}
