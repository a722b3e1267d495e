//! The clean text of a session, read from its source by offset: the file after the frame rules (SE-20 to
//! SE-26). It is never held; a damaged line is mended again each time it is read.
//!
//! ```text
//! source  BOM {"a":1}\n  {"b":2}{"c":3}\n  {"d"
//! clean       {"a":1}\n  {"b":2}\n{"c":3}\n
//! pieces      ^ as it is ^ damaged          ^ damaged: nothing is left
//! ```

use std::cell::RefCell;
use std::io::Write;
use std::ops::Range;
use std::rc::Rc;

use crate::Error;
use crate::frame::clean_lines;
use crate::source::{ReadAt, fill};

/// How much is copied at once.
const CHUNK: usize = 1 << 18;

/// The clean text of a source.
pub(super) struct Clean<'s> {
    source: &'s dyn ReadAt,
    pieces: Vec<Piece>,
    /// Offset of the end of the last piece, in the clean text and in the source.
    clean_end: u64,
    source_end: u64,
    /// The damaged line that was mended last, by the index of its piece.
    last: RefCell<Option<(usize, Rc<Vec<u8>>)>>,
}

/// Lines in a row that are as in the source, or one that is damaged, or several that are one record.
#[derive(Debug, Clone, Copy)]
struct Piece {
    clean: u64,
    source: u64,
    is_damaged: bool,
}

impl<'s> Clean<'s> {
    /// The clean text of a source, of which the first `skipped` bytes are not text.
    pub(super) fn new(source: &'s dyn ReadAt, skipped: u64) -> Self {
        let (pieces, last) = (Vec::new(), RefCell::new(None));
        Self { source, pieces, clean_end: 0, source_end: skipped, last }
    }

    /// Adds a line that is as in the source, with its line end.
    pub(super) fn push_same(&mut self, len: u64) {
        if self.pieces.last().is_none_or(|it| it.is_damaged) {
            self.push_piece(false);
        }
        self.clean_end += len;
        self.source_end += len;
    }

    /// Adds a damaged line, or several: the length, and that of what is left of it.
    pub(super) fn push_damaged(&mut self, source_len: u64, clean_len: u64) {
        self.push_piece(true);
        self.source_end += source_len;
        self.clean_end += clean_len;
    }

    fn push_piece(&mut self, is_damaged: bool) {
        self.pieces.push(Piece { clean: self.clean_end, source: self.source_end, is_damaged });
    }

    pub(super) fn len(&self) -> u64 {
        self.clean_end
    }

    pub(super) fn source_len(&self) -> u64 {
        self.source.size()
    }

    /// The bytes of a span.
    pub(super) fn bytes(&self, span: Range<u64>) -> Result<Vec<u8>, Error> {
        let mut res = Vec::with_capacity(usize::try_from(span.end - span.start).unwrap_or(0));
        self.copy(span, &mut res)?;
        Ok(res)
    }

    /// Copies the bytes of a span.
    pub(super) fn copy(&self, span: Range<u64>, out: &mut dyn Write) -> Result<(), Error> {
        let mut at = span.start;
        let mut piece = self.pieces.partition_point(|it| it.clean <= at).saturating_sub(1);
        while at < span.end {
            let Some(it) = self.pieces.get(piece) else { break };
            let piece_end = self.pieces.get(piece + 1).map_or(self.clean_end, |it| it.clean);
            let end = piece_end.min(span.end);
            if at < end {
                match it.is_damaged {
                    true => {
                        let line = self.damaged(piece)?;
                        let (start, end) = ((at - it.clean) as usize, (end - it.clean) as usize);
                        write(out, line.get(start..end).unwrap_or_default())?;
                    }
                    false => self.copy_source(it.source + (at - it.clean), end - at, out)?,
                }
                at = end;
            }
            piece += 1;
        }
        Ok(())
    }

    fn copy_source(&self, mut at: u64, len: u64, out: &mut dyn Write) -> Result<(), Error> {
        let mut left = len;
        let mut buffer = vec![0; CHUNK.min(usize::try_from(len).unwrap_or(CHUNK))];
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            let read = fill(self.source, at, &mut buffer[..wanted])?;
            if read < wanted {
                return Err(Error::shorter(at + read as u64));
            }
            write(out, &buffer[..read])?;
            at += read as u64;
            left -= read as u64;
        }
        Ok(())
    }

    /// What is left of a damaged line.
    fn damaged(&self, piece: usize) -> Result<Rc<Vec<u8>>, Error> {
        if let Some((last, line)) = &*self.last.borrow()
            && *last == piece
        {
            return Ok(Rc::clone(line));
        }
        let start = self.pieces[piece].source;
        let end = self.pieces.get(piece + 1).map_or(self.source_end, |it| it.source);
        let mut line = vec![0; usize::try_from(end - start).unwrap_or(usize::MAX)];
        let read = fill(self.source, start, &mut line)?;
        if read < line.len() {
            return Err(Error::shorter(start + read as u64));
        }
        let line = Rc::new(clean_lines(&line));
        *self.last.borrow_mut() = Some((piece, Rc::clone(&line)));
        Ok(line)
    }
}

fn write(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Error> {
    out.write_all(bytes).map_err(|it| Error::written(&it))
}
