//! The grammars of one line, each a complete nom parser over the line's bytes.
//!
//! No parser here sees a second line; `scan` and `cells` relate lines to each other. Attributes are in `attributes`.
//!
//! ```text
//! ## %%% Title[^3]           heading
//! [^3]: [code] lang="py"     definition, attributes
//! ~~~py                      fence
//! ```
//!
//! Lines by MF-2 (only LF ends a line; blanks and CRs count as empty) and the fences among them (MF-8).
//!
//! It does not interpret other lines (`grammar`).

use std::time::Duration;

use memchr::{memchr, memmem};
use nom::{
    IResult, Parser,
    branch::alt,
    bytes::complete::{tag, take_while, take_while_m_n, take_while1},
    character::complete::one_of,
    combinator::{all_consuming, eof, map, opt, peek, recognize, rest, verify},
    multi::{many0_count, many1},
    sequence::{delimited, pair, preceded, terminated},
};

use crate::document::Span;

// Headings: cell markers with title and id (MF-6, MF-7), lines that almost are markers, and the
// ordinary ATX headings among which the section of an `.md` file is found (MF-5).

/// The two kinds of cells (MF-6).
///
/// ```
/// assert_ne!(msg_file::CellMarker::Message, msg_file::CellMarker::Output);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellMarker {
    /// `%%`: an input.
    Message,
    /// `%%%`: an output.
    Output,
}

/// The parts of a heading line. Spans are offsets within the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) level: u8,
    pub(crate) kind: CellMarker,
    /// End of the percent signs.
    pub(crate) mark_end: usize,
    pub(crate) title: Option<Span>,
    pub(crate) id: Option<Span>,
}

fn hashes(max: usize) -> impl Fn(&[u8]) -> IResult<&[u8], &[u8]> {
    move |i| take_while_m_n(1, max, |b| b == b'#').parse(i)
}

/// Matches the end of the line, a blank or the beginning of an id after the percent signs.
fn boundary(i: &[u8]) -> IResult<&[u8], &[u8]> {
    alt((eof, tag("[^"), take_while_m_n(1, 1, is_blank))).parse(i)
}

fn mark(mut i: &[u8]) -> IResult<&[u8], (u8, CellMarker)> {
    // Nearly every line that is asked about begins with `#`.
    if i.first() != Some(&b'#') {
        // Up to two: the file's own and one that a line may begin with.
        i = opt(tag(BOM)).parse(i)?.0;
        i = opt(tag(BOM)).parse(i)?.0;
    }
    let (i, level) = hashes(5)(i)?;
    let (i, _) = take_while1(is_blank).parse(i)?;
    let (i, signs) = terminated(alt((tag("%%%"), tag("%%"))), peek(boundary)).parse(i)?;
    let kind = if signs.len() == 3 { CellMarker::Output } else { CellMarker::Message };
    Ok((i, (level.len() as u8, kind)))
}

/// Reads a heading line (without its terminator); `None` if the line is not a marker.
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

/// The last `[^…]`, if it is at the end of the text.
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

/// The number of backslashes before a marker, 0 if the line is not an escaped marker (MF-12).
pub(crate) fn escaped_marker(line: &[u8]) -> usize {
    let parse: IResult<&[u8], &[u8]> =
        terminated(take_while1(|b| b == b'\\'), mark).parse(chomp(line));
    parse.map_or(0, |(_, slashes)| slashes.len())
}

/// Whether a line looks like an intended marker (MF-6): any number of signs, any indent, quoted.
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

/// The level and the text of an ordinary ATX heading (MF-5).
pub(crate) fn section_heading(line: &[u8]) -> Option<(u8, &[u8])> {
    let indent = take_while_m_n(0, 3, |b| b == b' ');
    let parse: IResult<&[u8], &[u8]> =
        terminated(preceded(indent, hashes(6)), peek(alt((eof, take_while_m_n(1, 1, is_blank)))))
            .parse(line);
    let (rest, level) = parse.ok()?;
    let text = &rest[..without_closing(rest)];
    Some((level.len() as u8, trim_white(text).of(text)))
}

// The definition line below a heading: `[^id]: [type] key="value" …` (MF-9).
//
// Attributes are only found here, not taken apart: see `attributes`.

/// A line of metadata form. Spans are offsets within the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) id: Span,
    /// The type, trimmed, not empty.
    pub(crate) ty: Option<Span>,
    /// The start of the attributes, which end with the line.
    pub(crate) attrs: usize,
}

/// Whether the bytes are an id (MF-7): text without blanks, controls, white space, brackets and `^`.
pub(crate) fn is_id(bytes: &[u8]) -> bool {
    if bytes.is_ascii() {
        return !bytes.is_empty()
            && bytes.iter().all(|&b| b > b' ' && !matches!(b, 0x7f | b'[' | b']' | b'^'));
    }
    std::str::from_utf8(bytes).is_ok_and(|s| {
        s.chars().all(|c| {
            c > ' ' && c != '\u{7f}' && !matches!(c, '[' | ']' | '^') && !c.is_whitespace()
        })
    })
}

fn reference(i: &[u8]) -> IResult<&[u8], &[u8]> {
    let id = verify(take_while1(|b| b != b']' && b != b'['), is_id);
    preceded(take_while_m_n(0, 3, |b| b == b' '), delimited(tag("[^"), id, tag("]:"))).parse(i)
}

fn bracketed(i: &[u8]) -> IResult<&[u8], &[u8]> {
    delimited(tag("["), take_while1(|b| !matches!(b, b'[' | b']' | b'=')), tag("]")).parse(i)
}

/// A key and its equals sign.
fn assignment(i: &[u8]) -> IResult<&[u8], &[u8]> {
    let (rest, key) = key(i)?;
    let (rest, _) = nom::bytes::complete::take_while(is_blank).parse(rest)?;
    let (rest, _) = tag("=").parse(rest)?;
    Ok((rest, key))
}

/// A run of key characters (MF-11).
pub(crate) fn key(i: &[u8]) -> IResult<&[u8], &[u8]> {
    let mut n = 0;
    while n < i.len() && key_byte(&i[n..]) {
        n += 1;
    }
    if n == 0 {
        return Err(nom::Err::Error(nom::error::Error::new(i, nom::error::ErrorKind::TakeWhile1)));
    }
    Ok((&i[n..], &i[..n]))
}

/// Whether a key continues at the beginning of `text`.
fn key_byte(text: &[u8]) -> bool {
    !matches!(text[0], b'=' | b'[' | b']' | b'"' | b'\'')
        && white_len(text) == 0
        && !text.starts_with("“".as_bytes())
        && !text.starts_with("”".as_bytes())
}

fn skip_white(mut i: &[u8]) -> &[u8] {
    while let n @ 1.. = white_len(i) {
        i = &i[n..];
    }
    i
}

/// Reads a line (without its terminator) of metadata form; `None` for any other line.
pub(crate) fn definition(line: &[u8]) -> Option<Definition> {
    if !matches!(line.first()?, b'[' | b' ') {
        return None;
    }
    let (rest, id) = reference(line).ok()?;
    let id_end = line.len() - rest.len() - 2;
    let id = Span::new(id_end - id.len(), id_end);
    let rest = skip_white(rest);
    let at = line.len() - rest.len();
    if let Some(ty) = type_of(rest) {
        let ty_span = Span::new(at + ty.0.start, at + ty.0.end);
        return Some(Definition { id, ty: Some(ty_span), attrs: at + ty.1 });
    }
    (rest.is_empty() || begins_with_attribute(rest)).then_some(Definition {
        id,
        ty: None,
        attrs: at,
    })
}

/// A type at the beginning, and the offset of the rest. The end, white space or `key=` must follow.
fn type_of(rest: &[u8]) -> Option<(Span, usize)> {
    let (after, inner) = bracketed(rest).ok()?;
    let name = trim_white(inner);
    let follows = after.is_empty() || white_len(after) > 0 || assignment(after).is_ok();
    (!name.is_empty() && follows)
        .then_some((Span::new(name.start + 1, name.end + 1), rest.len() - after.len()))
}

/// Whether `key=` is at the beginning, after optional brackets and white space.
fn begins_with_attribute(mut i: &[u8]) -> bool {
    loop {
        i = skip_white(i);
        let bracket: IResult<&[u8], &[u8]> = alt((tag("["), tag("]"))).parse(i);
        match bracket {
            Ok((rest, _)) => i = rest,
            Err(_) => return assignment(i).is_ok(),
        }
    }
}

// Lines that open or close a fenced code block, as CommonMark has them (MF-8).
//
// Whether a fence is closed is not decided here: that needs the whole segment.

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
    /// Whether nothing follows the run. The line then closes a fence of the same sign that is not
    /// longer.
    pub(crate) fn can_close(&self) -> bool {
        self.info.is_empty()
    }
}

/// Reads a fence line without its terminator.
///
/// Returns `None` for a backtick run with a backtick after it, which neither opens nor closes a fence.
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

// The small grammars: stream prefixes (MF-23), durations (MF-25), `covers` (MF-20), numbers in ids (MF-15, MF-37).
//
// They only recognise; what a number or range represents is looked up elsewhere.

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

/// `#7`: a cell by its ordinal.
pub(crate) fn ordinal(text: &str) -> Option<usize> {
    let digits = take_while_m_n(1, 18, |c: char| c.is_ascii_digit());
    let parse: IResult<&str, &str> = terminated(preceded(tag("#"), digits), eof).parse(text);
    parse.ok()?.1.parse().ok()
}

/// The byte order mark, U+FEFF in UTF-8.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    /// Offset of its first byte.
    pub(crate) start: usize,
    /// Offset of its LF, or the end of the text.
    pub(crate) end: usize,
    /// Offset of the next line.
    pub(crate) next: usize,
}

impl Line {
    /// The line that begins at `start`; `limit` is the end of the text.
    pub(crate) fn at(source: &[u8], start: usize, limit: usize) -> Self {
        match memchr(b'\n', &source[start..limit]) {
            Some(n) => Self { start, end: start + n, next: start + n + 1 },
            None => Self { start, end: limit, next: limit },
        }
    }

    /// Its text for structure: without the LF and one CR before it (MF-2).
    pub(crate) fn text<'a>(&self, source: &'a [u8]) -> &'a [u8] {
        chomp(&source[self.start..self.end])
    }
}

/// The lines of `source[from..to]`, in order.
pub(crate) fn lines(source: &[u8], from: usize, to: usize) -> impl Iterator<Item = Line> + '_ {
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= to {
            return None;
        }
        let line = Line::at(source, at, to);
        at = line.next;
        Some(line)
    })
}

/// Without one CR at the end.
pub(crate) fn chomp(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// A blank: space or tab.
pub(crate) fn is_blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

/// Whether a line (without LF) holds only blanks and CRs (MF-2).
pub(crate) fn is_empty_line(text: &[u8]) -> bool {
    text.iter().all(|&b| is_blank(b) || b == b'\r')
}

/// Skips empty lines from `at`. Returns the start of the first line that is not empty, or `limit`.
pub(crate) fn skip_empty(source: &[u8], at: usize, limit: usize) -> usize {
    let mut start = at;
    for (i, &b) in source[at..limit].iter().enumerate() {
        match b {
            b'\n' => start = at + i + 1,
            b' ' | b'\t' | b'\r' => {}
            _ => return start,
        }
    }
    limit
}

/// Drops empty lines from the end of `source[from..to]`. Returns the end of the last line that is
/// not empty, including its terminator, or `from`.
pub(crate) fn trim_empty_end(source: &[u8], from: usize, to: usize) -> usize {
    let mut end = to;
    for i in (from..to).rev() {
        match source[i] {
            b'\n' => end = i + 1,
            b' ' | b'\t' | b'\r' => {}
            _ => return end,
        }
    }
    from
}

/// Length in bytes of the white space character (Unicode `White_Space`) that begins `text`, 0 if none does.
pub(crate) fn white_len(text: &[u8]) -> usize {
    match text {
        [b'\t'..=b'\r' | b' ', ..] => 1,
        [0xC2, 0x85 | 0xA0, ..] => 2,
        [0xE1, 0x9A, 0x80, ..]
        | [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..]
        | [0xE2, 0x81, 0x9F, ..]
        | [0xE3, 0x80, 0x80, ..] => 3,
        _ => 0,
    }
}

/// The span of `text` without white space at both ends.
fn trim_white(text: &[u8]) -> Span {
    let mut start = 0;
    while let n @ 1.. = white_len(&text[start..]) {
        start += n;
    }
    let mut end = text.len();
    let last = |end: usize| (1..=3.min(end - start)).find(|&n| white_len(&text[end - n..end]) == n);
    while let Some(n) = last(end) {
        end -= n;
    }
    Span::new(start, end)
}

/// The line ends of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Eol {
    /// Line feed.
    Lf,
    /// Carriage return and line feed.
    CrLf,
}

impl Eol {
    /// The last line end in a text; LF if there is none (MF-36).
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match memchr::memrchr(b'\n', bytes) {
            Some(n) if n > 0 && bytes[n - 1] == b'\r' => Self::CrLf,
            _ => Self::Lf,
        }
    }

    /// The characters.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

// Fences: which lines may open or close one, and which fences are closed in their segment (MF-8).
//
// `````text
// ```` rust        opens
// ```              is too short to close
// # %% a           text, for the fence is closed before the next complete heading
// ````             closes
// ~~~              opens, is never closed, and protects nothing
// `````
//
// `syntax` decides what a marker in a fence means.

/// A line that may open or close a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FenceLine {
    pub(crate) start: usize,
    pub(crate) next: usize,
    sign: u8,
    len: usize,
    can_close: bool,
}

/// Every fence line of a text, in order; the first line begins at `first`, after a byte order mark.
pub(crate) fn fence_lines(bytes: &[u8], first: usize) -> Vec<FenceLine> {
    let mut out = Vec::new();
    for needle in [b"```", b"~~~"] {
        fence_lines_of(bytes, first, needle, &mut out);
    }
    out.sort_unstable_by_key(|f| f.start);
    out
}

fn fence_lines_of(bytes: &[u8], first: usize, needle: &[u8; 3], out: &mut Vec<FenceLine>) {
    let finder = memmem::Finder::new(needle);
    let mut from = first;
    while let Some(hit) = finder.find(&bytes[from..]) {
        let run = from + hit;
        let before = bytes[first..run].iter().rev().take(4);
        let indent = before.take_while(|&&b| b == b' ').count();
        let start = run - indent;
        from = run + bytes[run..].iter().take_while(|&&b| b == needle[0]).count();
        if indent > 3 || !(start == first || bytes[start - 1] == b'\n') {
            continue;
        }
        let line = Line::at(bytes, start, bytes.len());
        if let Some(fence) = fence(line.text(bytes)) {
            let can_close = fence.can_close();
            let Fence { sign, len, .. } = fence;
            out.push(FenceLine { start, next: line.next, sign, len, can_close });
            from = line.next;
        }
    }
}

/// The closed fences of one segment (spans of whole lines, in order), and the starts of the
/// unclosed ones (MF-8).
///
/// An open fence protects nothing, and the search continues at the next line. The longest later
/// closer decides whether an opener is closed; walking forward from each opener would be quadratic.
pub(crate) fn close_fences(fences: &[FenceLine]) -> (Vec<Span>, Vec<usize>) {
    let mut longest = vec![[0usize; 2]; fences.len() + 1];
    for (i, f) in fences.iter().enumerate().rev() {
        longest[i] = longest[i + 1];
        if f.can_close {
            let slot = &mut longest[i][usize::from(f.sign == b'~')];
            *slot = f.len.max(*slot);
        }
    }
    let (mut closed, mut open) = (Vec::new(), Vec::new());
    let mut i = 0;
    while let Some(f) = fences.get(i) {
        if longest[i + 1][usize::from(f.sign == b'~')] < f.len {
            open.push(f.start);
            i += 1;
            continue;
        }
        let end = (i + 1..fences.len())
            .find(|&j| fences[j].can_close && fences[j].sign == f.sign && fences[j].len >= f.len)
            .unwrap_or(i);
        closed.push(Span::new(f.start, fences[end].next));
        i = end + 1;
    }
    (closed, open)
}

/// Whether an offset is in one of these sorted spans.
pub(crate) fn within(spans: &[Span], at: usize) -> bool {
    let n = spans.partition_point(|s| s.start <= at);
    n > 0 && at < spans[n - 1].end
}

/// The closed fences of a separate text, such as a body to be written.
pub(crate) fn closed_fences(text: &[u8]) -> Vec<Span> {
    close_fences(&fence_lines(text, 0)).0
}

/// The content and the info string of the fence, if a text is a single fence (MF-21).
pub(crate) fn whole_fence(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = Line::at(text, 0, text.len());
    let open = fence(first.text(text))?;
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let last = memchr::memrchr(b'\n', body).map(|n| n + 1).filter(|&n| n >= first.next)?;
    let fences = fence_lines(text, 0);
    let (closed, _) = close_fences(&fences);
    let one = closed.first()?;
    let close = fence(chomp(&body[last..]))?;
    if one.start != 0
        || one.end < body.len()
        || !close.can_close()
        || close.sign != open.sign
        || close.len < open.len
    {
        return None;
    }
    let inner = &text[first.next..last.max(first.next)];
    let info = open.info.of(first.text(text));
    Some((info, inner.strip_suffix(b"\n").unwrap_or(inner)))
}
