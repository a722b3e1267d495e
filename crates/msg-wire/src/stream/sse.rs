//! The byte-level decoder of server-sent events (OA-16): chunks in, events out.
//!
//! It knows lines and fields and nothing of JSON or providers. It never waits for more than it
//! must, looks at each byte once, borrows an event from the chunk when it lies there whole, and
//! keeps at most one line and one event of bounded size.

use std::borrow::Cow;

use memchr::memchr2;

use super::limits::StreamLimits;
use super::notes::{Note, Notes};
use super::utf8::Utf8;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The event's name, when a line `event: NAME` gave one that is not empty.
    pub event: Option<&'a str>,
    /// Its `data` lines, joined with a line feed; invalid UTF-8 became U+FFFD.
    pub data: Cow<'a, str>,
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
    /// The start of a line whose end has not come.
    line: Vec<u8>,
    /// Where in the stream that line began.
    line_at: u64,
    /// `line` is longer than what was kept of it.
    overlong: bool,
    /// The last chunk ended in a CR: the line is over, an LF may belong to its end.
    cr: bool,
    /// How many bytes of a byte order mark were seen; 3 when its place has passed.
    bom: u8,
    /// Whether the line in `line` that counts for nothing is text so far.
    ignored: Utf8,
    /// The data lines so far, joined; they begin at `data_from`.
    data: Vec<u8>,
    data_from: usize,
    has_data: bool,
    name: String,
    too_large: bool,
    /// The event was handed out: its buffers are free again.
    dispatched: bool,
    /// Bytes taken before the chunk at hand.
    taken: u64,
    event_at: u64,
    notes: Notes,
}

const BOM: &[u8; 3] = b"\xef\xbb\xbf";

impl SseDecoder {
    /// A decoder at the start of a stream; of `limits` it heeds `max_event_bytes`.
    #[must_use]
    pub fn new(limits: StreamLimits) -> Self {
        Self {
            max_event_bytes: limits.max_event_bytes,
            line: Vec::new(),
            line_at: 0,
            overlong: false,
            ignored: Utf8::default(),
            cr: false,
            bom: 0,
            data: Vec::new(),
            data_from: 0,
            has_data: false,
            name: String::new(),
            too_large: false,
            dispatched: false,
            taken: 0,
            event_at: 0,
            notes: Notes::default(),
        }
    }

    /// Takes the next bytes and gives the events that they complete.
    ///
    /// The events have to be drained: what is left when they are dropped is lost.
    pub fn feed<'a>(&'a mut self, chunk: &'a [u8]) -> Events<'a> {
        self.release();
        let pos = self.skip_bom(chunk);
        Events { decoder: self, chunk, pos }
    }

    /// Ends the stream: an unfinished line counts as a line and a pending event is dispatched.
    pub fn finish(&mut self) -> Option<SseEvent<'_>> {
        self.finish_at().map(|(event, _)| event)
    }

    /// Like [`SseDecoder::finish`], with the offset at which the event's data began.
    pub fn finish_at(&mut self) -> Option<(SseEvent<'_>, u64)> {
        self.release();
        self.flush_bom();
        self.cr = false;
        if !self.line.is_empty() {
            self.end_buffered_line();
        }
        let at = self.event_at;
        if self.ready() { Some((self.buffered_event(), at)) } else { None }
    }

    /// The offset in the stream, in bytes, at which the data of the last event began.
    #[must_use]
    pub fn event_offset(&self) -> u64 {
        self.event_at
    }

    /// What was found at the level of bytes and lines.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Frees the buffers of an event that was handed out.
    fn release(&mut self) {
        if self.dispatched {
            self.dispatched = false;
            self.forget_event();
        }
    }

    fn forget_event(&mut self) {
        self.data.clear();
        self.data_from = 0;
        self.has_data = false;
        self.name.clear();
        self.too_large = false;
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
            self.line.extend_from_slice(&BOM[..usize::from(self.bom)]);
            self.bom = 3;
        }
    }

    /// Keeps the start of a line, as much of it as an event may hold; `bytes` begin at `at`.
    fn keep(&mut self, bytes: &[u8], at: u64) {
        if self.line.is_empty() {
            self.line_at = at;
        }
        if counts_for_nothing(&self.line, bytes) {
            return self.look_through(bytes, at);
        }
        // The field name and what makes the value too long by itself.
        let most = self.max_event_bytes.saturating_add(16);
        let room = most.saturating_sub(self.line.len());
        self.overlong |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Looks at more of a line that counts for nothing. That it is text is all that matters, so it is kept
    /// as an empty comment, however long it is.
    fn look_through(&mut self, bytes: &[u8], at: u64) {
        if self.line != b":" {
            let wrong = self.ignored.feed(&self.line, self.line_at);
            self.note_invalid(wrong);
            self.line.clear();
            self.line.push(b':');
        }
        let wrong = self.ignored.feed(bytes, at);
        self.note_invalid(wrong);
    }

    /// Ends the line in `line`.
    fn end_buffered_line(&mut self) -> After {
        let at = self.line_at;
        let field = Field::of(&self.line);
        let overlong = std::mem::take(&mut self.overlong);
        let after = match field {
            Field::Data(from) | Field::Bare(from) => {
                self.note_bare(field, at);
                if overlong || !self.fits(self.line.len() - from) {
                    self.drop_event(at);
                } else if self.has_data {
                    self.data.push(b'\n');
                    self.data.extend_from_slice(&self.line[from..]);
                } else {
                    self.begin_data(at + from as u64);
                    std::mem::swap(&mut self.line, &mut self.data);
                    self.data_from = from;
                }
                After::Next
            }
            Field::Event(from) => {
                let line = std::mem::take(&mut self.line);
                self.set_name(&line[from..], at);
                self.line = line;
                After::Next
            }
            Field::Blank => self.end_event(),
            Field::Other => {
                let wrong = self.ignored.end();
                self.note_invalid(wrong);
                After::Next
            }
        };
        self.line.clear();
        after
    }

    fn note_invalid(&mut self, at: Option<u64>) {
        if let Some(at) = at {
            self.notes
                .add(Note::INVALID_UTF8, at, || "bytes that are not UTF-8 became U+FFFD".into());
        }
    }

    fn note_bare(&mut self, field: Field, at: u64) {
        if let Field::Bare(_) = field {
            self.notes.add(Note::BARE_JSON, at, || {
                "a line of JSON without a field name counts as data".into()
            });
        }
    }

    fn fits(&self, more: usize) -> bool {
        let held = self.data.len() - self.data_from + usize::from(self.has_data);
        !self.too_large && held.saturating_add(more) <= self.max_event_bytes
    }

    fn begin_data(&mut self, at: u64) {
        self.has_data = true;
        self.event_at = at;
    }

    fn drop_event(&mut self, at: u64) {
        if !self.has_data {
            self.event_at = at;
        }
        self.data.clear();
        self.data_from = 0;
        self.has_data = true;
        self.too_large = true;
    }

    fn set_name(&mut self, name: &[u8], at: u64) {
        if name.len() > self.max_event_bytes {
            return self.drop_event(at);
        }
        self.name.clear();
        match decode(name, at, &mut self.notes) {
            Cow::Borrowed(text) => self.name.push_str(text),
            Cow::Owned(text) => self.name = text,
        }
    }

    /// A blank line: is there an event to hand out?
    fn end_event(&mut self) -> After {
        if self.ready() { After::Dispatch } else { After::Next }
    }

    /// Whether the pending event can be handed out; one that cannot is forgotten.
    fn ready(&mut self) -> bool {
        if self.too_large {
            let (at, limit) = (self.event_at, self.max_event_bytes);
            self.notes.add(Note::EVENT_TOO_LARGE, at, || {
                format!("an event has more than {limit} bytes and was dropped")
            });
        }
        let ready = self.has_data && !self.too_large;
        if !ready {
            self.forget_event();
        }
        ready
    }

    fn buffered_event(&mut self) -> SseEvent<'_> {
        self.dispatched = true;
        SseEvent {
            event: name_of(&self.name),
            data: decode(&self.data[self.data_from..], self.event_at, &mut self.notes),
        }
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
    /// The next event with the offset at which its data began.
    pub fn next_at(&mut self) -> Option<(SseEvent<'_>, u64)> {
        let held = self.advance()?;
        let at = self.decoder.event_at;
        Some((self.event(held), at))
    }

    /// The next event, borrowed from the chunk or the decoder.
    ///
    /// Not an `Iterator`, because the event is gone when the next one is asked for.
    #[allow(clippy::should_implement_trait)] // it lends, which the trait cannot say
    pub fn next(&mut self) -> Option<SseEvent<'_>> {
        let held = self.advance()?;
        Some(self.event(held))
    }

    /// The offset in the stream, in bytes, at which the data of the last event began.
    #[must_use]
    pub fn event_offset(&self) -> u64 {
        self.decoder.event_at
    }

    /// Takes no note of anything from here on: the stream has said that it is over.
    pub(super) fn mute(&mut self) {
        self.decoder.notes.close();
    }

    /// Goes on to the next event; gives the place of its data in the chunk, if they lie there.
    fn advance(&mut self) -> Option<Option<(usize, usize)>> {
        self.decoder.release();
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
            let after = if self.decoder.line.is_empty() {
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
        let len = memchr2(b'\n', b'\r', rest)?;
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
                    self.decoder.drop_event(at);
                } else if self.decoder.has_data {
                    self.decoder.data.push(b'\n');
                    self.decoder.data.extend_from_slice(&line[from..]);
                } else {
                    self.decoder.begin_data(at + from as u64);
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
                self.decoder.note_invalid(wrong);
                After::Next
            }
        }
    }

    /// Copies the data that so far was only pointed at.
    fn stash(&mut self, held: Option<(usize, usize)>) {
        if let Some((from, to)) = held
            && !self.decoder.too_large
        {
            self.decoder.data.extend_from_slice(&self.chunk[from..to]);
        }
    }

    fn event(&mut self, held: Option<(usize, usize)>) -> SseEvent<'_> {
        let Some((from, to)) = held else {
            return self.decoder.buffered_event();
        };
        let SseDecoder { name, notes, dispatched, event_at, .. } = &mut *self.decoder;
        *dispatched = true;
        SseEvent { event: name_of(name), data: decode(&self.chunk[from..to], *event_at, notes) }
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        self.decoder.taken += self.chunk.len() as u64;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Next,
    Dispatch,
}

/// What a line is; positions are where its value begins.
#[derive(Clone, Copy)]
enum Field {
    Blank,
    Data(usize),
    Bare(usize),
    Event(usize),
    Other,
}

impl Field {
    fn of(line: &[u8]) -> Self {
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
    // As long as the longest name and its colon.
    let mut start = [0; 6];
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

fn name_of(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

fn decode<'a>(bytes: &'a [u8], at: u64, notes: &mut Notes) -> Cow<'a, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let at = at + error.valid_up_to() as u64;
            notes.add(Note::INVALID_UTF8, at, || "bytes that are not UTF-8 became U+FFFD".into());
            String::from_utf8_lossy(bytes)
        }
    }
}
