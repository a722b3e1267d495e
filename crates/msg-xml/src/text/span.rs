//! Code spans (XT-4): whether a run of backticks is closed by an equal run on its line, within 4096 bytes.

use crate::input::{Incomplete, Input, MORE, Need};

/// Longest span, from its first backtick to its last.
const SPAN_MAX: usize = 4096;

/// A run that may open a span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    /// Length of the run; 0 while it may still grow.
    n: usize,
    at: usize,
    /// Looked through for `<` up to here.
    clean: usize,
}

/// What a run turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanEnd {
    /// A span: one past its last backtick.
    Closed(usize),
    /// Ordinary text: one past the run.
    Text(usize),
    /// The input ends where it could still have been closed: one past the run.
    Open(usize),
}

impl Span {
    pub(super) fn new(start: usize) -> Self {
        Span { start, n: 0, at: start, clean: start }
    }

    /// Reads on.
    pub(super) fn run(&mut self, w: &Input<'_>) -> Result<SpanEnd, Incomplete> {
        if self.n == 0 {
            let n = run_len(w, self.start)?;
            self.n = n;
            self.at = self.start + n;
            self.clean = self.at;
        }
        let text = SpanEnd::Text(self.start + self.n);
        let limit = self.start + SPAN_MAX;
        loop {
            let rest = w.from(self.at);
            let Some(i) = memchr::memchr3(b'`', b'\n', b'\r', rest) else {
                self.at = w.end();
                return match w.eof {
                    _ if self.at >= limit => Ok(text),
                    true => Ok(SpanEnd::Open(self.start + self.n)),
                    false => Err(MORE.by(limit)),
                };
            };
            let p = self.at + i;
            self.at = p;
            if p >= limit || w.at(p) != Some(b'`') {
                return Ok(text);
            }
            let n = run_len(w, p)?;
            if n == self.n {
                return Ok(if p + n - self.start <= SPAN_MAX {
                    SpanEnd::Closed(p + n)
                } else {
                    text
                });
            }
            self.at = p + n;
        }
    }

    /// How far the bytes after the run are free of anything that looks like a tag: these may go out.
    pub(super) fn free(&mut self, w: &Input<'_>) -> usize {
        if self.n == 0 {
            return w.end();
        }
        loop {
            let Some(p) = w.find(b'<', self.clean) else {
                self.clean = w.end();
                return self.clean;
            };
            self.clean = p;
            match w.at(p + 1) {
                Some(b)
                    if b < 0x80
                        && b != b'/'
                        && b != b'|'
                        && b != b'_'
                        && !b.is_ascii_alphabetic() =>
                {
                    self.clean = p + 1;
                }
                _ => return p,
            }
        }
    }
}

/// Length of the run of backticks at `pos`; waits for the byte after it.
fn run_len(w: &Input<'_>, pos: usize) -> Result<usize, Incomplete> {
    let rest = w.from(pos);
    match rest.iter().position(|&b| b != b'`') {
        Some(n) => Ok(n),
        None if w.eof => Ok(rest.len()),
        None => Err(Incomplete::on(Need::NotIn(b"`"))),
    }
}
