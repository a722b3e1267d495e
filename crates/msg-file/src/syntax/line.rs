//! Lines by MF-2 (only LF ends a line; blanks and CRs count as empty) and the fences among them (MF-8).
//!
//! It does not interpret other lines (`grammar`).

use memchr::{memchr, memmem};

use super::grammar;
use crate::document::Span;

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
        if let Some(fence) = grammar::fence(line.text(bytes)) {
            let can_close = fence.can_close();
            let grammar::Fence { sign, len, .. } = fence;
            out.push(FenceLine { start, next: line.next, sign, len, can_close });
            from = line.next;
        }
    }
}

/// Which fences of one segment are closed in it (spans of whole lines, in order), and where those
/// begin that are not (MF-8).
///
/// An open fence protects nothing and the search goes on at the next line. Whether an opener is
/// closed is answered by the longest closer after it; walking forward from each opener instead
/// would be quadratic.
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

/// Whether an offset lies in one of these spans, which are in order.
pub(crate) fn within(spans: &[Span], at: usize) -> bool {
    let n = spans.partition_point(|s| s.start <= at);
    n > 0 && at < spans[n - 1].end
}

/// Closed fences of a text that is alone, such as a body that is to be written.
pub(crate) fn closed_fences(text: &[u8]) -> Vec<Span> {
    close_fences(&fence_lines(text, 0)).0
}

/// The content of the fence that a text wholly consists of, and its info string (MF-21).
pub(crate) fn whole_fence(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = Line::at(text, 0, text.len());
    let open = grammar::fence(first.text(text))?;
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let last = memchr::memrchr(b'\n', body).map(|n| n + 1).filter(|&n| n >= first.next)?;
    let fences = fence_lines(text, 0);
    let (closed, _) = close_fences(&fences);
    let one = closed.first()?;
    let close = grammar::fence(chomp(&body[last..]))?;
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
