//! The small grammars: stream prefixes (MF-23), durations (MF-25), `covers` (MF-20), numbers in ids (MF-15, MF-37).
//!
//! They only recognise; what a number or range stands for is looked up elsewhere.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while_m_n, take_while1};
use nom::character::complete::one_of;
use nom::combinator::{all_consuming, eof, map, opt, recognize, rest};
use nom::multi::many1;
use nom::sequence::{pair, preceded, terminated};
use nom::{IResult, Parser};
use std::time::Duration;

/// Which stream of a program a line was written to (MF-23).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// `stdout>` or `stderr>`, at most one space, content.
pub(crate) fn stream_line(line: &[u8]) -> Option<(Stream, &[u8])> {
    let prefix = alt((map(tag("stdout>"), |_| Stream::Out), map(tag("stderr>"), |_| Stream::Err)));
    let parse: IResult<&[u8], _> = pair(terminated(prefix, opt(tag(" "))), rest).parse(line);
    parse.ok().map(|(_, it)| it)
}

fn decimal(i: &str) -> IResult<&str, f64> {
    let digits =
        |i| take_while1::<_, &str, nom::error::Error<&str>>(|c: char| c.is_ascii_digit()).parse(i);
    let number = alt((
        recognize((digits, opt((tag("."), take_while(|c: char| c.is_ascii_digit()))))),
        recognize((tag("."), digits)),
    ));
    map(number, |s: &str| s.parse().unwrap_or(f64::INFINITY)).parse(i)
}

/// A duration: `0.5s`, `500ms`, `1h2m3.5s`, a bare number of seconds (MF-25).
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let unit = alt((
        map(tag("ms"), |_| 1e-3),
        map(alt((tag("us"), tag("µs"), tag("μs"))), |_| 1e-6),
        map(tag("ns"), |_| 1e-9),
        map(one_of("hms"), |c| match c {
            'h' => 3600.0,
            'm' => 60.0,
            _ => 1.0,
        }),
    ));
    let units = map(many1(pair(decimal, unit)), |parts| parts.iter().map(|(n, u)| n * u).sum());
    let parse: IResult<&str, f64> =
        alt((all_consuming(units), all_consuming(decimal))).parse(text.trim());
    Duration::try_from_secs_f64(parse.ok()?.1).ok()
}

/// The number of an execution, display or result: 1 to 999 999 999 without leading zero (MF-15).
pub(crate) fn integer(text: &str) -> Option<u32> {
    let first = take_while_m_n(1, 1, |c: char| ('1'..='9').contains(&c));
    let more = take_while_m_n(0, 8, |c: char| c.is_ascii_digit());
    let parse: IResult<&str, &str> = terminated(recognize(pair(first, more)), eof).parse(text);
    parse.ok()?.1.parse().ok()
}

/// The integer base of an id: digits up to the first dot or the end (MF-37).
pub(crate) fn integer_base(id: &str) -> Option<u128> {
    let digits = take_while_m_n(1, 38, |c: char| c.is_ascii_digit());
    let parse: IResult<&str, &str> = terminated(digits, alt((eof, tag(".")))).parse(id);
    parse.ok()?.1.parse().ok()
}

/// The places where a `covers` item may be cut into a range: each `..` in it (MF-20).
pub(crate) fn covers_range(item: &str) -> impl Iterator<Item = (&str, &str)> {
    item.match_indices("..")
        .map(|(at, _)| (&item[..at], &item[at + 2..]))
        .filter(|(a, b)| !a.is_empty() && !b.is_empty())
}

/// `#7`: a cell by its place.
pub(crate) fn ordinal(text: &str) -> Option<usize> {
    let digits = take_while_m_n(1, 18, |c: char| c.is_ascii_digit());
    let parse: IResult<&str, &str> = terminated(preceded(tag("#"), digits), eof).parse(text);
    parse.ok()?.1.parse().ok()
}
