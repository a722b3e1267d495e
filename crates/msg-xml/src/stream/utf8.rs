//! What a stream does with bytes before the machine sees them (XT-1): an incomplete sequence waits, each maximal
//! invalid part becomes one U+FFFD, a byte order mark at the start goes.

use super::StreamParser;
use crate::code::Code;
use crate::event::Ev;

impl StreamParser {
    /// Appends bytes as valid UTF-8.
    pub(super) fn append(&mut self, bytes: &[u8], eof: bool) {
        let mut rest = bytes;
        if self.partial_len > 0 {
            rest = self.complete_partial(rest, eof);
        }
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.push(text);
                    return;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.push(std::str::from_utf8(good).unwrap_or_default());
                    match error.error_len() {
                        Some(n) => {
                            self.replace(n);
                            rest = &bad[n..];
                        }
                        None if eof => {
                            self.replace(bad.len());
                            return;
                        }
                        None => {
                            self.partial[..bad.len()].copy_from_slice(bad);
                            self.partial_len = bad.len();
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Completes the sequence that the last chunk left; returns the bytes that remain.
    fn complete_partial<'b>(&mut self, bytes: &'b [u8], eof: bool) -> &'b [u8] {
        let mut used = 0;
        while self.partial_len > 0 {
            let mut buf = [0u8; 8];
            let old = self.partial_len;
            buf[..old].copy_from_slice(&self.partial[..old]);
            let more = (bytes.len() - used).min(4 - old);
            buf[old..old + more].copy_from_slice(&bytes[used..used + more]);
            let seq = &buf[..old + more];
            let (good, bad) = match std::str::from_utf8(seq) {
                Ok(_) => (seq.len(), None),
                Err(e) => (e.valid_up_to(), Some(e.error_len())),
            };
            if good > 0 {
                self.partial_len = 0;
                // Only the first character is ours; the rest is read with the chunk.
                let text = std::str::from_utf8(&seq[..good]).unwrap_or_default();
                let first = text.chars().next().map_or(0, char::len_utf8);
                let first = text[..first].to_owned();
                self.push(&first);
                return &bytes[used + first.len() - old..];
            }
            match bad {
                Some(Some(n)) => {
                    self.replace(n);
                    if n >= old {
                        self.partial_len = 0;
                        used += n - old;
                    } else {
                        self.partial.copy_within(n..old, 0);
                        self.partial_len = old - n;
                    }
                }
                _ if eof => {
                    self.replace(old + more);
                    self.partial_len = 0;
                    return &[];
                }
                _ => {
                    self.partial[..old + more].copy_from_slice(seq);
                    self.partial_len = old + more;
                    return &[];
                }
            }
        }
        &bytes[used..]
    }

    fn push(&mut self, text: &str) {
        if self.started || text.is_empty() {
            self.carry.push_str(text);
            return;
        }
        self.started = true;
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
        self.started = true;
        let at = self.base + self.carry.len();
        if !self.bad_utf8 {
            self.bad_utf8 = true;
            self.machine.queue.events.push(Ev::Report {
                code: Code::InvalidUtf8,
                from: at,
                to: at,
                detail: None,
            });
        }
        self.carry.push('\u{FFFD}');
        let after = at + '\u{FFFD}'.len_utf8();
        self.machine.seams.extend([at, after]);
        self.shifts.add(after, n as i64 - 3);
    }
}
