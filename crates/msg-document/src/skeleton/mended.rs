//! The repair of a skeleton: which messages stay, and those that an edit touches, read whole.
//!
//! ```text
//! user 0 · assistant 1 (a call without an id) · tool 2 (no id)     skeletons, numbered
//!   ─ repair ─▶  1 and 2 are others now
//! user 0 · assistant, whole · tool, whole                          read from the JSON of the two
//!   ─ repair ─▶  [0,{"role":"assistant",…},{"role":"tool",…}]
//! ```

use msg_core::{Message, Origin};

use super::{MARK, needs_texts};
use crate::codec::WriteOptions;
use crate::document::Document;
use crate::format::Format;
use crate::repair::{RepairOptions, Repaired};

/// The mended list, with numbers for messages that stay; nothing where it depends on more than there is.
pub(super) fn repair(
    document: &mut Document,
    options: &RepairOptions,
    whole: impl FnOnce(&[usize]) -> Option<Vec<u8>>,
) -> Option<Repaired> {
    let before = document.take_messages();
    document.put_messages(before.iter().enumerate().map(numbered).collect());
    let mut edits = document.repair(options);
    let touched = touched(&before, document.messages());
    if !touched.is_empty() {
        let mut given: Vec<Message> = before.iter().enumerate().map(numbered).collect();
        for (at, message) in touched.iter().zip(read(&whole(&touched)?, touched.len())?) {
            given[*at] = message;
        }
        document.put_messages(given);
        edits = document.repair(options);
    }
    let mut list = Vec::new();
    for message in document.take_messages() {
        let json = written(message, &before)?;
        if !json.is_empty() {
            list.push(if list.is_empty() { b'[' } else { b',' });
            list.extend_from_slice(&json);
        }
    }
    list.extend_from_slice(if list.is_empty() { b"[]" } else { b"]" });
    let messages = before.len();
    (!needs_texts(&edits)).then_some(Repaired { document: list, changed: true, messages, edits })
}

/// Whose layout the number of a message is: it takes no part in equality and goes where the message goes.
const NUMBERED: Origin = Origin::Json;

fn numbered((at, message): (usize, &Message)) -> Message {
    let mut message = message.clone();
    message.extra.set_layout(NUMBERED, at.to_le_bytes());
    message
}

fn number(message: &Message) -> Option<usize> {
    Some(usize::from_le_bytes(message.extra.layout(&NUMBERED)?.try_into().ok()?))
}

/// The messages that are not what they were, and those that went, perhaps into others.
fn touched(before: &[Message], after: &[Message]) -> Vec<usize> {
    let mut is_kept = vec![false; before.len()];
    for message in after {
        if let Some(at) = number(message) {
            is_kept[at] = before[at] == *message;
        }
    }
    (0..before.len()).filter(|at| !is_kept[*at]).collect()
}

/// So many messages in a JSON array.
fn read(json: &[u8], n: usize) -> Option<Vec<Message>> {
    let content = Format::default().codec().read(json, "").ok()?;
    (content.messages.len() == n && content.notes.is_empty()).then_some(content.messages)
}

/// The number of a message if it is what it was, or else its JSON if it is whole: several objects where one cannot
/// hold it, or none.
fn written(message: Message, before: &[Message]) -> Option<Vec<u8>> {
    if let Some(at) = number(&message) {
        return (before[at] == message).then(|| at.to_string().into_bytes());
    }
    let mut json = Vec::new();
    let options = WriteOptions::default();
    Format::default().codec().write(&mut vec![message], &options, &mut json);
    // Something of a message that is not whole may have come into it.
    let is_whole = memchr::memmem::find(&json, MARK.encode_utf8(&mut [0; 4]).as_bytes()).is_none();
    let list = json.strip_prefix(b"[")?.strip_suffix(b"]")?;
    is_whole.then(|| list.to_vec())
}
