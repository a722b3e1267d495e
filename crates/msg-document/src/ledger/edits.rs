//! What became of the values of a document that was edited, or cut, and written again.

use std::borrow::Cow;
use std::collections::HashMap;

use msg_core::{Diagnostic, Message};
use msg_forms::turns::LowerOptions;
use serde_json::value::RawValue;

use super::{Told, account};
use crate::document::Document;
use crate::format::Format;
use crate::read_options::ReadOptions;

/// The values of a document that are not in what was written of it in its own format after these edits, and that none
/// of them names. Nothing for a session, which is written anew from its messages.
pub(crate) fn lost_by_edits(
    source: &[u8],
    written: &[u8],
    format: Format,
    read: &ReadOptions,
    edits: &[Diagnostic],
) -> Vec<Diagnostic> {
    if format.is_log() || source == written {
        return Vec::new();
    }
    let (read, lower) = (read.clone().with_from(Some(format)), LowerOptions::strict());
    let texts = json_of(source, format, &read, &lower).zip(json_of(written, format, &read, &lower));
    let Some((source, written)) = texts else { return Vec::new() };
    let messages = || match format.is_json() {
        true => native(source.as_bytes(), &read, &lower),
        false => Some(source.to_string()),
    };
    lost_in_place((&source, &written), format, edits, &messages)
}

/// As [`lost_by_edits`], of two texts of JSON. `messages` gives those of the source in native form, in which the edits
/// count.
pub(crate) fn lost_in_place(
    (source, written): (&str, &str),
    format: Format,
    edits: &[Diagnostic],
    messages: &dyn Fn() -> Option<String>,
) -> Vec<Diagnostic> {
    let told = Told {
        report: edits,
        behind: &[],
        from: format.name(),
        keeps_format: true,
        has_records: edits.iter().any(|it| it.code == "session::written-anew"),
        is_one: is_one(format, source),
        lacks_ids: false,
        messages,
    };
    account(source, written, &told).lost
}

/// What was cut out of a document, and how what is left was written.
pub(crate) struct Cut<'a> {
    pub(crate) format: Format,
    pub(crate) read: &'a ReadOptions,
    /// What is left, before it was written.
    pub(crate) messages: &'a [Message],
    /// What is said of it.
    pub(crate) edits: &'a [Diagnostic],
    /// Of chat messages that were written of it: the members that are left out. Of the document itself nothing.
    pub(crate) behind: Option<&'a [String]>,
}

impl Cut<'_> {
    /// The values of the source that are neither in what was written nor in a message that the cut took or changed.
    /// Nothing for a session that is written anew from its messages.
    pub(crate) fn lost(&self, source: &[u8], written: &[u8]) -> Vec<Diagnostic> {
        let (format, is_own) = (self.format, self.behind.is_none());
        if source == written || is_own && format.is_session() {
            return Vec::new();
        }
        let (read, lower) = (self.read.clone().with_from(Some(format)), LowerOptions::strict());
        let text = match is_own {
            true => json_of(written, format, &read, &lower),
            false => std::str::from_utf8(written).ok().map(Cow::Borrowed),
        };
        let before = native(source, &read, &lower);
        let texts = json_of(source, format, &read, &lower).zip(text).zip(before);
        let Some(((source, written), before)) = texts else { return Vec::new() };
        let mut after = Vec::new();
        msg_core::native::write(self.messages, &mut after);
        let after = String::from_utf8_lossy(&after);
        let gone = changed(&before, &after);
        let of_gone = |(at, _): &(usize, _)| {
            let code = "convert::lost-message".into();
            Diagnostic::warning(code, "cut").at_message(*at).with_fix("cut")
        };
        let mut report: Vec<_> = gone.iter().map(of_gone).collect();
        report.extend_from_slice(self.edits);
        // What the cut took is as good as written.
        let written = gone.iter().fold(written.into_owned(), |res, it| res + "\n" + it.1);
        let told = Told {
            report: &report,
            behind: self.behind.unwrap_or_default(),
            from: format.name(),
            keeps_format: is_own,
            has_records: format.is_session() || format.name() == "otel",
            is_one: is_one(format, &source),
            lacks_ids: false,
            messages: &|| Some(before.clone()),
        };
        account(&source, &written, &told).lost
    }
}

/// The messages that are not among those that are left, with their places.
fn changed<'b>(before: &'b str, after: &'b str) -> Vec<(usize, &'b str)> {
    let rows = |it| serde_json::from_str::<Vec<&RawValue>>(it).unwrap_or_default();
    let mut left: HashMap<&str, usize> = HashMap::new();
    let after = rows(after);
    after.iter().for_each(|it| *left.entry(it.get()).or_default() += 1);
    let mut gone: Vec<_> = rows(before).into_iter().map(RawValue::get).enumerate().collect();
    gone.retain(|(_, it)| match left.get_mut(it) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    });
    gone
}

/// Whether a document is one text, not lines of several.
pub(crate) fn is_one(format: Format, source: &str) -> bool {
    let end = || msg_json::value_end(source.as_bytes(), 0);
    !format.codec().spans_lines() || end() == Some(source.trim_end().len())
}

/// A document as JSON: itself, or the messages of one that is none.
pub(crate) fn json_of<'d>(
    document: &'d [u8],
    format: Format,
    read: &ReadOptions,
    lower: &LowerOptions,
) -> Option<Cow<'d, str>> {
    match format.is_json() {
        true => {
            let text = std::str::from_utf8(document).ok()?;
            Some(Cow::Borrowed(text.trim_start_matches('\u{feff}')))
        }
        false => native(document, read, lower).map(Cow::Owned),
    }
}

/// The messages of a document in native form.
pub(crate) fn native(document: &[u8], read: &ReadOptions, lower: &LowerOptions) -> Option<String> {
    let mut document = Document::read_unlowered(document, read).ok()?;
    document.lower(lower);
    let mut out = Vec::new();
    msg_core::native::write(document.messages(), &mut out);
    String::from_utf8(out).ok()
}
