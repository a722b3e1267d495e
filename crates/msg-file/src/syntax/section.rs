//! The section of an `.md` file that holds the record (MF-5).

use super::fences::within;
use super::grammar;
use super::line::lines;
use super::scan::Head;
use crate::diag::Findings;
use crate::span::Span;

/// The heading under which the record of an `.md` file stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its text as written.
    pub title: String,
    /// Its level, 1 to 6.
    pub level: u8,
    /// Its line, from 1.
    pub line: usize,
    /// Offset behind its line.
    pub(crate) end: usize,
}

/// Finds the section: of several headings of that name the last before the first cell marker that
/// follows the first of them.
pub(super) fn find(
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
        // Most lines are no headings; do not look at fences for them.
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
        // It says all: where nothing is the section, no marker stands before it.
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
