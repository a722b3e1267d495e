//! Headings: cell markers with title and id (MF-6, MF-7), lines that almost are markers, and the
//! ordinary ATX headings among which an `.md` file's section is looked for (MF-5).

use super::definition::is_id;
use crate::span::Span;
use crate::syntax::line::{BOM, chomp, is_blank, trim_white};
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while_m_n, take_while1};
use nom::combinator::{eof, opt, peek, recognize, verify};
use nom::multi::many0_count;
use nom::sequence::{pair, preceded, terminated};
use nom::{IResult, Parser};

/// Which of the two kinds of cell a marker opens (MF-6).
///
/// ```
/// assert_ne!(msg_file::Kind::Message, msg_file::Kind::Output);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `%%`: what somebody put in.
    Message,
    /// `%%%`: what came back.
    Output,
}

/// A heading line, taken apart. Spans are offsets within the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) level: u8,
    pub(crate) kind: Kind,
    /// End of the percent signs.
    pub(crate) mark_end: usize,
    pub(crate) title: Option<Span>,
    pub(crate) id: Option<Span>,
}

fn hashes(max: usize) -> impl Fn(&[u8]) -> IResult<&[u8], &[u8]> {
    move |i| take_while_m_n(1, max, |b| b == b'#').parse(i)
}

/// The end of the line, a blank or the beginning of an id must follow the percent signs.
fn boundary(i: &[u8]) -> IResult<&[u8], &[u8]> {
    alt((eof, tag("[^"), take_while_m_n(1, 1, is_blank))).parse(i)
}

fn mark(mut i: &[u8]) -> IResult<&[u8], (u8, Kind)> {
    // Nearly every line that is asked about begins with `#`.
    if i.first() != Some(&b'#') {
        // Up to two: the file's own and one that a line may begin with.
        i = opt(tag(BOM)).parse(i)?.0;
        i = opt(tag(BOM)).parse(i)?.0;
    }
    let (i, level) = hashes(5)(i)?;
    let (i, _) = take_while1(is_blank).parse(i)?;
    let (i, signs) = terminated(alt((tag("%%%"), tag("%%"))), peek(boundary)).parse(i)?;
    let kind = if signs.len() == 3 { Kind::Output } else { Kind::Message };
    Ok((i, (level.len() as u8, kind)))
}

/// Reads a heading line (without its terminator), or nothing if the line is no marker.
pub(crate) fn marker(line: &[u8]) -> Option<Marker> {
    let (rest, (level, kind)) = mark(line).ok()?;
    let mark_end = line.len() - rest.len();
    let (title, id) = title_and_id(rest);
    let shift = |s: Span| Span::new(s.start + mark_end, s.end + mark_end);
    Some(Marker { level, kind, mark_end, title: title.map(shift), id: id.map(shift) })
}

/// The length of a rest of a heading line without trailing blanks and an ATX closing sequence.
fn without_closing(rest: &[u8]) -> usize {
    let trimmed = |end: usize| rest[..end].iter().rposition(|&b| !is_blank(b)).map_or(0, |n| n + 1);
    let end = trimmed(rest.len());
    let open = rest[..end].iter().rposition(|&b| b != b'#').map_or(0, |n| n + 1);
    if open < end && (open == 0 || is_blank(rest[open - 1])) { trimmed(open) } else { end }
}

fn title_and_id(rest: &[u8]) -> (Option<Span>, Option<Span>) {
    let end = without_closing(rest);
    let (text, id) = match trailing_id(&rest[..end]) {
        Some(id) => (id.start - 2, Some(id)),
        None => (end, None),
    };
    let title = trim_white(&rest[..text]);
    ((!title.is_empty()).then_some(title), id)
}

/// The last `[^…]` if the text ends with it.
fn trailing_id(text: &[u8]) -> Option<Span> {
    let end = text.strip_suffix(b"]")?.len();
    // No id holds a bracket, so only the last one can begin it.
    let open = text[..end].iter().rposition(|&b| b == b'[')?;
    let id = text[open + 1..end].strip_prefix(b"^")?;
    is_id(id).then_some(Span::new(open + 2, end))
}

/// A title's last `[NAME]` and the title before it (MF-13): spans within the title.
pub(crate) fn title_type(title: &[u8]) -> Option<(Span, Option<Span>)> {
    let end = title.strip_suffix(b"]")?.len();
    let open = title[..end].iter().rposition(|&b| b == b'[')?;
    let name = &title[open + 1..end];
    if name.contains(&b']') {
        return None;
    }
    let inner = trim_white(name);
    let name = Span::new(open + 1 + inner.start, open + 1 + inner.end);
    let before = trim_white(&title[..open]);
    (!name.is_empty()).then_some((name, (!before.is_empty()).then_some(before)))
}

/// How many backslashes stand before a marker that begins behind them; 0 if that is no escaped marker (MF-12).
pub(crate) fn escaped_marker(line: &[u8]) -> usize {
    let parse: IResult<&[u8], &[u8]> =
        terminated(take_while1(|b| b == b'\\'), mark).parse(chomp(line));
    parse.map_or(0, |(_, slashes)| slashes.len())
}

/// Whether a line looks like a marker somebody meant to write (MF-6): any width of signs, any indent, quoted.
pub(crate) fn near_marker(line: &[u8]) -> bool {
    let blanks = |i| take_while::<_, &[u8], nom::error::Error<&[u8]>>(is_blank).parse(i);
    let quote = (blanks, many0_count(pair(tag(">"), blanks)));
    let hash = alt((tag("#"), tag("＃")));
    let gap = many0_count(alt((tag(" "), tag("\t"), tag("\u{3000}"))));
    let sign = || alt((tag("%"), tag("％")));
    let hashes = verify(many0_count(hash), |n| (1..=6).contains(n));
    let parse: IResult<&[u8], &[u8]> = recognize((quote, hashes, gap, sign(), sign())).parse(line);
    parse.is_ok()
}

/// Level and text of an ordinary ATX heading (MF-5).
pub(crate) fn section_heading(line: &[u8]) -> Option<(u8, &[u8])> {
    let indent = take_while_m_n(0, 3, |b| b == b' ');
    let parse: IResult<&[u8], &[u8]> =
        terminated(preceded(indent, hashes(6)), peek(alt((eof, take_while_m_n(1, 1, is_blank)))))
            .parse(line);
    let (rest, level) = parse.ok()?;
    let text = &rest[..without_closing(rest)];
    Some((level.len() as u8, trim_white(text).of(text)))
}
