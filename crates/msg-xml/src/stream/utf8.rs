//! What a stream does with bytes before the machine sees them (XT-1): an incomplete sequence waits, each maximal
//! invalid part becomes one U+FFFD, a byte order mark at the start goes.

use super::StreamParser;
use crate::code::Code;
use crate::event::Ev;

/// What is known of the encoding so far.
#[derive(Debug, Default)]
pub(super) struct Utf8 {
    /// An incomplete sequence.
    pub(super) partial: Vec<u8>,
    /// The first character has come.
    pub(super) started: bool,
    /// Invalid bytes have been reported.
    reported: bool,
}

impl StreamParser {
    /// Appends bytes as valid UTF-8.
    pub(super) fn append(&mut self, bytes: &[u8], eof: bool) {
        if self.utf8.partial.is_empty() {
            return self.append_all(bytes, eof);
        }
        let mut joined = std::mem::take(&mut self.utf8.partial);
        joined.extend_from_slice(bytes);
        self.append_all(&joined, eof);
    }

    fn append_all(&mut self, bytes: &[u8], eof: bool) {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.push(chunk.valid());
            match chunk.invalid() {
                [] => {}
                // What stands before other bytes will not become a character.
                bad if !eof && chunks.peek().is_none() && is_incomplete(bad) => {
                    self.utf8.partial.extend_from_slice(bad);
                }
                bad => self.replace(bad.len()),
            }
        }
    }

    fn push(&mut self, text: &str) {
        if self.utf8.started || text.is_empty() {
            self.carry.push_str(text);
            return;
        }
        self.utf8.started = true;
        match text.strip_prefix('\u{FEFF}') {
            Some(rest) => {
                self.shifts.add(0, 3);
                self.carry.push_str(rest);
            }
            None => self.carry.push_str(text),
        }
    }

    /// One U+FFFD for `n` invalid bytes.
    fn replace(&mut self, n: usize) {
        self.utf8.started = true;
        let at = self.base + self.carry.len();
        if !std::mem::replace(&mut self.utf8.reported, true) {
            self.machine.queue.events.push(Ev::report(Code::InvalidUtf8, at, at));
        }
        self.carry.push('\u{FFFD}');
        let after = at + '\u{FFFD}'.len_utf8();
        self.machine.seams.extend([at, after]);
        self.shifts.add(after, n as i64 - 3);
    }
}

/// Whether these bytes, which are no UTF-8, may become a character with more of them.
fn is_incomplete(bad: &[u8]) -> bool {
    std::str::from_utf8(bad).is_err_and(|error| error.error_len().is_none())
}
