//! The byte-level decoder of server-sent events (OA-16): chunks in, events out.
//!
//! It knows lines and fields and nothing of JSON or providers. It never waits for more than it
//! must, looks at each byte once, borrows an event from the chunk when it lies there whole, and
//! keeps at most one line and one event of bounded size.

mod line;
mod pending;

use std::borrow::Cow;

use memchr::memchr2;

use self::line::{Field, Line, note_invalid};
use self::pending::Pending;
use super::limits::StreamLimits;
use super::notes::{Note, Notes};

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The event's name, when a line `event: NAME` gave one that is not empty.
    pub event: Option<&'a str>,
    /// Its `data` lines, joined with a line feed; invalid UTF-8 became U+FFFD.
    pub data: Cow<'a, str>,
    /// The offset in the stream, in bytes, at which its data began; 0 of one that was in none.
    pub at: u64,
}

impl<'a> From<&'a str> for SseEvent<'a> {
    /// An event of this data, without a name.
    fn from(data: &'a str) -> Self {
        Self { event: None, data: data.into(), at: 0 }
    }
}

/// Turns chunks of bytes into events; the cuts between chunks make no difference.
///
/// Lines end at LF, CRLF or CR. A CR that ends a chunk waits for the next byte. `data` lines are
/// joined, `event` names the event, a line that begins with `{` counts as data, comments and other
/// fields are passed over, a blank line dispatches.
///
/// ```
/// use msg_wire::{SseDecoder, StreamLimits};
///
/// let mut decoder = SseDecoder::new(StreamLimits::default());
/// let mut seen = Vec::new();
/// for chunk in [&b"data: {\"a\""[..], b":1}\r\n\r", b"\n: ping\n\ndata: [DONE]"] {
///     let mut events = decoder.feed(chunk);
///     while let Some(event) = events.next() {
///         seen.push(event.data.into_owned());
///     }
/// }
/// seen.extend(decoder.finish().map(|event| event.data.into_owned()));
/// assert_eq!(seen, ["{\"a\":1}", "[DONE]"]);
/// ```
#[derive(Debug, Clone)]
pub struct SseDecoder {
    max_event_bytes: usize,
    line: Line,
    /// The last chunk ended in a CR: the line is over, an LF may belong to its end.
    cr: bool,
    /// How many bytes of a byte order mark were seen; 3 when its place has passed.
    bom: u8,
    pending: Pending,
    /// Bytes taken before the chunk at hand.
    taken: u64,
    notes: Notes,
}

const BOM: &[u8; 3] = b"\xef\xbb\xbf";

impl SseDecoder {
    /// A decoder at the start of a stream; of `limits` it heeds `max_event_bytes`.
    #[must_use]
    pub fn new(limits: StreamLimits) -> Self {
        Self {
            max_event_bytes: limits.max_event_bytes,
            line: Line::default(),
            cr: false,
            bom: 0,
            pending: Pending::default(),
            taken: 0,
            notes: Notes::default(),
        }
    }

    /// Takes the next bytes and gives the events that they complete.
    ///
    /// The events have to be drained: what is left when they are dropped is lost.
    pub fn feed<'a>(&'a mut self, chunk: &'a [u8]) -> Events<'a> {
        self.pending.release();
        let pos = self.skip_bom(chunk);
        Events { decoder: self, chunk, pos }
    }

    /// Ends the stream: an unfinished line counts as a line and a pending event is dispatched.
    pub fn finish(&mut self) -> Option<SseEvent<'_>> {
        self.pending.release();
        self.flush_bom();
        self.cr = false;
        if !self.line.bytes.is_empty() {
            self.end_buffered_line();
        }
        self.ready().then(|| self.pending.dispatch(&mut self.notes))
    }

    /// What was found at the level of bytes and lines.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Passes a byte order mark at the very start; gives the position behind it.
    fn skip_bom(&mut self, chunk: &[u8]) -> usize {
        let mut pos = 0;
        while self.bom < 3 && pos < chunk.len() {
            if chunk[pos] != BOM[usize::from(self.bom)] {
                self.flush_bom();
                return pos;
            }
            self.bom += 1;
            pos += 1;
        }
        pos
    }

    /// What looked like the start of a mark and is none belongs to the first line.
    fn flush_bom(&mut self) {
        if self.bom < 3 {
            self.line.bytes.extend_from_slice(&BOM[..usize::from(self.bom)]);
            self.bom = 3;
        }
    }

    /// Keeps the start of a line; `bytes` begin at `at`.
    fn keep(&mut self, bytes: &[u8], at: u64) {
        self.line.keep(bytes, at, self.max_event_bytes, &mut self.notes);
    }

    /// Ends the line in `line`.
    fn end_buffered_line(&mut self) -> After {
        let at = self.line.at;
        let field = Field::of(&self.line.bytes);
        let overlong = std::mem::take(&mut self.line.overlong);
        let after = match field {
            Field::Data(from) | Field::Bare(from) => {
                self.note_bare(field, at);
                if overlong || !self.fits(self.line.bytes.len() - from) {
                    self.pending.drop_data(at);
                } else if self.pending.has_data {
                    self.pending.push_line(&self.line.bytes[from..]);
                } else {
                    self.pending.begin(at + from as u64);
                    self.pending.take_line(&mut self.line.bytes, from);
                }
                After::Next
            }
            Field::Event(from) => {
                let line = std::mem::take(&mut self.line.bytes);
                self.set_name(&line[from..], at);
                self.line.bytes = line;
                After::Next
            }
            Field::Blank => self.end_event(),
            Field::Other => {
                self.line.end_ignored(&mut self.notes);
                After::Next
            }
        };
        self.line.bytes.clear();
        after
    }

    fn note_bare(&mut self, field: Field, at: u64) {
        if let Field::Bare(_) = field {
            self.notes.add(Note::BARE_JSON, at, || {
                "a line of JSON without a field name counts as data".into()
            });
        }
    }

    fn fits(&self, more: usize) -> bool {
        self.pending.fits(more, self.max_event_bytes)
    }

    fn set_name(&mut self, name: &[u8], at: u64) {
        match name.len() > self.max_event_bytes {
            true => self.pending.drop_data(at),
            false => self.pending.set_name(name, at, &mut self.notes),
        }
    }

    /// A blank line: is there an event to hand out?
    fn end_event(&mut self) -> After {
        if self.ready() { After::Dispatch } else { After::Next }
    }

    /// Whether the pending event can be handed out; one that cannot is forgotten.
    fn ready(&mut self) -> bool {
        if self.pending.too_large {
            let (at, limit) = (self.pending.at, self.max_event_bytes);
            self.notes.add(Note::EVENT_TOO_LARGE, at, || {
                format!("an event has more than {limit} bytes and was dropped")
            });
        }
        let ready = self.pending.has_data && !self.pending.too_large;
        if !ready {
            self.pending.forget();
        }
        ready
    }
}

/// The events that one chunk completes; see [`SseDecoder::feed`].
#[derive(Debug)]
#[must_use = "events that are not drained are lost"]
pub struct Events<'a> {
    decoder: &'a mut SseDecoder,
    chunk: &'a [u8],
    pos: usize,
}

impl Events<'_> {
    /// The next event, borrowed from the chunk or the decoder.
    ///
    /// Not an `Iterator`, because the event is gone when the next one is asked for.
    #[allow(clippy::should_implement_trait)] // it lends, which the trait cannot say
    pub fn next(&mut self) -> Option<SseEvent<'_>> {
        let held = self.advance()?;
        let SseDecoder { pending, notes, .. } = &mut *self.decoder;
        Some(match held {
            Some((from, to)) => pending.dispatch_with(&self.chunk[from..to], notes),
            None => pending.dispatch(notes),
        })
    }

    /// Takes no note of anything from here on: the stream has said that it is over.
    pub(super) fn mute(&mut self) {
        self.decoder.notes.close();
    }

    /// Goes on to the next event; gives the place of its data in the chunk, if they lie there.
    fn advance(&mut self) -> Option<Option<(usize, usize)>> {
        self.decoder.pending.release();
        let mut held = None;
        loop {
            if self.pos == self.chunk.len() {
                self.stash(held);
                return None;
            }
            if self.decoder.cr {
                self.decoder.cr = false;
                self.pos += usize::from(self.chunk[self.pos] == b'\n');
                if self.decoder.end_buffered_line() == After::Dispatch {
                    return Some(None);
                }
                continue;
            }
            let start = self.pos;
            let at = self.decoder.taken + start as u64;
            let Some(end) = self.end_of_line() else {
                self.decoder.keep(&self.chunk[start..], at);
                self.stash(held);
                self.pos = self.chunk.len();
                return None;
            };
            if self.decoder.cr {
                self.decoder.keep(&self.chunk[start..end], at);
                self.stash(held);
                return None;
            }
            let after = if self.decoder.line.bytes.is_empty() {
                self.end_line(start, end, &mut held)
            } else {
                self.stash(held.take());
                self.decoder.keep(&self.chunk[start..end], at);
                self.decoder.end_buffered_line()
            };
            if after == After::Dispatch {
                return Some(held);
            }
        }
    }

    /// Finds the end of the line at `pos` and moves behind its terminator. A CR that ends the chunk
    /// is remembered in the decoder.
    fn end_of_line(&mut self) -> Option<usize> {
        let rest = &self.chunk[self.pos..];
        let len = line_end(rest)?;
        let end = self.pos + len;
        self.pos = end + 1;
        if rest[len] == b'\r' {
            match rest.get(len + 1) {
                Some(b'\n') => self.pos += 1,
                Some(_) => {}
                None => self.decoder.cr = true,
            }
        }
        Some(end)
    }

    /// A line that lies in the chunk is over.
    fn end_line(&mut self, start: usize, end: usize, held: &mut Option<(usize, usize)>) -> After {
        let line = &self.chunk[start..end];
        let at = self.decoder.taken + start as u64;
        let field = Field::of(line);
        match field {
            Field::Data(from) | Field::Bare(from) => {
                self.decoder.note_bare(field, at);
                self.stash(held.take());
                if !self.decoder.fits(line.len() - from) {
                    self.decoder.pending.drop_data(at);
                } else if self.decoder.pending.has_data {
                    self.decoder.pending.push_line(&line[from..]);
                } else {
                    self.decoder.pending.begin(at + from as u64);
                    *held = Some((start + from, end));
                }
                After::Next
            }
            Field::Event(from) => {
                self.decoder.set_name(&line[from..], at);
                After::Next
            }
            Field::Blank => self.decoder.end_event(),
            Field::Other => {
                let error = std::str::from_utf8(line).err();
                let wrong = error.map(|it| at + it.valid_up_to() as u64);
                note_invalid(wrong, &mut self.decoder.notes);
                After::Next
            }
        }
    }

    /// Copies the data that so far was only pointed at.
    fn stash(&mut self, held: Option<(usize, usize)>) {
        if let Some((from, to)) = held
            && !self.decoder.pending.too_large
        {
            self.decoder.pending.push(&self.chunk[from..to]);
        }
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        self.decoder.taken += self.chunk.len() as u64;
    }
}

/// The place of the first byte that ends a line. Most pieces as small as a token lie inside of a line: one
/// comparison says so where a call to memchr takes a third of the time of the whole piece.
fn line_end(bytes: &[u8]) -> Option<usize> {
    let ends = |any, it: &u8| any | (*it == b'\n') | (*it == b'\r');
    let block = bytes.first_chunk::<16>().filter(|_| bytes.len() < 32);
    let passed = if block.is_some_and(|it| !it.iter().fold(false, ends)) { 16 } else { 0 };
    if passed == bytes.len() {
        return None;
    }
    memchr2(b'\n', b'\r', &bytes[passed..]).map(|it| passed + it)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Next,
    Dispatch,
}
