//! The repair of a skeleton: the messages that are kept, changed or new. Messages whose meaning changes are
//! read whole.
//!
//! ```text
//! user 0 · assistant 1 (a call without an id) · tool 2 (no id) · user 3 · user 4        skeletons
//!   ─ repair ─▶  user 0 · assistant 1, other id · tool 2, other id · user, of 3 and 4
//! 1 and 2 have another member each; 3 and 4 are read from the JSON of the two, and all is repaired again
//!   ─ repair ─▶  Kept(0) · Changed(1, /tool_calls/0/id) · Changed(2, /tool_call_id) · New({"role":"user",…})
//! ```

use std::{borrow::Cow, cell::OnceCell};

use msg_chainast::{ChainRepairOptions as ChainOptions, MendedList, MessageOrigin};
use msg_core::{Diagnostic, Message, Part, Role, ToolCall, ToolResult};
use msg_formats::{
    Format, WriteOptions,
    account::{account_in_place, account_of_edits},
    layout::{ListPlace, MessageList, Piece, elements as elements_of},
    losses_as_errors,
};
use msg_json::{Writer, to_text};

use super::message::Names;
use super::{MARK, has_mark, needs_texts};
use crate::check::Repaired;
use crate::document::Document;
use crate::options::RepairOptions;
use crate::skeleton::mended;

/// A message of a repaired list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MendedMessage {
    /// The message with this index, unchanged.
    Kept(usize),
    /// The message with this index, with texts replaced at some places of its JSON, each named by its JSON Pointer
    /// (RFC 6901).
    Changed(usize, Vec<(String, String)>),
    /// A new message with these members, in this order. All values are texts.
    Texts(Vec<(&'static str, String)>),
    /// New messages as a JSON array: several if one object cannot hold the message, or none.
    New(Vec<u8>),
}

/// The repaired list; `None` if the repair requires the whole document.
pub(super) fn repair(
    document: &mut Document,
    names: &Names,
    options: &RepairOptions,
    whole: impl FnOnce(&[usize]) -> Option<Vec<u8>>,
) -> Option<(Vec<MendedMessage>, Vec<Diagnostic>)> {
    let chain = document.chain_options(options);
    let (after, mut edits) = repaired(document.messages(), &chain)?;
    if edits.is_empty() {
        return Some((Vec::new(), edits));
    }
    let before = Before { messages: document.messages(), whole: &[] };
    let mut messages = mended_messages(after?, &before);
    let touched = touched(&messages, document.messages().len());
    // Moving the breakpoint of a dropped message requires the whole document.
    if !touched.is_empty() && names.has_breakpoints() {
        return None;
    }
    if !touched.is_empty() {
        let mut given = document.take_messages();
        let read = read(&whole(&touched)?, touched.len())?;
        let whole = touched.iter().zip(read);
        let whole: Vec<_> =
            whole.map(|(at, it)| (*at, std::mem::replace(&mut given[*at], it))).collect();
        let (after, found) = repaired(&given, &chain)?;
        messages = mended_messages(after?, &Before { messages: &given, whole: &whole });
        edits = found;
    }
    let messages: Option<Vec<_>> = messages.into_iter().collect();
    let is_sound = |it: &Vec<MendedMessage>| !it.is_empty() && !needs_texts(&edits);
    messages.filter(is_sound).map(|messages| (messages, edits))
}

/// The repaired list and the edits; `None` if errors remain, because they require the whole document.
fn repaired<'m>(
    messages: &'m [Message],
    options: &ChainOptions,
) -> Option<(Option<MendedList<'m>>, Vec<Diagnostic>)> {
    let (list, mut found) = options.repaired(messages, &mut Document::ids());
    let is_left = |it: &Diagnostic| it.is_error() && it.fix.is_none();
    if found.iter().any(is_left) {
        return None;
    }
    found.retain(|it| it.fix.is_some());
    Some((list, found))
}

/// The messages of a document before the repair.
struct Before<'m> {
    messages: &'m [Message],
    /// The skeleton messages that were replaced by whole ones, each with its index.
    whole: &'m [(usize, Message)],
}

/// Compares each repaired message with those before. `None` for a message that must be read whole.
fn mended_messages(after: MendedList<'_>, before: &Before<'_>) -> Vec<Option<MendedMessage>> {
    let of = |(message, origin): (Cow<'_, Message>, MessageOrigin)| {
        let at = origin.message;
        let message = match message {
            Cow::Borrowed(_) => return Some(MendedMessage::Kept(at)),
            Cow::Owned(message) => message,
        };
        if origin.inserted {
            return texts(&message).map(MendedMessage::Texts).or_else(|| written(message));
        }
        let whole = before.whole.binary_search_by_key(&at, |it| it.0).ok();
        let own = whole.map_or_else(|| before.messages.get(at), |it| Some(&before.whole[it].1));
        match changes(own?, &message) {
            Some(none) if none.is_empty() => Some(MendedMessage::Kept(at)),
            Some(changes) => Some(MendedMessage::Changed(at, changes)),
            None if whole.is_some() => written(message),
            None => None,
        }
    };
    after.into_iter().map(of).collect()
}

/// The indices of messages whose meaning changed, and of those that were dropped or merged.
fn touched(messages: &[Option<MendedMessage>], n_before: usize) -> Vec<usize> {
    let mut is_own = vec![false; n_before];
    for message in messages.iter().flatten() {
        if let MendedMessage::Kept(at) | MendedMessage::Changed(at, _) = message {
            is_own[*at] = true;
        }
    }
    (0..n_before).filter(|at| !is_own[*at]).collect()
}

/// The changed texts of a message by JSON Pointer; `None` if anything else changed.
fn changes(before: &Message, after: &Message) -> Option<Vec<(String, String)>> {
    let is_same = before.role == after.role && before.name == after.name;
    if !is_same || before.extra != after.extra || before.parts.len() != after.parts.len() {
        return None;
    }
    let (mut changes, mut n_calls) = (Vec::new(), 0);
    for parts in before.parts.iter().zip(&after.parts) {
        match parts {
            (Part::ToolCall(before), Part::ToolCall(after)) => {
                call_changes(before, after, n_calls, &mut changes)?;
                n_calls += 1;
            }
            (Part::ToolResult(before), Part::ToolResult(after)) => {
                result_changes(before, after, &mut changes)?;
            }
            (before, after) => (before == after).then_some(())?,
        }
    }
    Some(changes)
}

fn call_changes(
    before: &ToolCall,
    after: &ToolCall,
    call: usize,
    changes: &mut Vec<(String, String)>,
) -> Option<()> {
    let n_changes = changes.len();
    let mut compare = |place, before: &str, after: &str| {
        if before != after {
            changes.push((format!("/tool_calls/{call}/{place}"), after.to_owned()));
        }
    };
    compare("id", &before.id, &after.id);
    compare("type", before.kind.as_str(), after.kind.as_str());
    compare("function/arguments", before.arguments.text(), after.arguments.text());
    let is_same = before.name == after.name && before.signature == after.signature;
    // A call in the old form becomes one in the new form.
    let has_place = before.extra.is_empty() || changes.len() == n_changes;
    (is_same && has_place && before.extra == after.extra).then_some(())
}

fn result_changes(
    before: &ToolResult,
    after: &ToolResult,
    changes: &mut Vec<(String, String)>,
) -> Option<()> {
    let is_same = before.is_error == after.is_error
        && before.kind == after.kind
        && before.name == after.name
        && before.extra == after.extra;
    if before.call_id != after.call_id {
        changes.push(("/tool_call_id".to_owned(), after.call_id.clone()));
    }
    (is_same && before.content == after.content).then_some(())
}

/// Reads a JSON array of `n` messages.
pub(super) fn read(json: &[u8], n: usize) -> Option<Vec<Message>> {
    let (messages, notes) = Format::default().read_messages(json).ok()?;
    (messages.len() == n && notes.is_empty()).then_some(messages)
}

/// The JSON of a whole message.
fn written(message: Message) -> Option<MendedMessage> {
    let mut json = Vec::new();
    let options = WriteOptions::default();
    Format::default().write_messages(&mut vec![message], &options, &mut json);
    // Text of a skeleton message may have been merged into it.
    let is_whole = memchr::memmem::find(&json, MARK.encode_utf8(&mut [0; 4]).as_bytes()).is_none();
    is_whole.then_some(MendedMessage::New(json))
}

/// The members of an inserted message: a user text, or a result.
fn texts(message: &Message) -> Option<Vec<(&'static str, String)>> {
    let [part] = message.parts.as_slice() else { return None };
    let (role, call_id, name, text) = match (&message.role, part) {
        (Role::User, Part::Text(it)) => ("user", None, None, &*it.text),
        (Role::Tool, Part::ToolResult(it)) if !it.is_error => {
            ("tool", Some(&*it.call_id), it.name.as_deref(), it.content.as_text()?)
        }
        _ => return None,
    };
    let members =
        [("role", Some(role)), ("tool_call_id", call_id), ("name", name), ("content", Some(text))];
    let texts = members.into_iter().filter_map(|(member, text)| Some((member, text?)));
    let is_plain = |text: &str| !text.is_empty() && !has_mark(text);
    texts.map(|(member, text)| is_plain(text).then(|| (member, text.to_owned()))).collect()
}

// Repair of a document by its skeleton: the repaired messages replace those in the source text.
//
// Reads, writes and accounts for only the messages that an edit touches.

/// The repaired document; `None` if the repair requires the whole document.
pub(super) fn repair_in_place(
    document: &mut Document,
    names: &Names,
    (place, json): (&ListPlace, &str),
    options: &RepairOptions,
) -> Option<Repaired> {
    let messages = document.messages().len();
    let list = OnceCell::new();
    let list = || {
        let found = list.get_or_init(|| MessageList::at(json, place));
        found.as_ref()
    };
    let whole = |places: &[usize]| Some(elements(list()?, places)?.into_bytes());
    let (mended, mut edits) = mended::repair(document, names, options, whole)?;
    tracing::debug!(messages, edits = edits.len(), "repaired");
    let changed = !edits.is_empty();
    let mut text = Cow::Borrowed(json.as_bytes());
    if changed {
        let list = list()?;
        let pieces = pieces(list, &mended)?;
        text = Cow::Owned(list.spliced(&pieces));
        if !lost(list, &pieces, &edits)?.is_empty() {
            // The value may also be in a message that was kept.
            let found =
                account_of_edits(json.as_bytes(), &text, Format::default(), &options.read, &edits);
            edits.extend(found.lost);
        }
        if options.strict {
            losses_as_errors(&mut edits);
        }
    }
    let (document, format) = (text.into_owned(), Format::default());
    Some(Repaired { document, format, changed, messages, edits, remaining: Vec::new() })
}

/// These elements as a list.
fn elements(list: &MessageList<'_>, places: &[usize]) -> Option<String> {
    let elements: Option<Vec<&str>> = places.iter().map(|it| list.element(*it)).collect();
    Some(format!("[{}]", elements?.join(",")))
}

/// The repaired list as JSON, in pieces.
fn pieces<'s>(list: &MessageList<'s>, mended: &'s [MendedMessage]) -> Option<Vec<Piece<'s>>> {
    let mut res = Vec::with_capacity(mended.len());
    for it in mended {
        res.push(match it {
            MendedMessage::Kept(at) => Piece::Kept(*at),
            MendedMessage::Changed(at, texts) => Piece::Changed(*at, list.changed(*at, texts)?),
            MendedMessage::Texts(texts) => {
                let members = |it: &mut Writer<'_>| {
                    it.object(|it| {
                        texts.iter().for_each(|(name, text)| it.plain_key(name).str(text));
                    });
                };
                Piece::Compact(to_text(members))
            }
            MendedMessage::New(json) => {
                let several = elements_of(std::str::from_utf8(json).ok()?);
                res.extend(several.map(|it| Piece::New(Cow::Borrowed(it))));
                continue;
            }
        });
    }
    Some(res)
}

/// The values that are missing in the written text and that no edit names. Kept messages are not compared: an empty
/// text represents them.
fn lost(
    list: &MessageList<'_>,
    pieces: &[Piece<'_>],
    edits: &[Diagnostic],
) -> Option<Vec<Diagnostic>> {
    let mut touched = vec![true; list.n_elements()];
    for it in pieces {
        if let Piece::Kept(at) = it {
            *touched.get_mut(*at)? = false;
        }
    }
    if !touched.contains(&true) {
        return Some(Vec::new());
    }
    let all = |it: &mut Writer<'_>| {
        it.array(touched.iter().enumerate(), |it, (at, is_touched)| {
            it.raw(list.element(at).filter(|_| *is_touched).unwrap_or(NOTHING));
        });
    };
    let source = to_text(|it| match list.is_document() {
        true => all(it),
        false => it.object(|it| all(it.key("messages"))),
    });
    let written = pieces.iter().filter_map(|it| match it {
        Piece::Kept(_) => None,
        Piece::Changed(_, text) | Piece::Compact(text) => Some(&**text),
        Piece::New(text) => Some(&**text),
    });
    let written = to_text(|it| it.array(written, |it, text| it.raw(text)));
    let messages = || native(list, &touched);
    Some(account_in_place((&source, &written), Format::default(), edits, &messages).lost)
}

/// The empty text that represents kept messages.
const NOTHING: &str = "\"\"";

/// The touched messages in native form, each at its index.
fn native(list: &MessageList<'_>, touched: &[bool]) -> Option<String> {
    let places: Vec<usize> = (0..touched.len()).filter(|it| touched[*it]).collect();
    let json = elements(list, &places)?;
    let read = Format::default().read_messages(json.as_bytes()).ok()?.0;
    let mut read = read.iter();
    Some(to_text(|it| {
        it.array(touched, |it, is_touched| match is_touched.then(|| read.next()).flatten() {
            Some(message) => it.value(|out| msg_core::native::write_message(message, out)),
            None => it.raw(NOTHING),
        });
    }))
}
