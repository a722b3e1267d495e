//! Edits as splices: bytes outside the edited cell stay, for attributes even those around the value (MF-39).
//!
//! Results are new bytes; the store writes them (MF-46).

use crate::append::activated;
use crate::cell::{Cell, HistoryMode, PartKind};
use crate::document::{Document, Eol};
use crate::error::Error;
use crate::grammar::RawValue;
use crate::limits::Limits;
use crate::render::{self, NewCell, Place};
use crate::span::Span;

/// Edits of a document, made one after another; see [`Document::edit`].
#[derive(Debug)]
pub struct Edit<'a> {
    original: &'a Document,
    /// The document after the edits so far.
    now: Option<Document>,
}

impl Document {
    /// Begins to edit. Cells are named by ordinal, as they are after the edits made so far.
    ///
    /// ```
    /// use msg_file::{Document, Mode};
    /// let doc = Document::parse(&b"# %% [^1]\n\n[^1]: [md] a=1  b=2\n\nx\n"[..], Mode::MessageFile)?;
    /// let mut edit = doc.edit();
    /// edit.set_attr(1, "a", Some("3"))?;
    /// assert_eq!(edit.finish(), b"# %% [^1]\n\n[^1]: [md] a=\"3\"  b=2\n\nx\n");
    /// # Ok::<(), msg_file::Error>(())
    /// ```
    #[must_use]
    pub fn edit(&self) -> Edit<'_> {
        Edit { original: self, now: None }
    }
}

impl Edit<'_> {
    fn doc(&self) -> &Document {
        self.now.as_ref().unwrap_or(self.original)
    }

    fn cell(&self, ordinal: usize) -> Result<&Cell, Error> {
        let cell = ordinal.checked_sub(1).and_then(|i| self.doc().cells().get(i));
        cell.ok_or_else(|| {
            Error::refused("msgfile::no-such-cell", format!("there is no cell #{ordinal}"))
        })
    }

    /// Replaces `span` and checks that as many cells are there as before, plus `more`.
    fn splice(&mut self, span: Span, text: &[u8], more: isize) -> Result<&mut Self, Error> {
        let doc = self.doc();
        let mut bytes = Vec::with_capacity(doc.bytes().len() + text.len());
        bytes.extend_from_slice(&doc.bytes()[..span.start]);
        bytes.extend_from_slice(text);
        bytes.extend_from_slice(&doc.bytes()[span.end..]);
        let new = Document::read(bytes, doc.mode(), &Limits::default())?;
        if new.cells().len() as isize != doc.cells().len() as isize + more {
            return Err(Error::refused(
                "msgfile::bad-cell",
                "the edit would make or swallow other cells",
            ));
        }
        self.now = Some(new);
        Ok(self)
    }

    /// Sets an attribute, or makes it a flag with `None`. All bytes but the value stay; a new one goes to the end.
    ///
    /// # Errors
    /// `no-such-cell`; `bad-attribute` if key or value could not be read back or the cell has no definition.
    pub fn set_attr(
        &mut self,
        cell: usize,
        key: &str,
        value: Option<&str>,
    ) -> Result<&mut Self, Error> {
        let mut text = Vec::new();
        render::attribute(key, value, &mut text)?;
        let it = self.cell(cell)?;
        let (span, text) = match it.raw_attr(key) {
            Some(attr) if attr.value != RawValue::Flag && value.is_some() => {
                // The key and its equals sign stay as they are.
                let whole = attr.whole.of(self.doc().bytes());
                let equals = memchr::memchr(b'=', whole).map_or(whole.len(), |n| n + 1);
                let from = attr.whole.start + equals;
                (Span::new(from, attr.whole.end), text[key.len() + 2..].to_vec())
            }
            Some(attr) => (attr.whole, text[1..].to_vec()),
            None => {
                let at = self.attributes_end(it)?;
                (Span::new(at, at), text)
            }
        };
        self.splice(span, &text, 0)
    }

    /// Where a further attribute goes: the end of the definition without its line end.
    fn attributes_end(&self, cell: &Cell) -> Result<usize, Error> {
        let none = || {
            Error::refused(
                "msgfile::bad-attribute",
                "the cell has no definition of its own to put an attribute in",
            )
        };
        let span = cell.definition.ok_or_else(none)?;
        let text = span.of(self.doc().bytes());
        let end = text
            .iter()
            .rposition(|b| !matches!(b, b'\n' | b'\r' | b' ' | b'\t'))
            .map_or(0, |n| n + 1);
        Ok(span.start + end)
    }

    /// Removes every attribute of that key, with the white space before it.
    ///
    /// # Errors
    /// `no-such-cell`.
    pub fn remove_attr(&mut self, cell: usize, key: &str) -> Result<&mut Self, Error> {
        while let Some(attr) = self.cell(cell)?.raw_attr(key) {
            let bytes = self.doc().bytes();
            let blanks = bytes[..attr.whole.start]
                .iter()
                .rev()
                .take_while(|b| matches!(b, b' ' | b'\t'))
                .count();
            let at_line = bytes[..attr.whole.start - blanks].ends_with(b"\n");
            let start = if at_line { attr.whole.start } else { attr.whole.start - blanks };
            self.splice(Span::new(start, attr.whole.end), b"", 0)?;
        }
        Ok(self)
    }

    /// Sets what `history` says; `include` removes the attribute.
    ///
    /// # Errors
    /// As [`Self::set_attr`].
    pub fn set_history(&mut self, cell: usize, mode: HistoryMode) -> Result<&mut Self, Error> {
        match mode {
            HistoryMode::Include => self.remove_attr(cell, "history"),
            _ => self.set_attr(cell, "history", Some(mode.as_str())),
        }
    }

    /// Sets or, with an empty text, removes the title.
    ///
    /// # Errors
    /// `no-such-cell`; `bad-cell` if the title would not read back.
    pub fn set_title(&mut self, cell: usize, title: &str) -> Result<&mut Self, Error> {
        let title = render::title(title);
        let it = self.cell(cell)?;
        let bytes = self.doc().bytes();
        let line = it.head.line.of(bytes);
        let ended = line.strip_suffix(b"\n").unwrap_or(line);
        let text = crate::line::chomp(ended);
        let mark = crate::grammar::marker(text).map_or(text.len(), |m| m.mark_end);
        let mut new = text[..mark].to_vec();
        let id = it.head.id.map(|s| s.of(bytes));
        if !title.is_empty() || id.is_some() {
            new.push(b' ');
        }
        new.extend_from_slice(title.as_bytes());
        if let Some(id) = id {
            new.extend_from_slice(b"[^");
            new.extend_from_slice(id);
            new.push(b']');
        }
        let span = Span::new(it.head.line.start, it.head.line.start + text.len());
        let kept = it.type_name().map(|t| t.into_owned());
        self.splice(span, &new, 0)?;
        let it = self.cell(cell)?;
        if it.heading().title.unwrap_or_default() != title
            || it.type_name().as_deref() != kept.as_deref()
        {
            return Err(Error::refused(
                "msgfile::bad-cell",
                "the title would not read back as it was meant",
            ));
        }
        Ok(self)
    }

    /// Replaces the body, escaped so that it reads back; empty lines at its edges are dropped (MF-34).
    ///
    /// # Errors
    /// `no-such-cell`; `bad-cell` if a weak heading near it would turn into text or the other way round.
    pub fn set_body(&mut self, cell: usize, body: &[u8]) -> Result<&mut Self, Error> {
        let it = self.cell(cell)?;
        let eol = if it.crlf { Eol::CrLf } else { Eol::Lf };
        let (_, text, _) = render::edges(body);
        let wanted = NewCell { body: text.to_vec(), ..NewCell::message("") };
        let rendered = render::render(&wanted, "0", 1, eol)?;
        // Behind heading, empty line and definition of the rendered cell stands the escaped body.
        let head = render::render(&NewCell::message(""), "0", 1, eol)?.len();
        let mut new = Vec::new();
        let from = it
            .definition
            .filter(|d| d.end <= it.body.0.start || it.body.0.is_empty())
            .map_or(it.head.line.end, |d| d.end);
        if !self.doc().bytes()[..from].ends_with(b"\n") {
            new.extend_from_slice(eol.as_str().as_bytes());
        }
        new.extend_from_slice(&rendered[head..]);
        let footnotes = it.parts().iter().find(|p| p.0 == PartKind::Footnotes).map(|p| p.1.start);
        let end = footnotes.unwrap_or(it.span().end);
        let last = it.ordinal() == self.doc().cells().len() && footnotes.is_none();
        if !last {
            new.extend_from_slice(eol.as_str().as_bytes());
        }
        if it.definition.is_some_and(|d| d.start >= from) {
            return Err(Error::refused(
                "msgfile::bad-cell",
                "the definition stands inside the body; format the file first",
            ));
        }
        let (text, crlf) = (text.to_vec(), it.crlf);
        self.splice(Span::new(from, end), &new, 0)?;
        let want: Vec<u8> = text;
        if *self.cell(cell)?.body() != *want && !crlf {
            return Err(Error::refused(
                "msgfile::bad-cell",
                "the body would not read back as it was meant",
            ));
        }
        Ok(self)
    }

    /// Deletes a cell with everything up to the next heading.
    ///
    /// # Errors
    /// `no-such-cell`.
    pub fn delete(&mut self, cell: usize) -> Result<&mut Self, Error> {
        let span = self.cell(cell)?.span();
        self.splice(span, b"", -1)
    }

    /// Inserts a cell behind another one; `0` puts it before the first. Its place must be an id.
    ///
    /// # Errors
    /// `no-such-cell`, `bad-id`, and those of [`render`](crate::render()).
    pub fn insert_after(&mut self, cell: usize, new: &NewCell) -> Result<&mut Self, Error> {
        let Place::Id(id) = &new.place else {
            return Err(Error::refused(
                "msgfile::bad-id",
                "an inserted cell needs an id of its own",
            ));
        };
        let doc = self.doc();
        let at = if cell == 0 { doc.preamble().end } else { self.cell(cell)?.span().end };
        let eol = doc.eol();
        let before = &doc.bytes()[..at];
        let mut text = crate::append::joint(before);
        text.extend_from_slice(&render::render(new, id, new.level.unwrap_or(1), eol)?);
        if at < doc.bytes().len() {
            text.extend_from_slice(eol.as_str().as_bytes());
        }
        self.splice(Span::new(at, at), &text, 1)
    }

    /// Switches a Markdown file on, in the section of that name (MF-36).
    ///
    /// # Errors
    /// `not-activated` if the frontmatter does not allow it.
    pub fn activate(&mut self, section: &str) -> Result<&mut Self, Error> {
        let bytes = activated(self.doc(), Some(section))?;
        self.now = Some(Document::read(bytes, self.doc().mode(), &Limits::default())?);
        Ok(self)
    }

    /// The bytes after all edits.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.doc().bytes().to_vec()
    }
}
