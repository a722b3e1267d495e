//! Lines as MF-2 sees them: LF alone ends one, blanks and CRs make it empty.
//!
//! Nothing here looks at what a line means; that is the grammar's part.

use crate::span::Span;
use memchr::memchr;

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

/// Skips empty lines from `at`; gives the start of the first line that is not empty, or `limit`.
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

/// Drops empty lines from the end of `source[from..to]`; gives the end of the last line that is
/// not empty, its terminator included, or `from`.
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

/// Without white space at both ends; gives the offsets within `text`.
pub(crate) fn trim_white(text: &[u8]) -> Span {
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

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Eol {
    /// Line feed.
    Lf,
    /// Carriage return, line feed.
    CrLf,
}

impl Eol {
    /// How the last ended line of a text ends; LF where there is none (MF-36).
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
