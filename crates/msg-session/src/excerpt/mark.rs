//! Marks: what is in the excerpt for a long value. A mark is a JSON string, so that the excerpt stays
//! JSON, and says what the rules ask of the value that it represents.
//!
//! ```text
//! "▯170+91▯"         91 bytes from 170 of the clean text on   ▯ is U+E000, which the rest of the
//! "▯170+91;3▯"       its text has 3 halves of characters      excerpt has only as an escape
//! "▯170+91236;0;91234;9024x19200~p▯"  a text of 91,234 bytes, an image of this size in PNG
//! "▯170+91#▯"                         nothing but context that an agent put there
//! ```

use std::{borrow::Cow, fmt::Write as _, ops::Range};

use crate::link::Look;

/// The character around a mark.
pub(crate) const FRAME: char = '\u{e000}';

/// A mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    /// Where the value is in the clean text, and how many bytes it has there.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    /// How many escapes of half a character the value has.
    pub(crate) halves: u64,
    /// How long its text is, in bytes between the quotes, where that matters.
    pub(crate) len: Option<usize>,
    /// Width and height in pixels, of an image.
    pub(crate) size: Option<(u32, u32)>,
    /// What its base64 holds, of an image or a document.
    pub(crate) look: Option<Look>,
    /// Whether its text is nothing but context that an agent put there.
    pub(crate) is_context: bool,
    /// Whether the halves become U+FFFD where the mark is filled in.
    pub(crate) is_mended: bool,
}

impl Mark {
    /// The mark as JSON.
    pub(crate) fn json(self) -> String {
        let mut res = format!("\"{FRAME}{}+{}", self.at, self.bytes);
        if self.halves > 0 || self.len.is_some() || self.is_mended {
            let _ = write!(res, ";{}", self.halves);
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

    /// The mark that a JSON string of an excerpt is, if it is one.
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
        let halves = fields.next().map_or(Some(0), |it| it.parse().ok())?;
        let len = fields.next().and_then(|it| it.parse().ok());
        let size = fields.next().and_then(|it| it.split_once('x'));
        let size = size.and_then(|it| Some((it.0.parse().ok()?, it.1.parse().ok()?)));
        Some(Self { at, bytes, halves, len, size, look, is_context, is_mended })
    }
}

/// A piece of the text of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// As it is.
    Text(&'a str),
    /// The value of a mark.
    Mark(Mark),
    /// The clean text of a span of the excerpt.
    Span(Range<usize>),
}

/// What is in the text of an edit for the clean text of a span of the excerpt: `▯@17-39▯`.
pub(crate) fn span(span: Range<usize>) -> String {
    format!("{FRAME}@{}-{}{FRAME}", span.start, span.end)
}

/// JSON of a file as the text of an edit, in which the frame of marks would be taken for one.
pub(crate) fn spelled(source: &str) -> Cow<'_, str> {
    match source.contains(FRAME) {
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

/// The first piece of a text, and how long it is there.
fn first_piece(text: &str) -> Option<(Piece<'_>, usize)> {
    let mut from = 0;
    while let Some(at) = text[from..].find(FRAME) {
        let at = from + at;
        let inner = at + FRAME.len_utf8();
        let Some(len) = text[inner..].find(FRAME) else { break };
        let (name, end) = (&text[inner..inner + len], inner + len + FRAME.len_utf8());
        if name == "@" {
            // The frame itself.
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

/// Where the marks of a text are, with their quotes: offset, length, mark. Linear.
pub(crate) fn places(text: &str) -> impl Iterator<Item = (usize, usize, Mark)> {
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

// From offsets of the excerpt to those of the clean text, by what the excerpt leaves out.

/// What the excerpt leaves out, in order; 16 bytes each.
#[derive(Debug, Clone, Default)]
pub(super) struct Offsets {
    list: Vec<Omission>,
}

/// A piece of the clean text for which something shorter is in the excerpt, or nothing.
#[derive(Debug, Clone, Copy)]
struct Omission {
    /// Offset after it in the clean text.
    clean_end: u64,
    /// Offset after what represents it in the excerpt, times 256, and how long that is.
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
    /// How many omissions there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds an omission after the last: `len` bytes that end at `end` in the excerpt represent what ends at
    /// `clean_end`.
    pub(super) fn push(&mut self, end: usize, len: u8, clean_end: u64) {
        let end_and_len = (end as u64) << 8 | u64::from(len);
        self.list.push(Omission { clean_end, end_and_len });
    }

    /// Takes back the omissions from this one on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    /// The offset in the clean text of one of the excerpt that is not inside an omission. Where nothing represents
    /// what is left out, it is the offset after it.
    pub(super) fn clean(&self, at: usize) -> u64 {
        let at = at as u64;
        let next = self.list.partition_point(|it| it.end() <= at);
        self.after(next, at)
    }

    /// As [`Offsets::clean`], but before what is left out there.
    pub(super) fn clean_end(&self, at: usize) -> u64 {
        let at = at as u64;
        let next =
            self.list.partition_point(|it| it.end() < at || it.end() == at && it.start() < at);
        self.after(next, at)
    }

    /// The clean offset of one that follows the first `count` omissions.
    fn after(&self, count: usize, at: u64) -> u64 {
        match count.checked_sub(1).and_then(|it| self.list.get(it)) {
            Some(it) => it.clean_end + at.saturating_sub(it.end()),
            None => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FRAME, Mark, Offsets, Piece, pieces, span};

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let plain = Mark { at: 17, bytes: 4, ..Mark::default() };
        let image = Mark { halves: 2, len: Some(9), size: Some((3, 4)), ..plain };
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
