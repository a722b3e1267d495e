//! The line whose end has not come, and what a line is when it has.
//!
//! ```text
//! data: {"a"|:1}     a field of data, kept up to the size that an event may have
//! : ping             counts for nothing: only that it is text matters
//! ```

use super::super::notes::{Note, Notes};
use super::super::utf8::Utf8;

/// As long as the longest name and its colon: what tells whether a line counts.
const NAME: usize = 6;

/// The start of a line, as much of it as an event may hold.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// Where in the stream it began.
    pub(super) at: u64,
    /// It is longer than what was kept of it.
    pub(super) overlong: bool,
    /// Whether a line that counts for nothing is text so far.
    ignored: Utf8,
}

impl Line {
    /// Keeps more of the line; `bytes` begin at `at`, and an event may have so many.
    pub(super) fn keep(
        &mut self,
        bytes: &[u8],
        at: u64,
        max_event_bytes: usize,
        notes: &mut Notes,
    ) {
        if self.bytes.is_empty() {
            self.at = at;
        }
        // What so many bytes were kept of counts.
        if self.bytes.len() < NAME && counts_for_nothing(&self.bytes, bytes) {
            return self.check_ignored(bytes, at, notes);
        }
        // The field name and what makes the value too long by itself.
        let most = max_event_bytes.saturating_add(16);
        let room = most.saturating_sub(self.bytes.len());
        self.overlong |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Checks more of a line that counts for nothing. That it is text is all that matters, so it is kept
    /// as an empty comment, however long it is.
    fn check_ignored(&mut self, bytes: &[u8], at: u64, notes: &mut Notes) {
        if self.bytes != b":" {
            note_invalid(self.ignored.feed(&self.bytes, self.at), notes);
            self.bytes.clear();
            self.bytes.push(b':');
        }
        note_invalid(self.ignored.feed(bytes, at), notes);
    }

    /// The line that counted for nothing is over.
    pub(super) fn end_ignored(&mut self, notes: &mut Notes) {
        note_invalid(self.ignored.end(), notes);
    }
}

/// Notes bytes that are not text, if some are not.
pub(super) fn note_invalid(at: Option<u64>, notes: &mut Notes) {
    if let Some(at) = at {
        notes.add(Note::INVALID_UTF8, at, || "bytes that are not UTF-8 became U+FFFD".into());
    }
}

/// What a line is; positions are where its value begins.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Blank,
    Data(usize),
    Bare(usize),
    Event(usize),
    Other,
}

impl Field {
    pub(super) fn of(line: &[u8]) -> Self {
        match line {
            [] => Self::Blank,
            [b'd', b'a', b't', b'a', rest @ ..] => value(rest, 4).map_or(Self::Other, Self::Data),
            [b'{', ..] => Self::Bare(0),
            [b'e', b'v', b'e', b'n', b't', rest @ ..] => {
                value(rest, 5).map_or(Self::Other, Self::Event)
            }
            _ => Self::Other,
        }
    }
}

/// Whether a line that begins with `line` and goes on with `more` is no field that counts, whatever else
/// comes of it.
fn counts_for_nothing(line: &[u8], more: &[u8]) -> bool {
    let mut start = [0; NAME];
    let bytes = line.iter().chain(more);
    let len = start.iter_mut().zip(bytes).map(|(to, from)| *to = *from).count();
    let start = &start[..len];
    let is_open = [&b"data"[..], b"event"].iter().any(|it| it.starts_with(start));
    !is_open && matches!(Field::of(start), Field::Other)
}

/// Where the value of a field begins whose name is `name` bytes long: behind the colon and one space.
fn value(rest: &[u8], name: usize) -> Option<usize> {
    match rest {
        [] => Some(name),
        [b':', b' ', ..] => Some(name + 2),
        [b':', ..] => Some(name + 1),
        _ => None,
    }
}
