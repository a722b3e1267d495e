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
    if is_utf16(bytes) { Vec::new() } else { headings(bytes) }
}

/// Whether a file begins like UTF-16: it has no cells then, whatever its bytes look like (MF-2).
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF")
}

/// The same of a piece of a file that has been found to be no UTF-16.
pub(crate) fn headings(bytes: &[u8]) -> Vec<Head> {
    let mut heads = Vec::new();
    LinesWith::new(b"%%").up_to(bytes, bytes.len(), |line| heads.extend(head(bytes, line)));
    heads
}

/// What one walk over a file finds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Every heading.
    pub(crate) heads: Vec<Head>,
    /// Starts of the headings and the numbers of their lines, from 1.
    pub(crate) lines: Vec<(usize, usize)>,
    /// Starts of lines that only look like a heading.
    pub(crate) near: Vec<usize>,
    /// Every line that may open or close a fence.
    pub(crate) fences: Vec<FenceLine>,
}

/// Finds all that the layout is made from; gives up beyond so many headings.
///
/// The searches take turns by pieces of the file, so that each piece is read from memory once.
pub(crate) fn survey(bytes: &[u8], most: usize) -> Survey {
    survey_by(bytes, BLOCK, most)
}

/// How much a search looks at before the next one does: little enough to stay in the processor's cache.
const BLOCK: usize = 1 << 16;

fn survey_by(bytes: &[u8], block: usize, most: usize) -> Survey {
    let mut found = Survey::default();
    let mut percent = LinesWith::new(b"%%");
    // Full-width signs make no marker, so these lines are near ones or nothing.
    let mut wide = LinesWith::new("％".as_bytes());
    let mut fences = FenceSearch::both(bom_len(bytes));
    let (mut line_number, mut counted) = (1, 0);
    for end in (0..bytes.len()).step_by(block).map(|at| bytes.len().min(at + block)) {
        percent.up_to(bytes, end, |line| match head(bytes, line) {
            Some(head) => {
                // A heading that a block cuts is counted to already, and holds no line end.
                if let Some(text) = bytes.get(counted..head.start) {
                    line_number += memchr::memchr_iter(b'\n', text).count();
                    counted = head.start;
                }
                found.lines.push((head.start, line_number));
                found.heads.push(head);
            }
            None if grammar::near_marker(line.text(bytes)) => found.near.push(line.start),
            None => {}
        });
        line_number += memchr::memchr_iter(b'\n', &bytes[counted..end]).count();
        counted = end;
        wide.up_to(bytes, end, |line| {
            if grammar::near_marker(line.text(bytes)) {
                found.near.push(line.start);
            }
        });
        for search in &mut fences {
            search.up_to(bytes, end, &mut found.fences);
        }
        if found.heads.len() > most {
            break;
        }
    }
    let Survey { heads, near, fences, .. } = &mut found;
    fences.sort_unstable_by_key(|f| f.start);
    near.sort_unstable();
    near.dedup();
    near.retain(|&at| heads.binary_search_by_key(&at, |h| h.start).is_err());
    found
}

/// Whether all of it is UTF-8 without NULs (MF-2); both are looked for block by block.
pub(crate) fn is_clean(bytes: &[u8]) -> bool {
    is_clean_by(bytes, BLOCK)
}

fn is_clean_by(bytes: &[u8], size: usize) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        let block = &bytes[at..bytes.len().min(at + size)];
        let good = match std::str::from_utf8(block) {
            Ok(_) => block.len(),
            // A character that the end of the block cuts belongs to the next one.
            Err(e) if e.error_len().is_none() && block.len() == size => e.valid_up_to(),
            Err(_) => return false,
        };
        if memchr::memchr(0, &block[..good]).is_some() {
            return false;
        }
        at += good;
    }
    true
}

/// The search for lines that hold something, each given once, in order.
struct LinesWith<'n> {
    finder: memmem::Finder<'n>,
    /// Where the search goes on.
    at: usize,
    /// Where the first line begins that was not given.
    floor: usize,
}

impl<'n> LinesWith<'n> {
    fn new(needle: &'n [u8]) -> Self {
        Self { finder: memmem::Finder::new(needle), at: 0, floor: 0 }
    }

    /// Gives the lines whose first hit begins before `end`.
    fn up_to(&mut self, bytes: &[u8], end: usize, mut visit: impl FnMut(Line)) {
        let last = bytes.len().min(end + self.finder.needle().len() - 1);
        while self.at < end
            && let Some(hit) = self.finder.find(&bytes[self.at..last])
        {
            let before = &bytes[self.floor..self.at + hit];
            let start = memchr::memrchr(b'\n', before).map_or(self.floor, |n| self.floor + n + 1);
            let line = Line::at(bytes, start, bytes.len());
            visit(line);
            (self.at, self.floor) = (line.next, line.next);
        }
        self.at = self.at.max(end);
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FenceLine {
    pub(crate) start: usize,
    pub(crate) next: usize,
    sign: u8,
    len: usize,
    can_close: bool,
}

/// Every fence line of a text, in order.
pub(crate) fn fence_lines(bytes: &[u8]) -> Vec<FenceLine> {
    let mut out = Vec::new();
    for mut search in FenceSearch::both(0) {
        search.up_to(bytes, bytes.len(), &mut out);
    }
    out.sort_unstable_by_key(|f| f.start);
    out
}

/// The search for fence lines of one sign.
struct FenceSearch {
    finder: memmem::Finder<'static>,
    sign: u8,
    /// Where the first line begins, its byte order mark aside.
    first: usize,
    /// Where the search goes on.
    at: usize,
}

impl FenceSearch {
    fn both(first: usize) -> [Self; 2] {
        [b"```", b"~~~"].map(|needle| Self {
            finder: memmem::Finder::new(needle),
            sign: needle[0],
            first,
            at: first,
        })
    }

    /// Adds the lines whose run begins before `end`.
    fn up_to(&mut self, bytes: &[u8], end: usize, out: &mut Vec<FenceLine>) {
        let last = bytes.len().min(end + 2);
        while self.at < end
            && let Some(hit) = self.finder.find(&bytes[self.at..last])
        {
            let run = self.at + hit;
            let indent =
                bytes[self.first..run].iter().rev().take(4).take_while(|&&b| b == b' ').count();
            let start = run - indent;
            self.at = run + bytes[run..].iter().take_while(|&&b| b == self.sign).count();
            if indent > 3 || !(start == self.first || bytes[start - 1] == b'\n') {
                continue;
            }
            let line = Line::at(bytes, start, bytes.len());
            if let Some(fence) = grammar::fence(line.text(bytes)) {
                let can_close = fence.can_close();
                let grammar::Fence { sign, len, .. } = fence;
                out.push(FenceLine { start, next: line.next, sign, len, can_close });
                self.at = line.next;
            }
        }
        self.at = self.at.max(end);
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
    close_fences(&fence_lines(text)).0
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
    let fences = fence_lines(text);
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
        let (closed, open) = close_fences(&fence_lines(text.as_bytes()));
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
    fn blocks_change_nothing() {
        let text = "\u{feff}~~~\n# %% long title[^1]\n\n[^1]: [code]\n\n  ```` x\n%%\n ````\n\
            # %%%\n＃ ％％ %%\n#%% a\n~~~\n\n## %% y %% z\n\n    ```\n# %%";
        let whole = survey(text.as_bytes(), usize::MAX);
        assert_eq!((whole.heads.len(), whole.near.len(), whole.fences.len()), (4, 2, 4));
        for size in 1..text.len() {
            assert_eq!(survey_by(text.as_bytes(), size, usize::MAX), whole, "{size}");
        }
    }

    #[test]
    fn clean_text_is_clean_in_blocks() {
        for size in 4..20 {
            assert!(is_clean_by("a％é😀％％😀é".as_bytes(), size), "{size}");
            for bad in [&b"abc\xE2\x82"[..], b"ab\0", b"\xFFabcdefghi", "é😀\0é😀".as_bytes()]
            {
                assert!(!is_clean_by(bad, size), "{size} {bad:?}");
            }
        }
    }

    #[test]
    fn near_markers_are_not_markers() {
        let Survey { heads, near, lines, .. } =
            survey("# %%\n#%% x\n＃ ％％\n50%% off\n# %%".as_bytes(), usize::MAX);
        assert_eq!((heads.len(), near, lines), (2, vec![5, 11], vec![(0, 1), (31, 5)]));
    }
}
