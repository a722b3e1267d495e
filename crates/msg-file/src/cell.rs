//! A cell: heading, definition and body, borrowed from the file's bytes.
//!
//! What a cell means (category, parent, view) is filled in by `meaning`; here it is only carried.

mod parts;
mod places;

use crate::grammar::{self, Kind, RawAttr, RawValue};
use crate::history::View;
use crate::kinds::{CellKind, Summarised};
use crate::line::{chomp, lines};
use crate::span::Span;
pub use parts::PartKind;
pub(crate) use places::{Ordinal, Place, Places};
use std::borrow::Cow;
use std::sync::Arc;

/// One cell of the record (MF-6 to MF-12).
#[derive(Debug, Clone)]
pub struct Cell {
    pub(crate) source: Arc<[u8]>,
    pub(crate) at: Places,
    /// The heading line ends in CRLF, so CRs at line ends are no content (MF-2).
    pub(crate) crlf: bool,
    pub(crate) attrs: Box<[RawAttr]>,
    pub(crate) history: HistoryMode,
    pub(crate) view: View,
    pub(crate) summary: Option<Summarised>,
    pub(crate) kind: CellKind,
}

/// Spans of a heading line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// The whole line.
    pub(crate) line: Span,
    pub(crate) level: u8,
    pub(crate) kind: Kind,
    pub(crate) strong: bool,
    pub(crate) title: Option<Span>,
    /// In the heading; a cell may also get its id from its definition.
    pub(crate) id: Option<Span>,
}

/// What `history=` says (MF-19).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HistoryMode {
    /// The cell is sent.
    #[default]
    Include,
    /// The cell is private.
    Exclude,
    /// Its summary is sent.
    Summary,
}

impl HistoryMode {
    /// The word of the JSON form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Include => "include",
            Self::Exclude => "exclude",
            Self::Summary => "summary",
        }
    }
}

/// A heading, taken apart (MF-6, MF-7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading<'a> {
    /// Number of `#`s, 1 to 5.
    pub level: u8,
    /// Message or output.
    pub kind: Kind,
    /// Whether a typed definition with the same id follows (MF-8).
    pub strong: bool,
    /// The title, raw Markdown.
    pub title: Option<Cow<'a, str>>,
    /// The id, from the heading or adopted from the definition.
    pub id: Option<Cow<'a, str>>,
}

/// An attribute, decoded (MF-11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attr<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// The value; none for a flag.
    pub value: Option<Cow<'a, str>>,
}

impl Cell {
    /// Place in the record, from 1.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.at.ordinal as usize
    }

    /// Line of the heading, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.at.line as usize
    }

    /// All bytes of the cell.
    #[must_use]
    pub fn span(&self) -> Span {
        self.at.whole.span()
    }

    /// The heading line, taken apart.
    pub(crate) fn head(&self) -> Head {
        let at = &self.at;
        Head {
            line: Span::new(self.span().start, at.heading_end as usize),
            level: at.level,
            kind: at.kind,
            strong: at.strong,
            title: at.title.get(),
            id: at.id.get(),
        }
    }

    pub(crate) fn definition(&self) -> Option<Span> {
        self.at.definition.get()
    }

    pub(crate) fn defined_id(&self) -> Option<Span> {
        self.at.defined_id.get()
    }

    pub(crate) fn ty(&self) -> Option<Span> {
        self.at.ty.get()
    }

    pub(crate) fn bodies(&self) -> [Span; 2] {
        [self.at.body.0.span(), self.at.body.1.span()]
    }

    /// The heading.
    #[must_use]
    pub fn heading(&self) -> Heading<'_> {
        Heading {
            level: self.at.level,
            kind: self.at.kind,
            strong: self.at.strong,
            title: self.at.title.get().map(|s| self.text(s)),
            id: self.id(),
        }
    }

    /// The id: that of the heading, else that of the definition (MF-10).
    #[must_use]
    pub fn id(&self) -> Option<Cow<'_, str>> {
        self.id_span().map(|s| self.text(s))
    }

    pub(crate) fn id_span(&self) -> Option<Span> {
        self.at.id.get().or(self.defined_id())
    }

    /// Id, or `#n` where there is none.
    #[must_use]
    pub fn reference(&self) -> String {
        self.id().map_or_else(|| format!("#{}", self.at.ordinal), Cow::into_owned)
    }

    /// The type as written, from the definition or the title (MF-13).
    #[must_use]
    pub fn type_name(&self) -> Option<Cow<'_, str>> {
        self.ty().map(|s| self.text(s))
    }

    /// The body: lines joined by LF, escapes of markers undone (MF-12). Borrowed where nothing had to change.
    #[must_use]
    pub fn body(&self) -> Cow<'_, [u8]> {
        let [first, second] = self.bodies().map(|it| it.of(&self.source));
        if second.is_empty() {
            return decode_body(first, self.crlf);
        }
        let mut both = first.to_vec();
        both.extend_from_slice(second);
        Cow::Owned(decode_body(&both, self.crlf).into_owned())
    }

    /// The same as text; ill-formed parts become U+FFFD.
    #[must_use]
    pub fn body_text(&self) -> Cow<'_, str> {
        match self.body() {
            Cow::Borrowed(b) => String::from_utf8_lossy(b),
            Cow::Owned(b) => Cow::Owned(lossy(b)),
        }
    }

    /// The content: `lead`, body and `trail` (MF-26).
    #[must_use]
    pub fn content(&self) -> Cow<'_, str> {
        let edge = |key| {
            self.attr(key).filter(|v| v.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n')))
        };
        match (edge("lead"), edge("trail")) {
            (None, None) => self.body_text(),
            (lead, trail) => {
                let mut out = lead.unwrap_or_default().into_owned();
                out.push_str(&self.body_text());
                out.push_str(&trail.unwrap_or_default());
                Cow::Owned(out)
            }
        }
    }

    /// The value of an attribute: the last of that key; `""` for a flag.
    #[must_use]
    pub fn attr(&self, key: &str) -> Option<Cow<'_, str>> {
        self.raw_attr(key).map(|a| self.value(a).unwrap_or_default())
    }

    /// Whether the attribute is there, as a flag or with a value.
    #[must_use]
    pub fn has_attr(&self, key: &str) -> bool {
        self.raw_attr(key).is_some()
    }

    pub(crate) fn raw_attr(&self, key: &str) -> Option<&RawAttr> {
        self.attrs.iter().rev().find(|a| a.key(&self.source) == key.as_bytes())
    }

    /// All attributes in order, repeated ones included.
    pub fn attrs(&self) -> impl Iterator<Item = Attr<'_>> {
        self.attrs.iter().map(|a| Attr {
            key: String::from_utf8_lossy(a.key(&self.source)),
            value: self.value(a),
        })
    }

    pub(crate) fn value(&self, attr: &RawAttr) -> Option<Cow<'_, str>> {
        match attr.value() {
            RawValue::Flag => None,
            RawValue::Plain(s) => Some(self.text(s)),
            RawValue::Escaped(s) => Some(match grammar::decode_double(s.of(&self.source)) {
                Cow::Borrowed(b) => String::from_utf8_lossy(b),
                Cow::Owned(b) => Cow::Owned(lossy(b)),
            }),
        }
    }

    pub(crate) fn text(&self, span: Span) -> Cow<'_, str> {
        String::from_utf8_lossy(span.of(&self.source))
    }

    /// What the cell is (MF-14).
    #[must_use]
    pub fn kind(&self) -> &CellKind {
        &self.kind
    }

    /// What `history=` says (MF-19).
    #[must_use]
    pub fn history(&self) -> HistoryMode {
        self.history
    }

    /// How much of it a model sees (MF-27).
    #[must_use]
    pub fn view(&self) -> View {
        self.view
    }

    /// Ordinal of the cell that this one belongs to (MF-15).
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        self.at.parent.get()
    }

    /// Ordinal of the nearest earlier cell of a lower level (MF-18).
    #[must_use]
    pub fn outline_parent(&self) -> Option<usize> {
        self.at.outline_parent.get()
    }

    /// Ordinal of the summary that stands for this cell (MF-20).
    #[must_use]
    pub fn covered_by(&self) -> Option<usize> {
        self.at.covered_by.get()
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Lines joined by LF, without terminators at the end; a line of backslashes and a marker loses one
/// backslash (MF-12).
pub(crate) fn decode_body(raw: &[u8], crlf: bool) -> Cow<'_, [u8]> {
    let plain = (!crlf || memchr::memchr(b'\r', raw).is_none())
        && (memchr::memmem::find(raw, b"%%").is_none() || memchr::memchr(b'\\', raw).is_none());
    if plain {
        return Cow::Borrowed(raw.strip_suffix(b"\n").unwrap_or(raw));
    }
    let mut out = Vec::with_capacity(raw.len());
    for line in lines(raw, 0, raw.len()) {
        let text = &raw[line.start..line.end];
        let text = if crlf { chomp(text) } else { text };
        if line.start > 0 {
            out.push(b'\n');
        }
        let escaped = text.first() == Some(&b'\\') && grammar::escaped_marker(text) > 0;
        out.extend_from_slice(&text[usize::from(escaped)..]);
    }
    Cow::Owned(out)
}
