//! Fences: which lines may open or close one, and which fences are closed in their segment (MF-8).
//!
//! `````text
//! ```` rust        opens
//! ```              is too short to close
//! # %% a           text, for the fence is closed before the next complete heading
//! ````             closes
//! ~~~              opens, is never closed, and protects nothing
//! `````
//!
//! What a marker in a fence means is decided by `syntax`.

use super::grammar;
use super::line::{Line, chomp};
use crate::span::Span;
use memchr::memmem;

/// A line that may open or close a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FenceLine {
    pub(crate) start: usize,
    pub(crate) next: usize,
    sign: u8,
    len: usize,
    can_close: bool,
}

/// Every fence line of a text, in order; the first line begins at `first`, behind a byte order mark.
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
/// closed is answered by the longest closer behind it; walking forward from each opener instead
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

/// Closed fences of a text that stands alone, such as a body that is to be written.
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
