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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let ms = |t| duration(t).map(|d| d.as_millis());
        assert_eq!(ms("0.5s"), Some(500));
        assert_eq!(ms("500ms"), Some(500));
        assert_eq!(ms("1h2m3.5s"), Some(3_723_500));
        assert_eq!(ms("1m30s"), Some(90_000));
        assert_eq!(ms(" 2 "), Some(2000));
        assert_eq!(ms(".5"), Some(500));
        for t in ["", "s", "1x", "-1s", "1s2", "1e3"] {
            assert_eq!(ms(t), None, "{t}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(integer("999999999"), Some(999_999_999));
        for t in ["0", "01", "1234567890", "", "a", "+1"] {
            assert_eq!(integer(t), None, "{t}");
        }
        assert_eq!(integer_base("12.1"), Some(12));
        assert_eq!(integer_base("007"), Some(7));
        assert_eq!(integer_base("12a"), None);
        assert_eq!(ordinal("#20"), Some(20));
    }

    #[test]
    fn streams_and_ranges() {
        assert_eq!(stream_line(b"stdout>  a"), Some((Stream::Out, &b" a"[..])));
        assert_eq!(stream_line(b"stderr>"), Some((Stream::Err, &b""[..])));
        assert_eq!(stream_line(b"Stdout> x"), None);
        assert_eq!(covers_range("a..b..c").collect::<Vec<_>>(), [("a", "b..c"), ("a..b", "c")]);
    }
}
