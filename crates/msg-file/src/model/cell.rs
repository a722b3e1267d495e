//! A cell and its meaning: heading, definition and body, borrowed from the file's bytes.
//!
//! It computes nothing; data of single categories is in `kinds` and `content`.

use std::borrow::Cow;

use super::kinds::{CellKind, Summarised};
use super::summaries::View;
use crate::span::{Ordinal, Span};
use crate::syntax::cells::PartKind;
use crate::syntax::grammar::Kind;
use crate::syntax::raw::{Attr, RawCell, lossy};

/// One cell of the record (MF-6 to MF-30).
#[derive(Debug, Clone)]
pub struct Cell {
    pub(crate) raw: RawCell,
    pub(crate) kind: CellKind,
    pub(crate) history: HistoryMode,
    /// The type is what the title ends with (MF-13).
    pub(crate) titled: bool,
    pub(crate) parent: Ordinal,
    pub(crate) outline_parent: Ordinal,
    pub(crate) sent: Sent,
}

/// What cells further down may decide (MF-20, MF-27).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sent {
    pub(crate) covered_by: Ordinal,
    /// The cell of its summary, where there is one.
    pub(crate) summary: Ordinal,
    pub(crate) view: View,
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

impl Cell {
    /// Place in the record, from 1.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.raw.ordinal()
    }

    /// Line of the heading, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.raw.at.line as usize
    }

    /// All bytes of the cell.
    #[must_use]
    pub fn span(&self) -> Span {
        self.raw.span()
    }

    /// The parts, tiling the cell. Put together when asked for.
    #[must_use]
    pub fn parts(&self) -> Vec<(PartKind, Span)> {
        self.raw.parts()
    }

    /// The heading.
    #[must_use]
    pub fn heading(&self) -> Heading<'_> {
        let at = &self.raw.at;
        Heading {
            level: at.level,
            kind: at.kind,
            strong: at.strong,
            title: self.raw.named(self.titled).1.map(|s| self.raw.text(s)),
            id: self.id(),
        }
    }

    /// The id: that of the heading, else that of the definition (MF-10).
    #[must_use]
    pub fn id(&self) -> Option<Cow<'_, str>> {
        self.raw.id()
    }

    /// Id, or `#n` where there is none.
    #[must_use]
    pub fn reference(&self) -> String {
        self.id().map_or_else(|| format!("#{}", self.ordinal()), Cow::into_owned)
    }

    /// The type as written, from the definition or the title (MF-13).
    #[must_use]
    pub fn type_name(&self) -> Option<Cow<'_, str>> {
        self.raw.named(self.titled).0.map(|s| self.raw.text(s))
    }

    /// The body: lines joined by LF, escapes of markers undone (MF-12). Borrowed where nothing had to change.
    #[must_use]
    pub fn body(&self) -> Cow<'_, [u8]> {
        self.raw.body()
    }

    /// The same as text; ill-formed parts become U+FFFD.
    #[must_use]
    pub fn body_text(&self) -> Cow<'_, str> {
        lossy(self.body())
    }

    /// The content: `lead`, body and `trail` (MF-26).
    #[must_use]
    pub fn content(&self) -> Cow<'_, str> {
        match (self.edge("lead"), self.edge("trail")) {
            (None, None) => self.body_text(),
            (lead, trail) => {
                let mut out = lead.unwrap_or_default().into_owned();
                out.push_str(&self.body_text());
                out.push_str(&trail.unwrap_or_default());
                Cow::Owned(out)
            }
        }
    }

    /// `lead` or `trail`, where it holds white space alone.
    pub(crate) fn edge(&self, key: &str) -> Option<Cow<'_, str>> {
        self.attr(key).filter(|v| v.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n')))
    }

    /// The value of an attribute: the last of that key; `""` for a flag.
    #[must_use]
    pub fn attr(&self, key: &str) -> Option<Cow<'_, str>> {
        self.raw.attr(key)
    }

    /// Whether the attribute is there, as a flag or with a value.
    #[must_use]
    pub fn has_attr(&self, key: &str) -> bool {
        self.raw.has_attr(key)
    }

    /// All attributes in order, repeated ones included.
    pub fn attrs(&self) -> impl Iterator<Item = Attr<'_>> {
        self.raw.attrs()
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
        self.sent.view
    }

    /// Ordinal of the cell that this one belongs to (MF-15).
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        self.parent.get()
    }

    /// Ordinal of the nearest earlier cell of a lower level (MF-18).
    #[must_use]
    pub fn outline_parent(&self) -> Option<usize> {
        self.outline_parent.get()
    }

    /// Ordinal of the summary that represents this cell (MF-20).
    #[must_use]
    pub fn covered_by(&self) -> Option<usize> {
        self.sent.covered_by.get()
    }

    /// Where the summary of a cell whose view is `summary` comes from.
    pub(crate) fn summarised(&self) -> Option<Summarised> {
        let own = || self.sent.summary.get().map_or(Summarised::FirstParagraph, Summarised::Cell);
        (self.view() == View::Summary).then(|| match self.has_attr("summary") {
            true => Summarised::Attribute,
            false => own(),
        })
    }
}
