//! Edits as splices: bytes outside the edited cell are unchanged; an edit of an attribute changes only its value (MF-39).
//!
//! ```text
//! # %% [^1]                                  # %% [^1]
//!                set_history(1, Exclude)
//! [^1]: [md] a=1    ───────────────▶         [^1]: [md] a=1 history="exclude"
//!
//! hi                                         hi
//! ```
//!
//! Every edit is read back before it counts: the cell says what was asked for, and every other cell
//! says what it said before. Results are new bytes; the store writes them (MF-46).

mod messages;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::append::activated;
use crate::document::{MessageFile, Span};
use crate::error::{Error, FileLimits, refuse};
use crate::model::content::{Cell, HistoryMode};
use crate::render;
use crate::render::{NewCell, NewId};
use crate::syntax::attributes::Form;
use crate::syntax::cells::PartKind;
use crate::syntax::grammar::Eol;

/// Successive edits of a document; see [`MessageFile::edit`].
#[derive(Debug)]
pub struct FileEdit<'a> {
    original: &'a MessageFile,
    /// The document after the edits so far.
    now: Option<MessageFile>,
}

impl MessageFile {
    /// Begins an edit. Cells are named by their ordinal after the previous edits.
    ///
    /// ```
    /// use msg_file::{MessageFile, Mode};
    /// let doc = MessageFile::parse(&b"# %% [^1]\n\n[^1]: [md] a=1  b=2\n\nx\n"[..], Mode::MessageFile)?;
    /// let mut edit = doc.edit();
    /// edit.set_attr(1, "a", Some("3"))?;
    /// assert_eq!(edit.finish(), b"# %% [^1]\n\n[^1]: [md] a=\"3\"  b=2\n\nx\n");
    /// # Ok::<(), msg_file::Error>(())
    /// ```
    #[must_use]
    pub fn edit(&self) -> FileEdit<'_> {
        FileEdit { original: self, now: None }
    }
}

impl FileEdit<'_> {
    fn doc(&self) -> &MessageFile {
        self.now.as_ref().unwrap_or(self.original)
    }

    fn cell(&self, ordinal: usize) -> Result<&Cell, Error> {
        let cell = ordinal.checked_sub(1).and_then(|i| self.doc().cells().get(i));
        cell.ok_or_else(|| {
            Error::refused("msgfile::no-such-cell", format!("unknown cell #{ordinal}"))
        })
    }

    /// The document with `span` replaced. Refused if that changes the content of any cell but `edited`,
    /// or the number of cells.
    fn spliced(&self, span: Span, text: &[u8], edited: Edited) -> Result<MessageFile, Error> {
        let doc = self.doc();
        let mut bytes = Vec::with_capacity(doc.bytes().len() + text.len());
        bytes.extend_from_slice(&doc.bytes()[..span.start]);
        bytes.extend_from_slice(text);
        bytes.extend_from_slice(&doc.bytes()[span.end..]);
        let new = MessageFile::read(bytes, doc.mode(), &FileLimits::default())?;
        if others_stay_but(doc, &new, edited) {
            return Ok(new);
        }
        refuse("msgfile::bad-cell", "the edit would change other cells")
    }

    /// Sets the title, or removes it if the text is empty.
    ///
    /// # Errors
    /// `no-such-cell`; `bad-cell` if the title would not read back.
    pub fn set_title(&mut self, cell: usize, title: &str) -> Result<&mut Self, Error> {
        let title = render::title(title);
        let it = self.cell(cell)?;
        let bytes = self.doc().bytes();
        let line = it.raw.heading_line().of(bytes);
        let ended = line.strip_suffix(b"\n").unwrap_or(line);
        let text = crate::syntax::grammar::chomp(ended);
        let mark = crate::syntax::grammar::marker(text).map_or(text.len(), |m| m.mark_end);
        let id = it.raw.at.id.get().map(|s| s.of(bytes));
        let new = render::heading(&text[..mark], title.as_bytes(), id);
        let span = Span::new(it.raw.heading_line().start, it.raw.heading_line().start + text.len());
        let kept = it.type_name().map(|t| t.into_owned());
        let new = self.spliced(span, &new, Edited::Changed(cell))?;
        let it = &new.cells()[cell - 1];
        if it.heading().title.unwrap_or_default() != title
            || it.type_name().as_deref() != kept.as_deref()
        {
            return refuse("msgfile::bad-cell", "the title would not read back unchanged");
        }
        self.now = Some(new);
        Ok(self)
    }

    /// Replaces the body, escaped so that it reads back. Empty lines at its edges are dropped (MF-34).
    ///
    /// # Errors
    /// `no-such-cell`; `bad-cell` if a weak heading nearby would become text, or text a heading.
    pub fn set_body(&mut self, cell: usize, body: &[u8]) -> Result<&mut Self, Error> {
        let it = self.cell(cell)?;
        let (span, new) = body_splice(self.doc(), it, body)?;
        let new = self.spliced(span, &new, Edited::Changed(cell))?;
        let read = &new.cells()[cell - 1];
        let (_, text, _) = render::edges(body);
        // A CR of the body before the CRLF that ends its line is content only where lines end in LF.
        if (*read.body() != *text && !it.raw.crlf) || !same_definition(it, read) {
            return refuse("msgfile::bad-cell", "the body would not read back unchanged");
        }
        self.now = Some(new);
        Ok(self)
    }

    /// Deletes a cell, with everything up to the next heading.
    ///
    /// # Errors
    /// `no-such-cell`.
    pub fn delete(&mut self, cell: usize) -> Result<&mut Self, Error> {
        let span = self.cell(cell)?.span();
        self.now = Some(self.spliced(span, b"", Edited::Deleted(cell))?);
        Ok(self)
    }

    /// Inserts a cell after another one; `0` inserts it before the first. The new cell must have an
    /// id.
    ///
    /// # Errors
    /// `no-such-cell`, `bad-id`, and those of [`render`](crate::render()).
    pub fn insert_after(&mut self, cell: usize, new: &NewCell) -> Result<&mut Self, Error> {
        let NewId::Id(id) = &new.place else {
            return refuse("msgfile::bad-id", "an inserted cell needs an id of its own");
        };
        let doc = self.doc();
        if doc.cells().iter().any(|it| it.id().as_deref() == Some(id)) {
            let what = format!("another cell has the id {id:?}");
            return Err(Error::refused("msgfile::bad-id", what));
        }
        let at = if cell == 0 { doc.preamble().end } else { self.cell(cell)?.span().end };
        let eol = doc.eol();
        let before = &doc.bytes()[..at];
        let mut text = crate::append::joint(before);
        text.extend_from_slice(&render::render(new, id, new.level.unwrap_or(1), eol)?);
        if at < doc.bytes().len() {
            text.extend_from_slice(eol.as_str().as_bytes());
        }
        self.now = Some(self.spliced(Span::new(at, at), &text, Edited::Inserted(cell + 1))?);
        Ok(self)
    }

    /// Switches a Markdown file on, with the section of this name (MF-36).
    ///
    /// # Errors
    /// `not-activated` if the frontmatter does not allow it.
    pub fn activate(&mut self, section: &str) -> Result<&mut Self, Error> {
        let bytes = activated(self.doc(), Some(section))?;
        self.now = Some(MessageFile::read(bytes, self.doc().mode(), &FileLimits::default())?);
        Ok(self)
    }

    /// The bytes after all edits.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.doc().bytes().to_vec()
    }
}

/// A span of a file, and the bytes that replace it.
type Splice = (Span, Vec<u8>);

/// The replacement that gives a cell another body.
fn body_splice(doc: &MessageFile, it: &Cell, body: &[u8]) -> Result<Splice, Error> {
    let eol = if it.raw.crlf { Eol::CrLf } else { Eol::Lf };
    let (_, text, _) = render::edges(body);
    let wanted = NewCell { body: text.to_vec(), ..NewCell::message("") };
    let rendered = render::render(&wanted, "0", 1, eol)?;
    // After heading, empty line and definition of the rendered cell is the escaped body.
    let head = render::render(&NewCell::message(""), "0", 1, eol)?.len();
    let mut new = Vec::new();
    let from = it
        .raw
        .definition()
        .filter(|d| d.end <= it.raw.bodies()[0].start || it.raw.bodies()[0].is_empty())
        .map_or(it.raw.heading_line().end, |d| d.end);
    if !doc.bytes()[..from].ends_with(b"\n") {
        new.extend_from_slice(eol.as_str().as_bytes());
    }
    new.extend_from_slice(&rendered[head..]);
    let footnotes = it.parts().iter().find(|p| p.0 == PartKind::Footnotes).map(|p| p.1.start);
    let end = footnotes.unwrap_or(it.span().end);
    let last = it.ordinal() == doc.cells().len() && footnotes.is_none();
    if !last {
        new.extend_from_slice(eol.as_str().as_bytes());
    }
    if it.raw.definition().is_some_and(|d| d.start >= from) {
        return refuse(
            "msgfile::bad-cell",
            "the definition is inside the body; format the file first",
        );
    }
    Ok((Span::new(from, end), new))
}

// Sets or removes one attribute of a definition; the rest of the line is unchanged (MF-39).

impl FileEdit<'_> {
    /// Sets an attribute, or makes it a flag with `None`. No other bytes change. A new attribute goes to
    /// the end of the definition, or to its beginning if an unclosed quote would swallow it at the end.
    ///
    /// # Errors
    /// `no-such-cell`; `bad-attribute` if key or value would not read back, or the cell has no definition.
    ///
    /// ```
    /// use msg_file::{MessageFile, FileLimits, Mode};
    /// let text = b"# %% [^1]\n\n[^1]: [md] title=\"a\n\nx\n";
    /// let doc = MessageFile::read(&text[..], Mode::MessageFile, &FileLimits::default())?;
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

    /// The possible places of an attribute, and the bytes for each. The first that reads back is
    /// used.
    pub(crate) fn places_of(
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

    /// Removes all attributes with this key, and the white space before them.
    ///
    /// # Errors
    /// `no-such-cell`; `bad-attribute` if the other attributes would read differently.
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

    /// Sets the `history` attribute; `include` removes it.
    ///
    /// # Errors
    /// As [`Self::set_attr`]. Without an error, the cell has the requested mode.
    pub fn set_history(&mut self, cell: usize, mode: HistoryMode) -> Result<&mut Self, Error> {
        match mode {
            HistoryMode::Include => self.remove_attr(cell, "history"),
            _ => self.set_attr(cell, "history", Some(mode.as_str())),
        }
    }
}

fn unreadable(key: &str) -> Error {
    let what = format!(
        "the attribute {key:?} would not read back unchanged, or would change others; format the file first"
    );
    Error::refused("msgfile::bad-attribute", what)
}

/// Refuses a cell whose definition is in the footnote block of another one (MF-10): an edit changes
/// no byte outside its cell.
fn own_definition(cell: &Cell) -> Result<(), Error> {
    if cell.raw.definition().is_none() && cell.raw.defined_id().is_some() {
        let what = "the definition is in the footnote block of another cell; format the file first";
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

/// Where a definition's attributes begin, after the type, and where they end, before the line end.
fn attributes_span(cell: &Cell, doc: &MessageFile) -> Result<(usize, usize), Error> {
    let none = || {
        Error::refused(
            "msgfile::bad-attribute",
            "the cell has no definition of its own to put an attribute in",
        )
    };
    let span = cell.raw.definition().ok_or_else(none)?;
    let text = span.of(doc.bytes());
    let end = text.iter().rposition(|b| !matches!(b, b'\n' | b'\r' | b' ' | b'\t'));
    // After `]` of the type or, without one, after `]:` of the id.
    let id_end = cell.raw.defined_id().map_or(span.start, |id| id.end + 2);
    let begin =
        cell.raw.ty().filter(|ty| ty.start >= id_end).and_then(|ty| {
            Some(ty.end + 1 + memchr::memchr(b']', &doc.bytes()[ty.end..span.end])?)
        });
    Ok((begin.unwrap_or(id_end), span.start + end.map_or(0, |n| n + 1)))
}

// Reads an edit back: it must change what was requested and nothing else (MF-39).

/// What an edit may do to the list of cells; ordinals count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edited {
    /// This cell says something else.
    Changed(usize),
    /// This cell is gone.
    Deleted(usize),
    /// A cell has come to this place.
    Inserted(usize),
}

/// Whether all other cells have the same content as before. The exceptions are cells of `old` that the edit removes
/// or changes, and the cell that it inserts into `new`.
pub(crate) fn others_stay(
    old: &MessageFile,
    new: &MessageFile,
    gone: &HashSet<usize>,
    changed: &HashSet<usize>,
    inserted: Option<usize>,
) -> bool {
    let left = || old.cells().iter().filter(|it| !gone.contains(&it.ordinal()));
    let come = || new.cells().iter().filter(|it| Some(it.ordinal()) != inserted);
    left().count() == come().count()
        && left().zip(come()).all(|(a, b)| changed.contains(&a.ordinal()) || same(a, b))
}

/// Like [`others_stay`], after one edit.
fn others_stay_but(old: &MessageFile, new: &MessageFile, edited: Edited) -> bool {
    let (one, none) = (|it: usize| HashSet::from([it]), HashSet::new);
    match edited {
        Edited::Changed(at) => others_stay(old, new, &none(), &one(at), None),
        Edited::Deleted(at) => others_stay(old, new, &one(at), &none(), None),
        Edited::Inserted(at) => others_stay(old, new, &none(), &none(), Some(at)),
    }
}

fn same(a: &Cell, b: &Cell) -> bool {
    // The type in a title depends on the agents of other cells.
    let strong_and_type = |it: &Cell| (it.raw.at.strong, it.type_name().map(Cow::into_owned));
    strong_and_type(a) == strong_and_type(b) && a.raw.says_the_same(&b.raw)
}

/// Whether two cells have the same type and attributes.
fn same_definition(a: &Cell, b: &Cell) -> bool {
    a.type_name() == b.type_name() && a.attrs().eq(b.attrs())
}

/// Whether two cells are equal except for the attributes with this key.
fn same_but(a: &Cell, b: &Cell, key: &str) -> bool {
    let rest = |cell| Cell::attrs(cell).filter(|it| it.key != key);
    a.heading() == b.heading()
        && a.type_name() == b.type_name()
        && rest(a).eq(rest(b))
        && a.body() == b.body()
}
