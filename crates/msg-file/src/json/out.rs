//! A writer for JSON that keeps track of commas and hands on what is done.
//!
//! It knows no document. What it is given is never in memory as a whole: the JSON of a cell is many times
//! longer than the shortest cell.

use msg_json::write_str;
use std::io::{self, Write};

/// How much is written at once.
const PIECE: usize = 1 << 16;

/// JSON under construction.
pub(crate) struct Out<'w> {
    sink: &'w mut dyn Write,
    /// What the sink said first; nothing is written behind an error.
    failed: io::Result<()>,
    /// What the sink was not given yet: whole values.
    text: Vec<u8>,
    /// A value has been written at this level, so the next needs a comma.
    comma: bool,
}

impl<'w> Out<'w> {
    pub(crate) fn to(sink: &'w mut dyn Write) -> Self {
        Self { sink, failed: Ok(()), text: Vec::new(), comma: false }
    }

    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.nest(b'{', b'}', fill);
    }

    pub(crate) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.nest(b'[', b']', |out| items.into_iter().for_each(|it| each(out, it)));
    }

    fn nest(&mut self, open: u8, close: u8, fill: impl FnOnce(&mut Self)) {
        self.separate();
        self.text.push(open);
        self.comma = false;
        fill(self);
        self.text.push(close);
        self.comma = true;
    }

    fn hand_on(&mut self) {
        if self.failed.is_ok() {
            self.failed = self.sink.write_all(&self.text);
        }
        self.text.clear();
    }

    fn separate(&mut self) {
        if self.text.len() >= PIECE {
            self.hand_on();
        }
        if self.comma {
            self.text.push(b',');
        }
        self.comma = true;
    }

    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.separate();
        write_str(&mut self.text, name);
        self.text.push(b':');
        self.comma = false;
        self
    }

    pub(crate) fn str(&mut self, text: &str) {
        self.separate();
        write_str(&mut self.text, text);
    }

    pub(crate) fn opt_str(&mut self, text: Option<&str>) {
        self.opt(text, Self::str);
    }

    pub(crate) fn number(&mut self, n: usize) {
        self.raw(&n.to_string());
    }

    pub(crate) fn opt_number(&mut self, n: Option<usize>) {
        self.opt(n, Self::number);
    }

    /// What is there, or `null`.
    pub(crate) fn opt<T>(&mut self, it: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match it {
            Some(it) => write(self, it),
            None => self.raw("null"),
        }
    }

    pub(crate) fn bool(&mut self, it: bool) {
        self.raw(if it { "true" } else { "false" });
    }

    pub(crate) fn span(&mut self, span: crate::span::Span) {
        self.array([span.start, span.end], Self::number);
    }

    /// Text that is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.separate();
        self.text.extend_from_slice(json.as_bytes());
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.hand_on();
        self.failed
    }
}
