//! The structural scan: finds headings and lines that resemble one (MF-6, MF-8), and the section of an `.md` file (MF-5).
//!
//! It looks one definition ahead and does not interpret cells. Cost: a few
//! passes of memchr over the bytes, and the grammar for lines that hold percent signs or fences.

use memchr::memmem;

use super::grammar;
use super::grammar::Kind;
use super::line::{BOM, Line, lines, skip_empty, within};
use crate::diag::Findings;
use crate::span::Span;

/// A cell heading as the structural scan finds it: 16 bytes, title and id left in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Offset of the heading line.
    pub start: usize,
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

/// The same of a piece of a file that has been found not to be UTF-16.
pub(crate) fn headings(bytes: &[u8]) -> Vec<Head> {
    lines_with(bytes, b"%%").filter_map(|line| head(bytes, line)).collect()
}

/// What is found in a file before anything is put together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Every heading.
    pub(crate) heads: Vec<Head>,
    /// Starts of lines that only look like a heading.
    pub(crate) near: Vec<usize>,
}

/// Finds headings and what looks like one; gives up beyond so many headings.
pub(crate) fn survey(bytes: &[u8], most: usize) -> Survey {
    let mut found = Survey::default();
    for line in lines_with(bytes, b"%%") {
        match head(bytes, line) {
            Some(_) if found.heads.len() > most => return found,
            Some(head) => found.heads.push(head),
            None if grammar::near_marker(line.text(bytes)) => found.near.push(line.start),
            None => {}
        }
    }
    // Full-width signs make no marker, so these lines are near ones or nothing.
    let wide = lines_with(bytes, "％".as_bytes());
    let wide = wide.filter(|line| grammar::near_marker(line.text(bytes))).map(|line| line.start);
    let known = found.near.len();
    found.near.extend(wide);
    if found.near.len() > known {
        let is_head = |at: &usize| found.heads.binary_search_by_key(at, |h| h.start).is_ok();
        found.near.sort_unstable();
        found.near.dedup();
        found.near.retain(|at| !is_head(at));
    }
    found
}

/// The lines that hold something, each once, in order.
fn lines_with<'a>(bytes: &'a [u8], needle: &'a [u8]) -> impl Iterator<Item = Line> + 'a {
    let finder = memmem::Finder::new(needle);
    let mut from = 0;
    std::iter::from_fn(move || {
        let hit = from + finder.find(&bytes[from..])?;
        let start = memchr::memrchr(b'\n', &bytes[from..hit]).map_or(from, |n| from + n + 1);
        let line = Line::at(bytes, start, bytes.len());
        from = line.next;
        Some(line)
    })
}

fn head(bytes: &[u8], line: Line) -> Option<Head> {
    let marker = grammar::marker(line.text(bytes))?;
    let strong = marker.id.is_some_and(|s| {
        let id = Span::new(line.start + s.start, line.start + s.end).of(bytes);
        has_definition(bytes, line.next, id)
    });
    Some(Head { start: line.start, level: marker.level, kind: marker.kind, strong })
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

/// Length of the file's own byte order mark.
pub(crate) fn bom_len(bytes: &[u8]) -> usize {
    if bytes.starts_with(BOM) { BOM.len() } else { 0 }
}

// The section of an `.md` file that holds the record (MF-5).

/// The heading under which the record of an `.md` file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its text as written.
    pub title: String,
    /// Its level, 1 to 6.
    pub level: u8,
    /// Its line, from 1.
    pub line: usize,
    /// The offset after its line.
    pub(crate) end: usize,
}

/// Finds the section: of several headings of that name the last before the first cell marker that
/// follows the first of them.
pub(crate) fn find(
    source: &[u8],
    from: usize,
    name: &str,
    heads: &[Head],
    closed: &[Span],
    found: &mut Findings,
) -> Option<Section> {
    let name = name.trim().to_lowercase();
    let markers: Vec<usize> =
        heads.iter().filter(|h| h.strong || !within(closed, h.start)).map(|h| h.start).collect();
    let mut section: Option<(usize, Section)> = None;
    let mut repeated = false;
    let mut next_marker = markers.iter().copied().peekable();
    let mut before = Vec::new();
    let first_line = 1 + memchr::memchr_iter(b'\n', &source[..from]).count();
    for (line, number) in lines(source, from, source.len()).zip(first_line..) {
        if next_marker.next_if_eq(&line.start).is_some() {
            if section.is_some() {
                break;
            }
            before.push(line.start);
            continue;
        }
        let text = line.text(source);
        // Most lines are not headings; do not look at fences for them.
        if !text.iter().take(4).any(|&b| b == b'#') {
            continue;
        }
        let Some((level, title)) = grammar::section_heading(text) else { continue };
        let title = String::from_utf8_lossy(title).into_owned();
        if title.to_lowercase() != name || within(closed, line.start) {
            continue;
        }
        repeated = section.is_some();
        section = Some((line.start, Section { title, level, line: number, end: line.next }));
    }
    let Some((at, section)) = section else {
        // It says all: without a section, no marker is before it.
        found.add(0, "msgfile::section-not-found");
        return None;
    };
    for at in before {
        found.add(at, "msgfile::marker-before-section");
    }
    if repeated {
        found.add(at, "msgfile::section-title-repeated");
    }
    Some(section)
}
