//! The repair of a document by its skeleton: the mended messages are put into the text that the document was read from.
//!
//! Only the messages that an edit touches are read whole, written and accounted for.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use msg_core::Diagnostic;
use msg_json::{Writer, to_text};

use super::mended::{self, MendedMessage};
use crate::answers::Repaired;
use crate::document::Document;
use crate::format::Format;
use crate::layout::{MessageList, Piece};
use crate::ledger::{losses_as_errors, lost_by_edits, lost_in_place};
use crate::options::RepairOptions;

/// The mended document, whose messages are at a place of its text; nothing where it depends on more than there is.
pub(super) fn repair(
    document: &mut Document,
    place: Range<usize>,
    json: &[u8],
    options: &RepairOptions,
) -> Option<Repaired> {
    let messages = document.messages().len();
    let list = OnceCell::new();
    let list = || {
        let found =
            list.get_or_init(|| MessageList::at(std::str::from_utf8(json).ok()?, place.clone()));
        found.as_ref().filter(|it| it.len() == messages)
    };
    let whole = |places: &[usize]| Some(elements(list()?, places)?.into_bytes());
    let (mended, mut edits) = mended::repair(document, options, whole)?;
    tracing::debug!(messages, edits = edits.len(), "repaired");
    let changed = !edits.is_empty();
    let mut text = Cow::Borrowed(json);
    if changed {
        let list = list()?;
        let pieces = pieces(list, &mended)?;
        text = Cow::Owned(list.spliced(&pieces));
        if !lost(list, &pieces, &edits)?.is_empty() {
            // What was kept may say it too.
            edits.extend(lost_by_edits(json, &text, Format::default(), &options.read, &edits));
        }
        if options.strict {
            losses_as_errors(&mut edits);
        }
    }
    let document = text.into_owned();
    Some(Repaired { document, changed, messages, edits, remaining: Vec::new() })
}

/// These elements as a list.
fn elements(list: &MessageList<'_>, places: &[usize]) -> Option<String> {
    let elements: Option<Vec<&str>> = places.iter().map(|it| list.element(*it)).collect();
    Some(format!("[{}]", elements?.join(",")))
}

/// The mended list as JSON.
fn pieces<'s>(list: &MessageList<'s>, mended: &'s [MendedMessage]) -> Option<Vec<Piece<'s>>> {
    let mut res = Vec::with_capacity(mended.len());
    for it in mended {
        res.push(match it {
            MendedMessage::Kept(at) => Piece::Kept(*at),
            MendedMessage::Changed(at, texts) => Piece::Changed(*at, list.changed(*at, texts)?),
            MendedMessage::Texts(texts) => {
                let members = |it: &mut Writer<'_>| {
                    it.object(|it| texts.iter().for_each(|(name, text)| it.key(name).str(text)));
                };
                Piece::New(Cow::Owned(to_text(members)))
            }
            MendedMessage::New(json) => {
                let several = MessageList::at(std::str::from_utf8(json).ok()?, 0..json.len())?;
                let elements = (0..several.len()).filter_map(|it| several.element(it));
                res.extend(elements.map(|it| Piece::New(Cow::Borrowed(it))));
                continue;
            }
        });
    }
    Some(res)
}

/// The values that are not in what was written, and that no edit names. What was kept is not looked at: a text without
/// letters represents it, which says nothing.
fn lost(
    list: &MessageList<'_>,
    pieces: &[Piece<'_>],
    edits: &[Diagnostic],
) -> Option<Vec<Diagnostic>> {
    let mut touched = vec![true; list.len()];
    for it in pieces {
        if let Piece::Kept(at) = it {
            *touched.get_mut(*at)? = false;
        }
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
        Piece::Changed(_, text) => Some(&**text),
        Piece::New(text) => Some(&**text),
    });
    let written = to_text(|it| it.array(written, |it, text| it.raw(text)));
    let messages = || native(list, &touched);
    Some(lost_in_place((&source, &written), Format::default(), edits, &messages))
}

/// Represents what was kept.
const NOTHING: &str = "\"\"";

/// The messages that were touched in native form, each in its place.
fn native(list: &MessageList<'_>, touched: &[bool]) -> Option<String> {
    let places: Vec<usize> = (0..touched.len()).filter(|it| touched[*it]).collect();
    let json = elements(list, &places)?;
    let read = Format::default().codec().read(json.as_bytes(), "").ok()?.messages;
    let mut read = read.iter();
    Some(to_text(|it| {
        it.array(touched, |it, is_touched| match is_touched.then(|| read.next()).flatten() {
            Some(message) => it.value(|out| msg_core::native::write_message(message, out)),
            None => it.raw(NOTHING),
        });
    }))
}
