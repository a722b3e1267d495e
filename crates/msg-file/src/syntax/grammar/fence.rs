//! Lines that open or close a fenced code block, as CommonMark has them (MF-8).
//!
//! Whether a fence is closed is not decided here: that needs the whole segment.

use crate::span::Span;
use crate::syntax::line::is_blank;
use nom::branch::alt;
use nom::bytes::complete::{take_while_m_n, take_while1};
use nom::sequence::preceded;
use nom::{IResult, Parser};

/// A line that may open or close a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    /// Backtick or tilde.
    pub(crate) sign: u8,
    /// Length of the run.
    pub(crate) len: usize,
    /// The info string, trimmed of blanks: a span within the line.
    pub(crate) info: Span,
}

impl Fence {
    /// Nothing behind the run: the line closes a fence of the same sign that is not longer.
    pub(crate) fn can_close(&self) -> bool {
        self.info.is_empty()
    }
}

/// Reads a fence line without its terminator.
///
/// A backtick run with a backtick behind it neither opens nor closes anything and gives nothing.
pub(crate) fn fence(line: &[u8]) -> Option<Fence> {
    if !matches!(line.first()?, b'`' | b'~' | b' ') {
        return None;
    }
    let run = alt((take_while1(|b| b == b'`'), take_while1(|b| b == b'~')));
    let parse: IResult<&[u8], &[u8]> =
        preceded(take_while_m_n(0, 3, |b| b == b' '), run).parse(line);
    let (rest, run) = parse.ok()?;
    if run.len() < 3 || (run[0] == b'`' && memchr::memchr(b'`', rest).is_some()) {
        return None;
    }
    let from = line.len() - rest.len();
    let start = rest.iter().position(|&b| !is_blank(b)).unwrap_or(rest.len());
    let end = rest.iter().rposition(|&b| !is_blank(b)).map_or(start, |n| n + 1);
    Some(Fence { sign: run[0], len: run.len(), info: Span::new(from + start, from + end) })
}
