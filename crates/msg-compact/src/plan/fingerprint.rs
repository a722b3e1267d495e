//! Fingerprints of messages: whether a history is the one that a plan was made for. They guard
//! against mistakes, not against somebody who looks for collisions.

use msg_core::{Content, Extra, Message, Part, json};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Fingerprints of a run of messages; written as one text of 16 hexadecimal digits each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fingerprints(Vec<u64>);

impl Fingerprints {
    pub(super) fn new(fingerprints: Vec<u64>) -> Self {
        Self(fingerprints)
    }

    /// The one of a text.
    pub(super) fn of_text(text: &str) -> Self {
        let mut state = State(SEED);
        state.text(text);
        Self(vec![state.0])
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

/// A number that tells two messages apart that are not equal.
pub(super) fn fingerprint(message: &Message) -> u64 {
    let mut state = State(SEED);
    state.text(message.role.as_str());
    state.option(message.name.as_deref());
    state.parts(&message.parts);
    state.extra(&message.extra);
    state.0
}

const SEED: u64 = 0x243F_6A88_85A3_08D3;
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

struct State(u64);

impl State {
    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ FACTOR.rotate_left(17);
    }

    fn text(&mut self, text: &str) {
        let chunks = text.as_bytes().chunks_exact(8);
        let mut rest = [0; 8];
        rest[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        for chunk in chunks {
            self.word(u64::from_le_bytes(chunk.try_into().expect("the chunk is eight bytes")));
        }
        self.word(u64::from_le_bytes(rest));
        self.word(text.len() as u64);
    }

    fn option(&mut self, text: Option<&str>) {
        self.word(u64::from(text.is_some()));
        self.text(text.unwrap_or_default());
    }

    fn parts(&mut self, parts: &[Part]) {
        self.word(parts.len() as u64);
        for part in parts {
            self.text(part.kind());
            self.members(part);
            self.extra(part.extra());
        }
    }

    fn members(&mut self, part: &Part) {
        match part {
            Part::Text(it) | Part::Refusal(it) => self.text(&it.text),
            Part::Reasoning(it) => {
                self.word(it.summary.as_ref().map_or(0, |it| it.len() as u64 + 1));
                it.summary.iter().flatten().for_each(|it| self.text(it));
                self.options([&it.text, &it.signature, &it.redacted, &it.encrypted]);
            }
            Part::Image(it) => self.options([&it.url, &it.file_id, &it.media_type, &it.detail]),
            Part::Audio(it) => self.options([&it.id, &it.data, &it.format, &it.transcript]),
            Part::File(it) => {
                self.options([&it.file_id, &it.url, &it.data, &it.filename, &it.media_type]);
            }
            Part::ToolCall(it) => {
                [&it.id, &it.name].into_iter().for_each(|it| self.text(it));
                self.text(it.kind.as_str());
                self.text(it.arguments.text());
                self.option(it.signature.as_deref());
            }
            Part::ToolResult(it) => {
                self.text(&it.call_id);
                self.text(it.kind.as_str());
                self.option(it.name.as_deref());
                self.word(u64::from(it.is_error));
                self.content(&it.content);
            }
            Part::Other(it) => {
                self.text(it.format.as_str());
                self.option(it.place.map(|it| it.as_str()));
                json::tokens(it.value.text()).for_each(|it| self.text(it));
            }
            _ => {}
        }
    }

    fn content(&mut self, content: &Content) {
        self.parts(content.parts());
    }

    fn options<const N: usize>(&mut self, texts: [&Option<String>; N]) {
        texts.into_iter().for_each(|it| self.option(it.as_deref()));
    }

    fn extra(&mut self, extra: &Extra) {
        self.word(extra.len() as u64);
        for (origin, name, value) in extra.all() {
            self.text(origin.as_str());
            self.text(name);
            json::tokens(value.text()).for_each(|it| self.text(it));
        }
    }
}
