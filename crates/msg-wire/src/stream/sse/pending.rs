//! The event whose blank line has not come.

use std::borrow::Cow;

use super::super::notes::Notes;
use super::SseEvent;
use super::line::note_invalid;

/// The data lines so far, joined, and the name.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    data: Vec<u8>,
    /// Where its text begins in `data`: behind the field name, where a line was taken as it lay.
    from: usize,
    pub(super) has_data: bool,
    pub(super) name: String,
    /// It is larger than an event may be: it will be dropped.
    pub(super) too_large: bool,
    /// It was handed out: its buffers are free again.
    pub(super) dispatched: bool,
    /// Where in the stream its data begins.
    pub(super) at: u64,
}

impl Pending {
    /// Frees the buffers of an event that was handed out.
    pub(super) fn release(&mut self) {
        if self.dispatched {
            self.dispatched = false;
            self.forget();
        }
    }

    pub(super) fn forget(&mut self) {
        self.data.clear();
        self.from = 0;
        self.has_data = false;
        self.name.clear();
        self.too_large = false;
    }

    /// Whether so many bytes more are no more than an event may have.
    pub(super) fn fits(&self, more: usize, max_event_bytes: usize) -> bool {
        let held = self.data.len() - self.from + usize::from(self.has_data);
        !self.too_large && held.saturating_add(more) <= max_event_bytes
    }

    pub(super) fn begin(&mut self, at: u64) {
        self.has_data = true;
        self.at = at;
    }

    /// Its first line is `line`, from `from` on; the buffers change places.
    pub(super) fn take_line(&mut self, line: &mut Vec<u8>, from: usize) {
        std::mem::swap(line, &mut self.data);
        self.from = from;
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        self.data.extend_from_slice(data);
    }

    pub(super) fn push_line(&mut self, line: &[u8]) {
        self.data.push(b'\n');
        self.data.extend_from_slice(line);
    }

    /// Keeps nothing of it: it is too large, or its name is.
    pub(super) fn drop_data(&mut self, at: u64) {
        if !self.has_data {
            self.at = at;
        }
        self.data.clear();
        self.from = 0;
        self.has_data = true;
        self.too_large = true;
    }

    pub(super) fn set_name(&mut self, name: &[u8], at: u64, notes: &mut Notes) {
        self.name.clear();
        match decode(name, at, notes) {
            Cow::Borrowed(text) => self.name.push_str(text),
            Cow::Owned(text) => self.name = text,
        }
    }

    /// Hands it out, with the data in its own buffer.
    pub(super) fn dispatch(&mut self, notes: &mut Notes) -> SseEvent<'_> {
        self.dispatched = true;
        let data = decode(&self.data[self.from..], self.at, notes);
        SseEvent { event: name_of(&self.name), data, at: self.at }
    }

    /// Hands it out, with the data that lies elsewhere.
    pub(super) fn dispatch_with<'a>(
        &'a mut self,
        data: &'a [u8],
        notes: &mut Notes,
    ) -> SseEvent<'a> {
        self.dispatched = true;
        SseEvent { event: name_of(&self.name), data: decode(data, self.at, notes), at: self.at }
    }
}

fn name_of(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

fn decode<'a>(bytes: &'a [u8], at: u64, notes: &mut Notes) -> Cow<'a, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            note_invalid(Some(at + error.valid_up_to() as u64), notes);
            String::from_utf8_lossy(bytes)
        }
    }
}
