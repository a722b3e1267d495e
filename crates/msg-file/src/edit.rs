//! Edits as splices: bytes outside the edited cell stay, for attributes even those around the value (MF-39).
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

mod attributes;
mod messages;
mod read_back;

use crate::append::activated;
use crate::document::Document;
use crate::error::{Error, refuse};
use crate::limits::Limits;
use crate::model::cell::Cell;
use crate::render::{self, NewCell, Place};
use crate::span::Span;
use crate::syntax::line::Eol;
use crate::syntax::parts::PartKind;
use read_back::Edited;

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

    /// The document with `span` replaced. Refused if that changes what another cell than `edited` says,
    /// or their number.
    fn spliced(
        &self,
        span: Span,
        text: &[u8],
        edited: read_back::Edited,
    ) -> Result<Document, Error> {
        let doc = self.doc();
        let mut bytes = Vec::with_capacity(doc.bytes().len() + text.len());
        bytes.extend_from_slice(&doc.bytes()[..span.start]);
        bytes.extend_from_slice(text);
        bytes.extend_from_slice(&doc.bytes()[span.end..]);
        let new = Document::read(bytes, doc.mode(), &Limits::default())?;
        if read_back::others_stay_but(doc, &new, edited) {
            return Ok(new);
        }
        refuse("msgfile::bad-cell", "the edit would change what other cells say")
    }

    /// Sets or, with an empty text, removes the title.
    ///
    /// # Errors
    /// `no-such-cell`; `bad-cell` if the title would not read back.
    pub fn set_title(&mut self, cell: usize, title: &str) -> Result<&mut Self, Error> {
        let title = render::title(title);
        let it = self.cell(cell)?;
        let bytes = self.doc().bytes();
        let line = it.raw.heading_line().of(bytes);
        let ended = line.strip_suffix(b"\n").unwrap_or(line);
        let text = crate::syntax::line::chomp(ended);
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
            return refuse("msgfile::bad-cell", "the title would not read back as it was meant");
        }
        self.now = Some(new);
        Ok(self)
    }

    /// Replaces the body, escaped so that it reads back; empty lines at its edges are dropped (MF-34).
    ///
    /// # Errors
    /// `no-such-cell`; `bad-cell` if a weak heading near it would turn into text or the other way round.
    pub fn set_body(&mut self, cell: usize, body: &[u8]) -> Result<&mut Self, Error> {
        let it = self.cell(cell)?;
        let (span, new) = body_splice(self.doc(), it, body)?;
        let new = self.spliced(span, &new, Edited::Changed(cell))?;
        let read = &new.cells()[cell - 1];
        let (_, text, _) = render::edges(body);
        // A CR of the body before the CRLF that ends its line is content only where lines end in LF.
        if (*read.body() != *text && !it.raw.crlf) || !read_back::same_definition(it, read) {
            return refuse("msgfile::bad-cell", "the body would not read back as it was meant");
        }
        self.now = Some(new);
        Ok(self)
    }

    /// Deletes a cell with everything up to the next heading.
    ///
    /// # Errors
    /// `no-such-cell`.
    pub fn delete(&mut self, cell: usize) -> Result<&mut Self, Error> {
        let span = self.cell(cell)?.span();
        self.now = Some(self.spliced(span, b"", Edited::Deleted(cell))?);
        Ok(self)
    }

    /// Inserts a cell behind another one; `0` puts it before the first. Its place must be an id.
    ///
    /// # Errors
    /// `no-such-cell`, `bad-id`, and those of [`render`](crate::render()).
    pub fn insert_after(&mut self, cell: usize, new: &NewCell) -> Result<&mut Self, Error> {
        let Place::Id(id) = &new.place else {
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

/// Bytes of a file, and what takes their place.
type Splice = (Span, Vec<u8>);

/// What gives a cell another body.
fn body_splice(doc: &Document, it: &Cell, body: &[u8]) -> Result<Splice, Error> {
    let eol = if it.raw.crlf { Eol::CrLf } else { Eol::Lf };
    let (_, text, _) = render::edges(body);
    let wanted = NewCell { body: text.to_vec(), ..NewCell::message("") };
    let rendered = render::render(&wanted, "0", 1, eol)?;
    // Behind heading, empty line and definition of the rendered cell stands the escaped body.
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
            "the definition stands inside the body; format the file first",
        );
    }
    Ok((Span::new(from, end), new))
}
