//! A JSON object that is put together from members which are JSON already.
//!
//! Conversations are written by their own crates, byte for byte; wrapping them in a `Value` would
//! cost a copy and the spelling of numbers.

use serde::Serialize;

use crate::jsonl::to_json;

/// An object under construction. Names are this program's own and need no escaping.
#[derive(Debug, Default)]
pub(crate) struct Members(Vec<u8>);

impl Members {
    /// An object without members.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a value of this program.
    #[must_use]
    pub(crate) fn with(self, name: &str, value: &impl Serialize) -> Self {
        self.raw(name, &to_json(value))
    }

    /// Adds a value that is JSON already.
    #[must_use]
    pub(crate) fn raw(self, name: &str, json: &[u8]) -> Self {
        self.written(name, |out| out.extend_from_slice(json))
    }

    /// Adds a value that writes itself: a long one is not in memory twice.
    #[must_use]
    pub(crate) fn written(mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        self.next();
        self.0.extend_from_slice(format!("\"{name}\":").as_bytes());
        write(&mut self.0);
        self
    }

    /// Adds all members of an object that is JSON already.
    #[must_use]
    pub(crate) fn all_of(mut self, object: &[u8]) -> Self {
        let inner = object.strip_prefix(b"{").and_then(|it| it.strip_suffix(b"}"));
        if let Some(inner) = inner.filter(|it| !it.is_empty()) {
            self.next();
            self.0.extend_from_slice(inner);
        }
        self
    }

    /// The object.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            return b"{}".to_vec();
        }
        self.0.push(b'}');
        self.0
    }

    fn next(&mut self) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
    }
}
