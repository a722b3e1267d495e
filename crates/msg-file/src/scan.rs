//! The structural scan: where headings and fences are (MF-6, MF-8).
//!
//! It finds lines and looks one definition ahead; what a cell means is not its business. Cost: a few
//! passes of memchr over the bytes, and the grammar for lines that hold percent signs or fences.

use crate::grammar::{self, Kind};
use crate::line::{BOM, Line, chomp, skip_empty};
use crate::span::Span;
use memchr::memmem;

/// A cell heading as the structural scan finds it: 40 bytes, the title left in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Offset of the heading line.
    pub start: usize,
    /// The id, if there is one.
    pub id: Option<(usize, u32)>,
    /// Number of `#`s, 1 to 5.
    pub level: u8,
    /// Message or output.
    pub kind: Kind,
    /// Whether a typed definition with the same id follows (MF-8).
    pub strong: bool,
}

/// Finds every cell heading, weak ones included, whether a fence hides them or not (MF-8).
///
/// Memory: the headings. Cost: about one pass of memchr.
///
/// ```
/// let heads = msg_file::scan(b"# %% a[^1]\n\n[^1]: [markdown]\n\nhi\n\n# %%\n");
/// assert_eq!(heads.iter().map(|h| (h.start, h.strong)).collect::<Vec<_>>(), [(0, true), (34, false)]);
/// ```
#[must_use]
pub fn scan(bytes: &[u8]) -> Vec<Head> {
    let mut heads = Vec::new();
    percent_lines(bytes, |line| {
        let found = head(bytes, line);
        heads.extend(found);
    });
    heads
}

/// Headings, and the starts of lines that only look like one.
pub(crate) fn headings(bytes: &[u8]) -> (Vec<Head>, Vec<usize>) {
    let mut heads = Vec::new();
    let mut near = Vec::new();
    percent_lines(bytes, |line| match head(bytes, line) {
        Some(head) => heads.push(head),
        None if grammar::near_marker(line.text(bytes)) => near.push(line.start),
        None => {}
    });
    // Full-width signs make no marker, so these lines are near ones or nothing.
    for_lines_with(bytes, "％".as_bytes(), |line| {
        if grammar::near_marker(line.text(bytes)) {
            near.push(line.start);
        }
    });
    near.sort_unstable();
    near.dedup();
    near.retain(|&at| heads.binary_search_by_key(&at, |h| h.start).is_err());
    (heads, near)
}

fn percent_lines(bytes: &[u8], visit: impl FnMut(Line)) {
    for_lines_with(bytes, b"%%", visit);
}

/// Visits each line that holds `needle`, once, in order.
fn for_lines_with(bytes: &[u8], needle: &[u8], mut visit: impl FnMut(Line)) {
    let finder = memmem::Finder::new(needle);
    let mut at = 0;
    while let Some(hit) = finder.find(&bytes[at..]) {
        let start = memchr::memrchr(b'\n', &bytes[at..at + hit]).map_or(at, |n| at + n + 1);
        let line = Line::at(bytes, start, bytes.len());
        visit(line);
        at = line.next;
    }
}

fn head(bytes: &[u8], line: Line) -> Option<Head> {
    let marker = grammar::marker(line.text(bytes))?;
    let id = marker.id.map(|s| (line.start + s.start, s.len() as u32));
    let strong = marker.id.is_some_and(|s| {
        let id = Span::new(line.start + s.start, line.start + s.end).of(bytes);
        has_definition(bytes, line.next, id)
    });
    Some(Head { start: line.start, id, level: marker.level, kind: marker.kind, strong })
}

/// Whether the next line that is not empty is a typed definition of this id.
pub(crate) fn has_definition(bytes: &[u8], at: usize, id: &[u8]) -> bool {
    let at = skip_empty(bytes, at, bytes.len());
    // Cheap refusal before the line is even measured.
    if !bytes[at..].iter().take(4).any(|&b| b == b'[') {
        return false;
    }
    let line = Line::at(bytes, at, bytes.len());
    let text = line.text(bytes);
    grammar::definition(text).is_some_and(|d| d.ty.is_some() && d.id.of(text) == id)
}

/// A line that may open or close a fence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FenceLine {
    pub(crate) start: usize,
    pub(crate) next: usize,
    sign: u8,
    len: usize,
    can_close: bool,
}

/// Every fence line from `from` on, in order.
pub(crate) fn fence_lines(bytes: &[u8], from: usize) -> Vec<FenceLine> {
    let mut out = Vec::new();
    fences_of(bytes, from, b"```", &mut out);
    let ticks = out.len();
    fences_of(bytes, from, b"~~~", &mut out);
    if ticks > 0 && ticks < out.len() {
        out.sort_unstable_by_key(|f| f.start);
    }
    out
}

fn fences_of(bytes: &[u8], from: usize, needle: &[u8; 3], out: &mut Vec<FenceLine>) {
    let finder = memmem::Finder::new(needle);
    let mut at = from;
    while let Some(hit) = finder.find(&bytes[at..]) {
        let run = at + hit;
        let indent = bytes[from..run].iter().rev().take(4).take_while(|&&b| b == b' ').count();
        let start = run - indent;
        let run_end = run + bytes[run..].iter().take_while(|&&b| b == needle[0]).count();
        at = run_end;
        if indent > 3 || !(start == from || bytes[start - 1] == b'\n') {
            continue;
        }
        let line = Line::at(bytes, start, bytes.len());
        if let Some(fence) = grammar::fence(line.text(bytes)) {
            let can_close = fence.can_close();
            out.push(FenceLine {
                start,
                next: line.next,
                sign: fence.sign,
                len: fence.len,
                can_close,
            });
            at = line.next;
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

/// Length of the file's own byte order mark.
pub(crate) fn bom_len(bytes: &[u8]) -> usize {
    if bytes.starts_with(BOM) { BOM.len() } else { 0 }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(text: &str) -> (Vec<&str>, usize) {
        let (closed, open) = close_fences(&fence_lines(text.as_bytes(), 0));
        (closed.iter().map(|s| &text[s.range()]).collect(), open.len())
    }

    #[test]
    fn fences_close_in_their_segment_or_protect_nothing() {
        assert_eq!(closed("```\na\n```\nb\n"), (vec!["```\na\n```\n"], 0));
        assert_eq!(closed("````\n```\n~~~\nx\n~~~\n"), (vec!["~~~\nx\n~~~\n"], 2));
        assert_eq!(
            closed("x ```\n    ```\n  ``` rust\n```` \nend"),
            (vec!["  ``` rust\n```` \n"], 0)
        );
    }

    #[test]
    fn many_open_fences_cost_one_pass() {
        let mut text = String::new();
        for n in 3..600 {
            text.push_str(&"`".repeat(600 - n + 3));
            text.push_str(" x\n");
        }
        assert_eq!(closed(&text), (vec![], 597));
    }

    #[test]
    fn whole_fences() {
        assert_eq!(whole_fence(b"```json\n{}\n```"), Some((&b"json"[..], &b"{}"[..])));
        assert_eq!(whole_fence(b"```\n```\n"), Some((&b""[..], &b""[..])));
        assert_eq!(whole_fence(b"```\na\n```\nb"), None);
        assert_eq!(whole_fence(b"```\na\n```\n```\nb\n```"), None);
        assert_eq!(whole_fence(b"```\na"), None);
    }

    #[test]
    fn near_markers_are_not_markers() {
        let (heads, near) = headings("# %%\n#%% x\n＃ ％％\n50%% off\n".as_bytes());
        assert_eq!((heads.len(), near), (1, vec![5, 11]));
    }
}
