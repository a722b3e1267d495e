//! The excerpt of a session of JSON Lines: only what the rules read, so a session of many gigabytes is
//! checked with little memory (SE-2). Long values are replaced by marks, and members that no rule names
//! are left out. An edit of the excerpt is an edit of the session.
//!
//! ```text
//! session   {"cwd":"/srv","uuid":"u1","message":{"content":[{"type":"text","text":"a long story …"}]}}
//! excerpt   {"uuid":"u1","message":{"content":[{"type":"text","text":"▯70+5012▯"}]}}
//!            ^ left out                                               ^ a mark
//! ```
//!
//! There are three texts: the *source* is the file; the *clean* text is the file after the frame rules,
//! and never in memory; the *excerpt* is in memory. [`Lines`] of an excerpt look like those of a whole
//! text, so the rules see no difference.
//!
//! Marks represent long values in the excerpt. A mark is a JSON string, so the excerpt stays JSON,
//! and contains what the rules need to know about the value.
//!
//! ```text
//! "▯170+91▯"         91 bytes from 170 of the clean text on   ▯ is U+E000, which the rest of the
//! "▯170+91;3▯"       its text has 3 lone surrogates           excerpt has only as an escape
//! "▯170+91236;0;91234;9024x19200~p▯"  a text of 91,234 bytes, an image of this size in PNG
//! "▯170+91#▯"                         nothing but context that an agent put there
//! ```

use std::{borrow::Cow, cell::RefCell, fmt::Write as _, io::Write, ops::Range};

use crate::edit::{Edit, Effect};
use crate::excerpt::read::Clean;
use crate::link::Look;
use crate::source::{ReadAt, fill};
use crate::{Error, edit};

pub(crate) use read::{read, read_whole};

mod read;
mod shorten;
#[cfg(test)]
#[path = "../../tests/unit/excerpt.rs"]
#[allow(clippy::unwrap_used)]
mod tests;

/// The source of an excerpt.
pub(crate) struct Elided<'s> {
    clean: Clean<'s>,
    offsets: Offsets,
    /// What the frame rules change.
    effect: Effect,
    /// Why the source could not be read again, if it could not.
    failure: RefCell<Option<Error>>,
}

impl Elided<'_> {
    /// The clean text of a span of the excerpt; `None` if it cannot be read, see [`Elided::failure`].
    pub(crate) fn whole(&self, span: Range<usize>) -> Option<Vec<u8>> {
        let found = self.clean.bytes(self.clean_span(span));
        found.map_err(|it| *self.failure.borrow_mut() = Some(it)).ok()
    }

    /// The length of that text.
    pub(crate) fn len_of(&self, span: Range<usize>) -> u64 {
        let span = self.clean_span(span);
        span.end - span.start
    }

    /// Why the source could not be read again, if it could not.
    pub(crate) fn failure(&self) -> Result<(), Error> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn clean_span(&self, span: Range<usize>) -> Range<u64> {
        let start = self.offsets.clean(span.start);
        // What is left out after a span does not belong to it.
        start..if span.is_empty() { start } else { self.offsets.clean_end(span.end) }
    }

    /// Writes the session with these edits of the excerpt. Edits inside removed bytes are dropped.
    pub(crate) fn write(&self, edits: Vec<Edit>, out: &mut dyn Write) -> Result<(), Error> {
        let mut clean_at = 0;
        for edit in edit::in_order(edits) {
            let span = self.clean_span(edit.span.clone());
            self.clean.copy(clean_at..span.start, out)?;
            let text = self.expanded(&edit.text)?;
            out.write_all(&text).map_err(|it| Error::written(&it))?;
            clean_at = span.end;
        }
        self.clean.copy(clean_at..self.clean.len(), out)
    }

    /// How much these edits of the excerpt `text` change, the frame rules included.
    pub(crate) fn effect(&self, text: &str, edits: &[Edit]) -> Effect {
        let mut res = self.effect;
        res.bytes = self.clean.len() as i64 - self.clean.source_len() as i64;
        let mut last_line = None;
        for edit in edit::in_order(edits.to_vec()).filter(|it| !it.is_nothing()) {
            res.bytes +=
                self.expanded_len(&edit.text) as i64 - self.len_of(edit.span.clone()) as i64;
            match whole_lines(text, &edit) {
                Some((written, removed)) => {
                    res.written += written;
                    res.removed += removed;
                }
                None => {
                    let line = text[..edit.span.start].rfind('\n');
                    if last_line.replace(line) != Some(line) {
                        res.written += 1;
                        res.removed += 1;
                    }
                }
            }
        }
        res
    }

    /// A text of the excerpt with its marks replaced by their values.
    fn expanded(&self, text: &str) -> Result<Vec<u8>, Error> {
        let mut res = Vec::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                Piece::Text(it) => res.extend_from_slice(it.as_bytes()),
                Piece::Mark(it) => {
                    let value = self.clean.bytes(it.at..it.at + it.bytes)?;
                    let value =
                        if it.is_mended { edit::without_lone_surrogates(value) } else { value };
                    res.extend_from_slice(&value);
                }
                Piece::Span(it) => res.extend(self.clean.bytes(self.clean_span(it))?),
            }
        }
        Ok(res)
    }

    fn expanded_len(&self, text: &str) -> u64 {
        let len = |it| match it {
            Piece::Text(it) => it.len() as u64,
            Piece::Mark(it) => it.bytes,
            Piece::Span(it) => self.len_of(it),
        };
        pieces(text).map(len).sum()
    }
}

/// How many whole lines an edit inserts and removes; `None` if it changes part of a line.
fn whole_lines(text: &str, edit: &Edit) -> Option<(u64, u64)> {
    let begins = |at: usize| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let count = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    let gone = &text[edit.span.clone()];
    let is_at_end = edit.span.end == text.len();
    let comes = edit.text.is_empty() || edit.text.ends_with('\n');
    if begins(edit.span.start) && (begins(edit.span.end) || is_at_end) && comes {
        let torn = u64::from(!gone.is_empty() && !gone.ends_with('\n'));
        return Some((count(&edit.text), count(gone) + torn));
    }
    (gone.is_empty() && is_at_end && edit.text.starts_with('\n')).then(|| (count(&edit.text), 0))
}

// Reads the lines of a source one at a time, in a buffer of at most one line plus a chunk.

/// The size of one read.
const CHUNK: usize = 1 << 20;

/// The lines of a source.
pub(crate) struct Feed<'s> {
    source: &'s dyn ReadAt,
    /// A reused buffer; the bytes before `end` are valid.
    buffer: Vec<u8>,
    end: usize,
    /// The start of the next line in the buffer.
    at: usize,
    /// The source offset after the buffer.
    offset: u64,
    is_at_end: bool,
    max: u64,
}

/// A line of the source.
pub(crate) struct FeedLine {
    /// Its position in the buffer, without the line end; empty if the line is too large.
    pub(crate) span: Range<usize>,
    /// Its length, without the line end.
    pub(crate) len: u64,
    pub(crate) line_end: &'static str,
    /// Whether it exceeds the maximum size.
    pub(crate) is_too_large: bool,
}

impl<'s> Feed<'s> {
    /// The lines from `offset` on; lines of more than `max` bytes are skipped.
    pub(crate) fn new(source: &'s dyn ReadAt, offset: u64, max: u64) -> Self {
        Self { source, buffer: Vec::new(), end: 0, at: 0, offset, is_at_end: false, max }
    }

    /// The bytes of the line returned last.
    pub(crate) fn bytes(&self, span: Range<usize>) -> &[u8] {
        &self.buffer[span]
    }

    /// The valid bytes of the buffer.
    fn held(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<FeedLine>, Error> {
        let mut looked = self.at;
        loop {
            if let Some(len) = memchr::memchr(b'\n', &self.held()[looked..]) {
                return Ok(Some(self.line(looked + len, true)));
            }
            looked = self.end;
            if self.is_at_end {
                let is_there = self.at < self.end;
                return Ok(is_there.then(|| self.line(self.end, false)));
            }
            if (self.end - self.at) as u64 > self.max {
                return self.pass_over().map(Some);
            }
            looked -= self.at;
            self.more()?;
        }
    }

    /// The line that ends at `end` in the buffer.
    fn line(&mut self, end: usize, has_end: bool) -> FeedLine {
        let start = self.at;
        self.at = end + usize::from(has_end);
        let is_crlf = has_end && end > start && self.buffer[end - 1] == b'\r';
        let end = end - usize::from(is_crlf);
        let line_end = match (has_end, is_crlf) {
            (true, true) => "\r\n",
            (true, false) => "\n",
            (false, _) => "",
        };
        let len = (end - start) as u64;
        let is_too_large = len > self.max;
        let span = if is_too_large { start..start } else { start..end };
        FeedLine { span, len, line_end, is_too_large }
    }

    /// Reads more, and discards consumed bytes.
    fn more(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        let left = usize::try_from(self.source.size().saturating_sub(self.offset));
        let wanted = left.map_or(CHUNK, |it| it.saturating_add(1).min(CHUNK));
        let room = self.end + wanted;
        if self.buffer.len() < room {
            // The allocator returns zeroed memory, which need not be written.
            let mut buffer = vec![0; room.max(2 * self.buffer.len())];
            buffer[..self.end].copy_from_slice(self.held());
            self.buffer = buffer;
        }
        let read = fill(self.source, self.offset, &mut self.buffer[self.end..room])?;
        self.end += read;
        self.offset += read as u64;
        self.is_at_end = read < wanted;
        Ok(())
    }

    /// Skips a line that is too large, with only a chunk of it in memory.
    fn pass_over(&mut self) -> Result<FeedLine, Error> {
        let mut len = (self.end - self.at) as u64;
        let mut last = self.held().last().copied();
        loop {
            self.at = self.end;
            self.more()?;
            let end = memchr::memchr(b'\n', self.held());
            if end.is_none() && !self.is_at_end {
                len += self.end as u64;
                last = self.held().last().copied().or(last);
                continue;
            }
            let rest = end.unwrap_or(self.end);
            last = self.held()[..rest].last().copied().or(last);
            self.at = rest + usize::from(end.is_some());
            let is_crlf = end.is_some() && last == Some(b'\r');
            len += rest as u64 - u64::from(is_crlf);
            let line_end = match (end, is_crlf) {
                (Some(_), true) => "\r\n",
                (Some(_), false) => "\n",
                (None, _) => "",
            };
            return Ok(FeedLine { span: 0..0, len, line_end, is_too_large: true });
        }
    }
}

/// The character around a mark.
pub(crate) const FRAME: char = '\u{e000}';

/// A mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    /// Offset and length of the value in the clean text.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    /// How many lone surrogate escapes the value contains.
    pub(crate) lone_surrogates: u64,
    /// The length of its text in bytes, without the quotes, if a rule needs it.
    pub(crate) len: Option<usize>,
    /// Width and height of an image in pixels.
    pub(crate) size: Option<(u32, u32)>,
    /// The content of its base64, for an image or a document.
    pub(crate) look: Option<Look>,
    /// Whether the text is only context added by an agent.
    pub(crate) is_context: bool,
    /// Whether lone surrogates become U+FFFD when the value is filled in.
    pub(crate) is_mended: bool,
}

impl Mark {
    /// The mark as JSON.
    pub(crate) fn json(self) -> String {
        let mut res = format!("\"{FRAME}{}+{}", self.at, self.bytes);
        if self.lone_surrogates > 0 || self.len.is_some() || self.is_mended {
            let _ = write!(res, ";{}", self.lone_surrogates);
        }
        if let Some(len) = self.len {
            let _ = write!(res, ";{len}");
        }
        if let Some((width, height)) = self.size {
            let _ = write!(res, ";{width}x{height}");
        }
        if let Some(look) = self.look {
            res.push('~');
            res.push(look.letter());
        }
        if self.is_context {
            res.push('#');
        }
        if self.is_mended {
            res.push('!');
        }
        res.push(FRAME);
        res.push('"');
        res
    }

    /// The mark in a JSON string of an excerpt, if it is one.
    pub(crate) fn read(json: &str) -> Option<Self> {
        let inner = json.strip_prefix('"')?.strip_suffix('"')?;
        Self::parse(inner.strip_prefix(FRAME)?.strip_suffix(FRAME)?)
    }

    fn parse(text: &str) -> Option<Self> {
        let marked = |text: &mut &str, mark: char| match text.strip_suffix(mark) {
            Some(rest) => std::mem::replace(text, rest).len() > rest.len(),
            None => false,
        };
        let mut text = text;
        let (is_mended, is_context) = (marked(&mut text, '!'), marked(&mut text, '#'));
        let (text, look) = match text.split_once('~') {
            Some((text, letter)) => (text, letter.chars().next().and_then(Look::by_letter)),
            None => (text, None),
        };
        let mut fields = text.split(';');
        let (at, bytes) = fields.next()?.split_once('+')?;
        let (at, bytes) = (at.parse().ok()?, bytes.parse().ok()?);
        let lone_surrogates = fields.next().map_or(Some(0), |it| it.parse().ok())?;
        let len = fields.next().and_then(|it| it.parse().ok());
        let size = fields.next().and_then(|it| it.split_once('x'));
        let size = size.and_then(|it| Some((it.0.parse().ok()?, it.1.parse().ok()?)));
        Some(Self { at, bytes, lone_surrogates, len, size, look, is_context, is_mended })
    }
}

/// A piece of the text of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Literal text.
    Text(&'a str),
    /// The value of a mark.
    Mark(Mark),
    /// The clean text of a span of the excerpt.
    Span(Range<usize>),
}

/// The text of an edit that represents the clean text of a span: `▯@17-39▯`.
pub(crate) fn span(span: Range<usize>) -> String {
    format!("{FRAME}@{}-{}{FRAME}", span.start, span.end)
}

/// JSON of a file for use in an edit: a mark as it is, else escapes the frame character, which would begin one.
pub(crate) fn spelled(source: &str) -> Cow<'_, str> {
    let inner =
        || source.strip_prefix('"')?.strip_prefix(FRAME)?.strip_suffix('"')?.strip_suffix(FRAME);
    let is_mark = || inner().and_then(Mark::parse).is_some();
    match source.contains(FRAME) && !is_mark() {
        true => Cow::Owned(source.replace(FRAME, &format!("{FRAME}@{FRAME}"))),
        false => Cow::Borrowed(source),
    }
}

/// The pieces of a text. Linear.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, len) = first_piece(rest)?;
        rest = &rest[len..];
        Some(piece)
    })
}

/// The first piece of a text, and its length there.
fn first_piece(text: &str) -> Option<(Piece<'_>, usize)> {
    let mut from = 0;
    while let Some(at) = text[from..].find(FRAME) {
        let at = from + at;
        let inner = at + FRAME.len_utf8();
        let Some(len) = text[inner..].find(FRAME) else { break };
        let (name, end) = (&text[inner..inner + len], inner + len + FRAME.len_utf8());
        if name == "@" {
            // An escaped frame character.
            return Some(match at {
                0 => (Piece::Text(&text[..inner]), end),
                _ => (Piece::Text(&text[..at]), at),
            });
        }
        let is_quoted = text[..at].ends_with('"') && text[end..].starts_with('"');
        let (start, end) = if is_quoted { (at - 1, end + 1) } else { (at, end) };
        let found = match is_quoted {
            true => Mark::parse(name).map(Piece::Mark),
            false => parse_span(name).map(Piece::Span),
        };
        match found {
            Some(piece) if start == 0 => return Some((piece, end)),
            Some(_) => return Some((Piece::Text(&text[..start]), start)),
            None => from = inner,
        }
    }
    (!text.is_empty()).then_some((Piece::Text(text), text.len()))
}

fn parse_span(name: &str) -> Option<Range<usize>> {
    let (start, end) = name.strip_prefix('@')?.split_once('-')?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

/// The marks in a text, with their quotes: offset, length, mark. Linear.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = (usize, usize, Mark)> {
    let mut at = 0;
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (piece, len) = first_piece(rest)?;
            let start = at;
            at += len;
            rest = &rest[len..];
            if let Piece::Mark(mark) = piece {
                return Some((start, len, mark));
            }
        }
    })
}

// Maps offsets of the excerpt to offsets of the clean text, based on what the excerpt leaves out.

/// What the excerpt leaves out, in order; 16 bytes each.
#[derive(Debug, Clone, Default)]
struct Offsets {
    list: Vec<Omission>,
}

/// A piece of the clean text that is shortened or left out in the excerpt.
#[derive(Debug, Clone, Copy)]
struct Omission {
    /// Offset after it in the clean text.
    clean_end: u64,
    /// The offset after its replacement in the excerpt, times 256, plus the length of the replacement.
    end_and_len: u64,
}

impl Omission {
    fn end(self) -> u64 {
        self.end_and_len >> 8
    }

    fn start(self) -> u64 {
        self.end() - (self.end_and_len & 255)
    }
}

impl Offsets {
    /// The number of omissions.
    fn len(&self) -> usize {
        self.list.len()
    }

    /// Appends an omission: `len` bytes that end at `end` in the excerpt replace what ends at `clean_end`.
    fn push(&mut self, end: usize, len: u8, clean_end: u64) {
        let end_and_len = (end as u64) << 8 | u64::from(len);
        self.list.push(Omission { clean_end, end_and_len });
    }

    /// Removes the omissions from this one on.
    fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    /// The clean offset for an excerpt offset that is not inside an omission. At an omission without a replacement,
    /// returns the offset after it.
    fn clean(&self, at: usize) -> u64 {
        let at = at as u64;
        let next = self.list.partition_point(|it| it.end() <= at);
        self.after(next, at)
    }

    /// [`Offsets::clean`], but before an omission at this offset.
    fn clean_end(&self, at: usize) -> u64 {
        let at = at as u64;
        let next =
            self.list.partition_point(|it| it.end() < at || it.end() == at && it.start() < at);
        self.after(next, at)
    }

    /// The clean offset for an excerpt offset after the first `count` omissions.
    fn after(&self, count: usize, at: u64) -> u64 {
        match count.checked_sub(1).and_then(|it| self.list.get(it)) {
            Some(it) => it.clean_end + at.saturating_sub(it.end()),
            None => at,
        }
    }
}

#[cfg(test)]
mod mark_tests {
    use super::{FRAME, Mark, Offsets, Piece, pieces, span};

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let plain = Mark { at: 17, bytes: 4, ..Mark::default() };
        let image = Mark { lone_surrogates: 2, len: Some(9), size: Some((3, 4)), ..plain };
        let looked = Mark { look: Some(crate::link::Look::Png), is_context: true, ..image };
        for mark in [plain, image, looked, Mark { is_mended: true, ..looked }] {
            assert_eq!(Mark::read(&mark.json()), Some(mark));
        }
        assert_eq!(Mark::read("\"17\""), None);
    }

    #[test]
    fn a_text_is_its_pieces() {
        let mark = Mark { at: 3, bytes: 5, ..Mark::default() }.json();
        let text = format!("a{mark}{mark}{}b{FRAME}", span(4..9));
        let show = |it| match it {
            Piece::Text(it) => it.to_owned(),
            Piece::Mark(it) => format!("<{}+{}>", it.at, it.bytes),
            Piece::Span(it) => format!("{it:?}"),
        };
        let found: Vec<_> = pieces(&text).map(show).collect();
        assert_eq!(found, ["a", "<3+5>", "<3+5>", "4..9", &format!("b{FRAME}")]);
    }

    #[test]
    fn offsets_before_between_and_after_omissions() {
        // clean    {"a":1,"b":"long","c":2}
        // excerpt  {"b":"#","c":2}
        let mut offsets = Offsets::default();
        offsets.push(1, 0, 7);
        offsets.push(8, 3, 17);
        assert_eq!(offsets.clean(0), 0);
        assert_eq!((offsets.clean(1), offsets.clean_end(1)), (7, 1));
        assert_eq!(offsets.clean(5), 11);
        assert_eq!(offsets.clean(8), 17);
        assert_eq!(offsets.clean(9), 18);
    }
}
