//! A value of a row that holds a conversation or half of one: what it says as a document, and the way back.

use std::ops::Range;

use msg_core::{Message, Part, Position};
use msg_json::{Kind, Reader, write_str};

use super::join::Half;
use crate::codec::WriteOptions;
use crate::fields::Found;
use crate::format::Format;
use crate::outline::Outline;
use crate::read_options::ReadOptions;
use crate::refusal::Refusal;

/// A value of the row.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) range: Range<usize>,
    pub(super) pointer: String,
    /// The value is a string that holds the JSON of the conversation.
    pub(super) is_encoded: bool,
    /// The value is a message alone, not a list of messages.
    pub(super) is_single: bool,
}

impl Side {
    /// A half of a conversation, in the form in which it came; in another format `anew`.
    pub(super) fn half(
        &self,
        row: &str,
        messages: Vec<Message>,
        format: Format,
        read: &ReadOptions,
        anew: impl FnOnce(Vec<Message>) -> Vec<u8>,
    ) -> Result<Vec<u8>, Refusal> {
        let old = self.text(row);
        let json = match Half::read(Some(old.as_bytes()), read)? {
            Half::Document(mut it) if it.format() == format => {
                it.put_edited(messages);
                format.laid_out(old.as_bytes(), it.written())
            }
            Half::Text(_) if only_text(&messages).is_some() => {
                let mut json = Vec::new();
                write_str(&mut json, only_text(&messages).unwrap_or_default());
                json
            }
            _ => anew(messages),
        };
        Ok(self.unwrapped(&json).to_vec())
    }

    /// What the value says: of a string that holds JSON, that JSON.
    pub(super) fn text(&self, row: &str) -> String {
        let value = &row[self.range.clone()];
        if self.is_encoded { string_of(value).unwrap_or_default() } else { value.to_owned() }
    }

    /// A list of one message as that message, where the value was a message.
    pub(super) fn unwrapped<'j>(&self, json: &'j [u8]) -> &'j [u8] {
        let only = || {
            let mut reader = Reader::new(json).ok()?;
            reader.begin_array().ok()?;
            reader.next_element().ok()?.then_some(())?;
            let message = reader.raw().ok()?;
            (!reader.next_element().ok()?).then_some(message.as_bytes())
        };
        if self.is_single { only().unwrap_or(json) } else { json }
    }

    /// The value as it is in the row.
    pub(super) fn value(&self, json: &[u8]) -> Vec<u8> {
        let json = json.trim_ascii_end();
        if !self.is_encoded {
            return json.to_vec();
        }
        let mut value = Vec::new();
        write_str(&mut value, &String::from_utf8_lossy(json));
        value
    }

    /// Moves the place of a finding from the document into the row.
    pub(super) fn place(&self, at: &mut Position, base: (usize, usize), keeps: bool) {
        let inner = at.pointer.take().filter(|_| keeps).unwrap_or_default();
        let inner = if self.is_single { below(&inner) } else { &inner };
        let pointer = format!("{}{inner}", self.pointer);
        at.pointer = Some(pointer).filter(|it| !it.is_empty());
        // The list around a message alone is not in the row.
        let added = usize::from(self.is_single);
        let (line, column) = match (at.line, at.column) {
            (Some(1), Some(column)) if keeps => (base.0, base.1 + column.saturating_sub(1 + added)),
            (Some(line), Some(column)) if keeps => (base.0 + line - 1, column),
            _ => base,
        };
        (at.line, at.column) = (Some(line), Some(column));
        let moved = |it: usize| keeps.then(|| (it + self.range.start).saturating_sub(added));
        (at.start, at.end) = (at.start.and_then(moved), at.end.and_then(moved));
    }
}

/// A value, and what it says as a document or a half of one; nothing where it is null.
pub(super) fn side(row: &str, Found { range, pointer }: Found) -> Option<(Side, String)> {
    let value = &row[range.clone()];
    if value == "null" {
        return None;
    }
    let encoded = string_of(value).filter(|it| holds_json(it));
    let mut side = Side { range, pointer, is_encoded: encoded.is_some(), is_single: false };
    let mut text = encoded.unwrap_or_else(|| value.to_owned());
    if is_single(&text) {
        side.is_single = true;
        text = format!("[{text}]");
    }
    Some((side, text))
}

/// Whether an object is a message alone, and a list of it a conversation.
fn is_single(text: &str) -> bool {
    let outline = Outline::of(text.as_bytes());
    let has = |name: &str| outline.member(name).is_some();
    let may_be = has("role") || has("kwargs") || has("type") && (has("data") || has("content"));
    may_be
        && Format::recognise(text.as_bytes(), "").is_err()
        && Format::recognise(format!("[{text}]").as_bytes(), "").is_ok()
}

/// Whether a text is JSON that may be a conversation.
fn holds_json(text: &str) -> bool {
    matches!(text.trim_ascii_start().as_bytes().first(), Some(b'[' | b'{'))
        && msg_json::validate(text).is_ok()
}

/// The text of a JSON string.
fn string_of(value: &str) -> Option<String> {
    value.starts_with('"').then(|| serde_json::from_str(value).ok()).flatten()
}

/// The text of a message that is nothing else.
fn only_text(messages: &[Message]) -> Option<&str> {
    match messages {
        [one] => match one.parts.as_slice() {
            [Part::Text(it)] => Some(&it.text),
            _ => None,
        },
        _ => None,
    }
}

/// Messages as the list that documents of a format hold them in.
pub(super) fn list_of(mut messages: Vec<Message>, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    format.codec().write(&mut messages, &WriteOptions::default(), &mut out);
    let list = || {
        let mut reader = Reader::new(&out).ok()?;
        if reader.peek().ok()? != Kind::Object {
            return None;
        }
        reader.begin_object().ok()?;
        while reader.next_key().ok()?.is_some() {
            let is_list = reader.peek().ok()? == Kind::Array;
            let value = reader.raw().ok()?;
            if is_list {
                return Some(value.as_bytes().to_vec());
            }
        }
        None
    };
    list().unwrap_or(out)
}

/// The step that a pointer begins with.
pub(super) fn first(pointer: &str) -> &str {
    pointer.split('/').nth(1).unwrap_or_default()
}

/// A pointer without its first step.
fn below(pointer: &str) -> &str {
    pointer.get(1..).and_then(|it| it.find('/')).map_or("", |at| &pointer[at + 1..])
}
