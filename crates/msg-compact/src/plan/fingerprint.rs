//! Fingerprints of messages: whether a history is the one that a plan was made for. They guard
//! against mistakes, not against somebody who looks for collisions.

use msg_core::{Message, native};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{request::Sink, text::Fnv};

/// Fingerprints of a run of messages; written as one text of 16 hexadecimal digits each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fingerprints(Vec<u64>);

impl Fingerprints {
    pub(super) fn new(fingerprints: Vec<u64>) -> Self {
        Self(fingerprints)
    }

    /// The one of a text.
    pub(super) fn of_text(text: &str) -> Self {
        let mut hash = Fnv::new();
        hash.push_str(text);
        Self(vec![hash.finish()])
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first of these messages that a history does not have at its place.
    pub(super) fn first_difference(&self, history: &[Message]) -> Option<usize> {
        let same =
            self.0.iter().zip(history).take_while(|(it, message)| **it == fingerprint(message));
        let same = same.count();
        (same < self.0.len()).then_some(same)
    }
}

impl Serialize for Fingerprints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: String = self.0.iter().map(|it| format!("{it:016x}")).collect();
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fingerprints {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.as_bytes().chunks(16);
        digits
            .map(read)
            .collect::<Option<Vec<_>>>()
            .map(Self)
            .ok_or_else(|| D::Error::custom("expected fingerprints of 16 hexadecimal digits each"))
    }
}

fn read(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok().filter(|it| it.len() == 16)?;
    u64::from_str_radix(text, 16).ok()
}

/// A number that tells two messages apart that are not equal: of the tokens of its native JSON, which says all
/// that equality looks at.
pub(super) fn fingerprint(message: &Message) -> u64 {
    let mut text = Vec::new();
    native::write_message(message, &mut text);
    let mut hash = Fnv::new();
    for token in msg_json::tokens(&String::from_utf8_lossy(&text)) {
        hash.push_str(token);
        hash.push_str("\n");
    }
    hash.finish()
}
