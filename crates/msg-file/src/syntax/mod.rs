//! The first pass: from bytes to raw cells, which are places and attributes (MF-2 to MF-13).
//!
//! ```text
//! ---                                 frontmatter
//! message_section: true
//! ---
//! # Plan                              document, of an `.md` file
//! # Discussion                        its last line: the heading of the section
//! notes                               preamble
//! ## %% [^1]                          cells: heading, definition, gaps, body
//! ```
//!
//! `scan` and `line` find lines, `grammar` reads them, `cells` combines them. Nothing here knows agents, parents
//! or histories: those are the second pass, `model`.

pub(crate) mod attributes;
pub(crate) mod cells;
pub(crate) mod frontmatter;
pub(crate) mod grammar;
pub(crate) mod line;
pub(crate) mod raw;
pub(crate) mod scan;

use std::sync::Arc;

use crate::diag::Findings;
use crate::document::Mode;
use crate::error::Limits;
use crate::span::Span;
use frontmatter::Frontmatter;
use line::FenceLine;
use raw::RawCell;
use scan::{Head, Survey};

pub use scan::Section;

/// Where everything is.
#[derive(Debug, Clone)]
pub(crate) struct Syntax {
    pub(crate) active: bool,
    pub(crate) frontmatter: Option<Frontmatter>,
    pub(crate) document: Option<Span>,
    pub(crate) section: Option<Section>,
    pub(crate) preamble: Span,
    pub(crate) cells: Vec<RawCell>,
    /// Closed fences, as spans of whole lines, in order.
    pub(crate) fences: Vec<Span>,
    /// There are more cells than this, the most that is read; then nothing else is known.
    pub(crate) overfull: Option<usize>,
}

/// Reads the structure of a file.
pub(crate) fn read(
    source: &Arc<[u8]>,
    mode: Mode,
    limits: &Limits,
    found: &mut Findings,
) -> Syntax {
    let end = source.len();
    if scan::is_utf16(source) {
        found.add(0, "msgfile::utf16-unsupported");
        return Syntax { preamble: Span::new(0, end), ..empty(mode == Mode::MessageFile) };
    }
    let most = limits.cells_of(end);
    let Survey { mut heads, mut near } = scan::survey(source, most);
    if heads.len() > most {
        return Syntax { overfull: Some(most), ..empty(true) };
    }
    let mut fences = line::fence_lines(source, scan::bom_len(source));
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
        return Syntax {
            frontmatter,
            document: Some(rest),
            preamble: Span::new(end, end),
            ..empty(false)
        };
    }
    bad_bytes(source, found);
    let segments = Segments::of(source.len(), &fences, &heads);
    let mut syntax = Syntax { frontmatter, preamble: Span::new(from, end), ..empty(true) };
    if let (Mode::Markdown, Some(name)) = (mode, name) {
        syntax.section = scan::find(source, from, &name, &heads, &segments.closed, found);
        let start = syntax.section.as_ref().map_or(end, |s| s.end);
        syntax.document = Some(Span::new(from, start));
        syntax.preamble = Span::new(start, end);
        heads.drain(..heads.partition_point(|h| h.start < start));
        near.drain(..near.partition_point(|&at| at < start));
    }
    let heads = boundaries(heads, &segments.closed, found);
    syntax.preamble.end = heads.first().map_or(end, |h| h.start);
    report_lines(&near, &segments, syntax.preamble.start, &heads, found);
    syntax.cells = cells::cells(source, &heads, &segments.closed, found);
    end_of_file(source, &syntax, found);
    syntax.fences = segments.closed;
    syntax
}

/// The structure of a piece of a file that was read within its own limits; what is odd in it is not reported.
pub(crate) fn piece(bytes: &[u8], mode: Mode) -> Syntax {
    read(&bytes.into(), mode, &Limits::of_piece(), &mut Findings::nobodys())
}

fn empty(active: bool) -> Syntax {
    Syntax {
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
                let (closed, open) = line::close_fences(&fences[at..at + n]);
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
            found.add(head.start, "msgfile::marker-in-fence");
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
        if !line::within(&segments.closed, at) {
            found.add(at, "msgfile::near-marker");
        }
    }
    let mut last = None;
    for &at in segments.open.iter().filter(|&&at| at >= from) {
        let cell = heads.partition_point(|h| h.start <= at);
        if last != Some(cell) {
            last = Some(cell);
            found.add(at, "msgfile::unclosed-fence");
        }
    }
}

/// Ill-formed UTF-8 and NUL bytes, once a region (MF-2).
fn bad_bytes(source: &[u8], found: &mut Findings) {
    if std::str::from_utf8(source).is_err() {
        let (mut at, mut bad_until) = (0, None);
        for chunk in source.utf8_chunks() {
            let bad = at + chunk.valid().len();
            if !chunk.invalid().is_empty() {
                if bad_until != Some(bad) {
                    found.add(bad, "msgfile::invalid-utf8");
                }
                bad_until = Some(bad + chunk.invalid().len());
            }
            at = bad + chunk.invalid().len();
        }
    }
    let mut end = None;
    for at in memchr::memchr_iter(0, source) {
        if end != Some(at) {
            found.add(at, "msgfile::nul-bytes");
        }
        end = Some(at + 1);
    }
}

/// A file that ends in the middle of a line (MF-44).
fn end_of_file(source: &[u8], syntax: &Syntax, found: &mut Findings) {
    if source.is_empty() || source.ends_with(b"\n") {
        return;
    }
    let line = memchr::memrchr(b'\n', source).map_or(0, |n| n + 1);
    let torn = syntax.cells.last().is_some_and(|c| {
        let in_heading = c.heading_line().end == source.len() && c.at.id.get().is_some();
        in_heading || c.definition().is_some_and(|d| d.end == source.len())
    });
    if torn {
        found.add(line, "msgfile::torn-tail");
    } else {
        found.add(line, "msgfile::no-final-newline");
    }
}
