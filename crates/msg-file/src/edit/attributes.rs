//! Edits of a definition: one attribute set or removed, the rest of the line untouched (MF-39).

use super::read_back::{Edited, same_but};
use super::{Edit, Splice};
use crate::document::Document;
use crate::error::{Error, refuse};
use crate::model::cell::{Cell, HistoryMode};
use crate::render;
use crate::span::Span;
use crate::syntax::grammar::Form;

impl Edit<'_> {
    /// Sets an attribute, or makes it a flag with `None`. All bytes but the value stay; a new one goes to
    /// the end of the definition or, where something unclosed there would swallow it, to its beginning.
    ///
    /// # Errors
    /// `no-such-cell`; `bad-attribute` if key or value would not read back, or the cell has no definition.
    ///
    /// ```
    /// use msg_file::{Document, Limits, Mode};
    /// let text = b"# %% [^1]\n\n[^1]: [md] title=\"a\n\nx\n";
    /// let doc = Document::read(&text[..], Mode::MessageFile, &Limits::default())?;
    /// let mut edit = doc.edit();
    /// edit.set_attr(1, "history", Some("exclude"))?;
    /// assert!(edit.finish().starts_with(b"# %% [^1]\n\n[^1]: [md] history=\"exclude\" title=\"a\n"));
    /// # Ok::<(), msg_file::Error>(())
    /// ```
    pub fn set_attr(
        &mut self,
        cell: usize,
        key: &str,
        value: Option<&str>,
    ) -> Result<&mut Self, Error> {
        for (span, text) in self.places_of(cell, key, value)? {
            let Ok(new) = self.spliced(span, &text, Edited::Changed(cell)) else { continue };
            let (old, read) = (self.cell(cell)?, &new.cells()[cell - 1]);
            let is_set =
                read.raw.raw_attr(key).is_some_and(|it| read.raw.value(it).as_deref() == value);
            if is_set && same_but(old, read, key) {
                self.now = Some(new);
                return Ok(self);
            }
        }
        Err(unreadable(key))
    }

    /// Where an attribute may be written, and what: the first that reads back is taken.
    pub(super) fn places_of(
        &self,
        cell: usize,
        key: &str,
        value: Option<&str>,
    ) -> Result<Vec<Splice>, Error> {
        let mut text = Vec::new();
        render::attribute(key, value, &mut text)?;
        let it = self.cell(cell)?;
        own_definition(it)?;
        Ok(match it.raw.raw_attr(key) {
            Some(attr) if attr.form != Form::Flag && value.is_some() => {
                // The key and its equals sign stay as they are.
                let whole = attr.whole().of(self.doc().bytes());
                let equals = memchr::memchr(b'=', whole).map_or(whole.len(), |n| n + 1);
                let from = attr.whole().start + equals;
                vec![(Span::new(from, attr.whole().end), text[key.len() + 2..].to_vec())]
            }
            Some(attr) => vec![(attr.whole(), text[1..].to_vec())],
            None => {
                let (begin, end) = attributes_span(it, self.doc())?;
                let joined =
                    self.doc().bytes().get(begin).is_some_and(|b| !b.is_ascii_whitespace());
                let before = [&text[..], if joined { b" " } else { b"" }].concat();
                vec![(Span::new(end, end), text), (Span::new(begin, begin), before)]
            }
        })
    }

    /// Removes every attribute of that key, with the white space before it.
    ///
    /// # Errors
    /// `no-such-cell`; `bad-attribute` if the other attributes would not read as before.
    pub fn remove_attr(&mut self, cell: usize, key: &str) -> Result<&mut Self, Error> {
        let it = self.cell(cell)?;
        own_definition(it)?;
        let bytes = self.doc().bytes();
        let places: Vec<Span> = it
            .raw
            .attrs
            .iter()
            .filter(|a| a.key(bytes) == key.as_bytes())
            .map(|a| with_blanks(a.whole(), bytes))
            .collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return Ok(self) };
        let all = Span::new(first.start, last.end);
        let kept = places
            .windows(2)
            .flat_map(|it| &bytes[it[0].end..it[1].start])
            .copied()
            .collect::<Vec<_>>();
        let new = self.spliced(all, &kept, Edited::Changed(cell))?;
        let read = &new.cells()[cell - 1];
        if read.has_attr(key) || !same_but(it, read, key) {
            return Err(unreadable(key));
        }
        self.now = Some(new);
        Ok(self)
    }

    /// Sets what `history` says; `include` removes the attribute.
    ///
    /// # Errors
    /// As [`Self::set_attr`]; without an error the cell says what was asked for.
    pub fn set_history(&mut self, cell: usize, mode: HistoryMode) -> Result<&mut Self, Error> {
        match mode {
            HistoryMode::Include => self.remove_attr(cell, "history"),
            _ => self.set_attr(cell, "history", Some(mode.as_str())),
        }
    }
}

fn unreadable(key: &str) -> Error {
    let what = format!(
        "the attribute {key:?} would not read back as it was meant, or change others; format the file first"
    );
    Error::refused("msgfile::bad-attribute", what)
}

/// Refuses a cell whose definition stands in the footnote block of another (MF-10): an edit leaves every
/// byte outside its cell.
fn own_definition(cell: &Cell) -> Result<(), Error> {
    if cell.raw.definition().is_none() && cell.raw.defined_id().is_some() {
        let what =
            "the definition stands in the footnote block of another cell; format the file first";
        return refuse("msgfile::bad-attribute", what);
    }
    Ok(())
}

/// An attribute with the blanks before it, where it does not begin its line.
fn with_blanks(whole: Span, bytes: &[u8]) -> Span {
    let blanks =
        bytes[..whole.start].iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let begins_line = bytes[..whole.start - blanks].ends_with(b"\n");
    if begins_line { whole } else { Span::new(whole.start - blanks, whole.end) }
}

/// Where a definition's attributes begin, behind the type, and where they end, before the line end.
fn attributes_span(cell: &Cell, doc: &Document) -> Result<(usize, usize), Error> {
    let none = || {
        Error::refused(
            "msgfile::bad-attribute",
            "the cell has no definition of its own to put an attribute in",
        )
    };
    let span = cell.raw.definition().ok_or_else(none)?;
    let text = span.of(doc.bytes());
    let end = text.iter().rposition(|b| !matches!(b, b'\n' | b'\r' | b' ' | b'\t'));
    // Behind `]` of the type or, without one, behind `]:` of the id.
    let id_end = cell.raw.defined_id().map_or(span.start, |id| id.end + 2);
    let begin =
        cell.raw.ty().filter(|ty| ty.start >= id_end).and_then(|ty| {
            Some(ty.end + 1 + memchr::memchr(b']', &doc.bytes()[ty.end..span.end])?)
        });
    Ok((begin.unwrap_or(id_end), span.start + end.map_or(0, |n| n + 1)))
}
