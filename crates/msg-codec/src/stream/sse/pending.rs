//! The event whose blank line has not come.

use std::borrow::Cow;

use super::super::notes::{Note, Notes};
use super::SseEvent;

/// The data lines so far, joined, and the name.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    data: Vec<u8>,
    pub(super) has_data: bool,
    name: String,
    /// It is larger than an event may be: it will be dropped.
    pub(super) too_large: bool,
    /// It was handed out: its buffers are free again.
    dispatched: bool,
    /// Where in the stream its data begins.
    pub(super) at: u64,
}

impl Pending {
    /// Frees the buffers of an event that was handed out.
    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.dispatched) {
            self.forget();
        }
    }

    pub(super) fn forget(&mut self) {
        self.data.clear();
        self.has_data = false;
        self.name.clear();
        self.too_large = false;
    }

    /// Whether so many bytes more are no more than an event may have.
    pub(super) fn fits(&self, more: usize, max_event_bytes: usize) -> bool {
        let held = self.data.len() + usize::from(self.has_data);
        !self.too_large && held.saturating_add(more) <= max_event_bytes
    }

    pub(super) fn push_line(&mut self, line: &[u8], at: u64) {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        } else {
            self.at = at;
        }
        self.data.extend_from_slice(line);
    }

    /// Keeps nothing of it: it is too large, or its name is.
    pub(super) fn drop_data(&mut self, at: u64) {
        if !self.has_data {
            self.at = at;
        }
        self.data.clear();
        self.has_data = true;
        self.too_large = true;
    }

    pub(super) fn set_name(&mut self, name: &[u8], at: u64, notes: &mut Notes) {
        self.name.clear();
        self.name.push_str(&decode(name, at, notes));
    }

    /// Hands it out.
    pub(super) fn dispatch(&mut self, notes: &mut Notes) -> SseEvent<'_> {
        self.dispatched = true;
        let event = (!self.name.is_empty()).then_some(&*self.name);
        SseEvent { event, data: decode(&self.data, self.at, notes), at: self.at }
    }
}

/// Bytes as text; that they are none is noted.
pub(super) fn decode<'a>(bytes: &'a [u8], at: u64, notes: &mut Notes) -> Cow<'a, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let at = at + error.valid_up_to() as u64;
            notes.add(Note::INVALID_UTF8, at, || "bytes that are not UTF-8 became U+FFFD".into());
            String::from_utf8_lossy(bytes)
        }
    }
}
