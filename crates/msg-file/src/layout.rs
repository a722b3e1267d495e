//! From bytes to cells: frontmatter, section, preamble and the parts of each cell (MF-3 to MF-13).
//!
//! Nothing here knows agents, parents or history; see `meaning`.

mod cells;
mod footnotes;
mod section;

use crate::cell::Cell;
use crate::diag::Findings;
use crate::document::Mode;
use crate::frontmatter::{self, Frontmatter};
use crate::limits::Limits;
use crate::scan::{self, FenceLine, Head, Survey};
use crate::span::Span;
pub use section::Section;
use std::sync::Arc;

/// Where everything is.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) active: bool,
    pub(crate) frontmatter: Option<Frontmatter>,
    pub(crate) document: Option<Span>,
    pub(crate) section: Option<Section>,
    pub(crate) preamble: Span,
    pub(crate) cells: Vec<Cell>,
    /// Closed fences, as spans of whole lines, in order.
    pub(crate) fences: Vec<Span>,
    /// There are more cells than this, the most that is read; then nothing else is known.
    pub(crate) overfull: Option<usize>,
}

/// Reads the structure of a file.
pub(crate) fn layout(
    source: &Arc<[u8]>,
    mode: Mode,
    limits: &Limits,
    found: &mut Findings,
) -> Layout {
    let end = source.len();
    if scan::is_utf16(source) {
        found.error(0, "msgfile::utf16-unsupported", "the file is UTF-16; only UTF-8 is read");
        return Layout { preamble: Span::new(0, end), ..empty(mode == Mode::MessageFile) };
    }
    let most = limits.cells_of(end);
    let Survey { mut heads, lines, mut near, mut fences } = scan::survey(source, most);
    if heads.len() > most {
        return Layout { overfull: Some(most), ..empty(true) };
    }
    let strong = heads.iter().find(|h| h.strong).map_or(end, |h| h.start);
    let frontmatter = frontmatter::find(source, scan::bom_len(source), strong, found)
        .map(|(span, inner)| frontmatter::read(source, span, inner, limits, found));
    let from = frontmatter.as_ref().map_or(0, |f| f.span.end);
    heads.drain(..heads.partition_point(|h| h.start < from));
    near.drain(..near.partition_point(|&at| at < from));
    fences.drain(..fences.partition_point(|f| f.start < from));

    let name = frontmatter.as_ref().and_then(|f| f.message_section.clone());
    if mode == Mode::Markdown && name.is_none() {
        found.keep_errors();
        let rest = Span::new(from, end);
        return Layout {
            frontmatter,
            document: Some(rest),
            preamble: Span::new(end, end),
            ..empty(false)
        };
    }
    bad_bytes(source, found);
    let segments = Segments::of(source.len(), &fences, &heads);
    let mut layout = Layout { frontmatter, preamble: Span::new(from, end), ..empty(true) };
    if let (Mode::Markdown, Some(name)) = (mode, name) {
        layout.section = section::find(source, from, &name, &heads, &segments.closed, found);
        let start = layout.section.as_ref().map_or(end, |s| s.end);
        layout.document = Some(Span::new(from, start));
        layout.preamble = Span::new(start, end);
        heads.drain(..heads.partition_point(|h| h.start < start));
        near.drain(..near.partition_point(|&at| at < start));
    }
    let heads = boundaries(heads, &segments.closed, found);
    layout.preamble.end = heads.first().map_or(end, |h| h.start);
    report_lines(&near, &segments, layout.preamble.start, &heads, found);
    layout.cells = cells::cells(source, &heads, &lines, &segments.closed, found);
    end_of_file(source, &layout, found);
    layout.fences = segments.closed;
    layout
}

fn empty(active: bool) -> Layout {
    Layout {
        active,
        frontmatter: None,
        document: None,
        section: None,
        preamble: Span::default(),
        cells: Vec::new(),
        fences: Vec::new(),
        overfull: None,
    }
}

/// Fences, judged segment by segment: from strong heading to strong heading (MF-8).
struct Segments {
    closed: Vec<Span>,
    open: Vec<usize>,
}

impl Segments {
    fn of(end: usize, fences: &[FenceLine], heads: &[Head]) -> Self {
        let mut segments = Self { closed: Vec::new(), open: Vec::new() };
        let mut at = 0;
        let ends = heads.iter().filter(|h| h.strong).map(|h| h.start).chain([end]);
        for end in ends {
            let n = fences[at..].partition_point(|f| f.start < end);
            if n > 0 {
                let (closed, open) = scan::close_fences(&fences[at..at + n]);
                segments.closed.extend(closed);
                segments.open.extend(open);
                at += n;
            }
            if at == fences.len() {
                break;
            }
        }
        segments
    }
}

/// The headings that begin cells: strong ones, and weak ones outside closed fences (MF-8).
fn boundaries(mut heads: Vec<Head>, closed: &[Span], found: &mut Findings) -> Vec<Head> {
    let mut reported = None;
    heads.retain(|head| {
        let n = closed.partition_point(|s| s.start <= head.start);
        let begins = head.strong || n == 0 || head.start >= closed[n - 1].end;
        if !begins && reported != Some(n) {
            reported = Some(n);
            found.info(head.start, "msgfile::marker-in-fence", "a marker inside a fence is text");
        }
        begins
    });
    heads
}

fn report_lines(
    near: &[usize],
    segments: &Segments,
    from: usize,
    heads: &[Head],
    found: &mut Findings,
) {
    for &at in near {
        if !scan::within(&segments.closed, at) {
            found.info(at, "msgfile::near-marker", "the line looks like a cell marker but is text");
        }
    }
    let mut last = None;
    for &at in segments.open.iter().filter(|&&at| at >= from) {
        let cell = heads.partition_point(|h| h.start <= at);
        if last != Some(cell) {
            last = Some(cell);
            found.warning(
                at,
                "msgfile::unclosed-fence",
                "the fence is not closed before the next complete heading and protects nothing",
            );
        }
    }
}

/// Ill-formed UTF-8 and NUL bytes, once a region (MF-2).
fn bad_bytes(source: &[u8], found: &mut Findings) {
    // Nearly every file is good, and a large one is then read once only.
    if scan::is_clean(source) {
        return;
    }
    if std::str::from_utf8(source).is_err() {
        let (mut at, mut bad_until) = (0, None);
        for chunk in source.utf8_chunks() {
            let bad = at + chunk.valid().len();
            if !chunk.invalid().is_empty() {
                if bad_until != Some(bad) {
                    found.warning(bad, "msgfile::invalid-utf8", "the bytes are no UTF-8");
                }
                bad_until = Some(bad + chunk.invalid().len());
            }
            at = bad + chunk.invalid().len();
        }
    }
    let mut end = None;
    for at in memchr::memchr_iter(0, source) {
        if end != Some(at) {
            found.warning(at, "msgfile::nul-bytes", "there are NUL bytes");
        }
        end = Some(at + 1);
    }
}

/// A file that ends in the middle of a line (MF-44).
fn end_of_file(source: &[u8], layout: &Layout, found: &mut Findings) {
    if source.is_empty() || source.ends_with(b"\n") {
        return;
    }
    let line = memchr::memrchr(b'\n', source).map_or(0, |n| n + 1);
    let torn = layout.cells.last().is_some_and(|c| {
        let in_heading = c.head().line.end == source.len() && c.head().id.is_some();
        in_heading || c.definition().is_some_and(|d| d.end == source.len())
    });
    if torn {
        found.warning(
            line,
            "msgfile::torn-tail",
            "the file ends inside the last cell's heading or definition",
        );
    } else {
        found.info(line, "msgfile::no-final-newline", "the file does not end with a newline");
    }
}
