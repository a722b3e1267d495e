//! Canonical headings, definitions and gaps, on request only (MF-40).
//!
//! Bodies, frontmatter, document and preamble keep their bytes; no definition and no marker is made.

use crate::document::Document;
use crate::model::cell::Cell;
use crate::render::{self, quote};
use crate::span::Span;
use crate::syntax;
use crate::syntax::grammar;
use crate::syntax::line::{BOM, Eol};
use crate::syntax::parts::PartKind;
use crate::syntax::raw::RawCell;
use std::collections::HashSet;

/// A document in canonical form, and what had to change for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// The file.
    pub bytes: Vec<u8>,
    /// Ordinals of the cells that changed.
    pub changed: Vec<usize>,
}

impl Document {
    /// Formats the document (MF-40). What it means stays: where the canonical form would be read
    /// differently, which only damaged files manage, less is changed, down to nothing.
    ///
    /// ```
    /// use msg_file::{Document, Mode};
    /// let doc = Document::parse(&b"# %%  hi [^1]\n[^1]: [md] k=v\ntext"[..], Mode::MessageFile)?;
    /// assert_eq!(doc.format().bytes, b"# %% hi[^1]\n\n[^1]: [md] k=\"v\"\n\ntext\n");
    /// # Ok::<(), msg_file::Error>(())
    /// ```
    #[must_use]
    pub fn format(&self) -> Formatted {
        let attempts: [fn(&Cell) -> bool; 2] = [|c| !unbound_footnotes(c), |c| c.raw.at.strong];
        for touch in attempts {
            let formatted = format_cells(self, touch);
            if formatted.changed.is_empty() || means_the_same(self, &formatted.bytes) {
                return formatted;
            }
        }
        Formatted { bytes: self.bytes().to_vec(), changed: Vec::new() }
    }
}

/// A block of definitions of which one binds no cell has to stay, and with it the cell.
fn unbound_footnotes(cell: &Cell) -> bool {
    cell.parts().iter().any(|(kind, _)| *kind == PartKind::Footnotes)
}

fn format_cells(doc: &Document, touch: fn(&Cell) -> bool) -> Formatted {
    let blocks = doc.cells().iter().any(unbound_footnotes);
    let touch: &dyn Fn(&Cell) -> bool =
        if blocks && footnotes_all_bound(doc) { &|_| true } else { &touch };
    let source = doc.bytes();
    let mut bytes = source[..doc.preamble().end].to_vec();
    let mut changed = Vec::new();
    let count = doc.cells().len();
    for (i, cell) in doc.cells().iter().enumerate() {
        let original = cell.span().of(source);
        if !touch(cell) {
            bytes.extend_from_slice(original);
            continue;
        }
        let eol = if cell.raw.crlf { Eol::CrLf } else { Eol::Lf };
        let text = canonical(&cell.raw, source, eol.as_str(), i + 1 == count);
        if text != original {
            changed.push(cell.ordinal());
        }
        bytes.extend_from_slice(&text);
    }
    Formatted { bytes, changed }
}

/// Whether every definition of every footnote block was given to a cell, so that the blocks can go.
fn footnotes_all_bound(doc: &Document) -> bool {
    let source = doc.bytes();
    let bound: HashSet<usize> =
        doc.cells().iter().filter_map(|c| Some(c.raw.defined_id()?.start)).collect();
    let blocks = doc.cells().iter().flat_map(|c| c.parts()).filter(|p| p.0 == PartKind::Footnotes);
    blocks.flat_map(|(_, span)| crate::syntax::line::lines(source, span.start, span.end)).all(
        |line| {
            let def = grammar::definition(line.text(source));
            def.is_none_or(|def| bound.contains(&(line.start + def.id.start)))
        },
    )
}

/// One cell in canonical form.
fn canonical(cell: &RawCell, source: &[u8], eol: &str, last: bool) -> Vec<u8> {
    let mut out = heading(cell, source);
    out.extend_from_slice(eol.as_bytes());
    if cell.defined_id().is_some() {
        out.extend_from_slice(eol.as_bytes());
        out.extend_from_slice(&definition(cell, source));
        out.extend_from_slice(eol.as_bytes());
    }
    let body = cell.bodies().map(|it| it.of(source)).concat();
    if !body.is_empty() {
        out.extend_from_slice(eol.as_bytes());
        out.extend_from_slice(&body);
        if !body.ends_with(b"\n") {
            out.extend_from_slice(if cell.crlf && body.ends_with(b"\r") {
                b"\n"
            } else {
                eol.as_bytes()
            });
        }
    }
    if !last {
        out.extend_from_slice(eol.as_bytes());
    }
    out
}

fn heading(cell: &RawCell, source: &[u8]) -> Vec<u8> {
    let line = chomped(cell.heading_line(), source);
    let mut mark = Vec::new();
    // The mark of the file stays, one before another heading goes.
    if cell.heading_line().start == 0 && line.starts_with(BOM) {
        mark.extend_from_slice(BOM);
    }
    mark.extend(std::iter::repeat_n(b'#', cell.at.level.into()));
    mark.extend_from_slice(if cell.at.kind == grammar::Kind::Message { b" %%" } else { b" %%%" });
    // The title as the heading has it, a type in it included.
    let title = cell.title().map_or(&b""[..], |s| s.of(source));
    let out = render::heading(&mark, title, cell.id_span().map(|s| s.of(source)));
    let again = grammar::marker(&out);
    let same = again.is_some_and(|m| {
        m.title.map_or(&b""[..], |s| s.of(&out)) == title
            && m.id.map(|s| s.of(&out)) == cell.id_span().map(|s| s.of(source))
    });
    if !same { line.to_vec() } else { out }
}

/// The definition on one line, straight quotes, attributes in order.
fn definition(cell: &RawCell, source: &[u8]) -> Vec<u8> {
    let mut out = b"[^".to_vec();
    out.extend_from_slice(cell.id_span().map_or(&b""[..], |s| s.of(source)));
    out.extend_from_slice(b"]:");
    if let Some(ty) = cell.ty() {
        out.extend_from_slice(b" [");
        out.extend_from_slice(ty.of(source));
        out.push(b']');
    }
    for attr in &cell.attrs {
        out.push(b' ');
        out.extend_from_slice(attr.key(source));
        if let Some(value) = cell.value(attr) {
            out.extend_from_slice(b"=\"");
            quote(&value, &mut out);
            out.push(b'"');
        }
    }
    out
}

/// Whether other bytes mean what a document means. What cells mean follows from the frontmatter and from the
/// kind, level, title, id, type, attributes and body of each (MF-13 to MF-22), so that these are compared and
/// nothing is worked out anew.
fn means_the_same(doc: &Document, bytes: &[u8]) -> bool {
    let other = syntax::piece(bytes, doc.mode());
    doc.frontmatter() == other.frontmatter.as_ref()
        && doc.cells().len() == other.cells.len()
        && doc.cells().iter().zip(&other.cells).all(|(a, b)| a.raw.says_the_same(b))
}

/// A line without its end.
fn chomped(line: Span, source: &[u8]) -> &[u8] {
    let line = line.of(source);
    crate::syntax::line::chomp(line.strip_suffix(b"\n").unwrap_or(line))
}
