//! Accounts for the values of a document that was edited or cut, and written in its own format. Does not cover the
//! losses of a conversion.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use msg_core::{Diagnostic, Message};
use msg_forms::turns::LowerOptions;
use msg_session::{Blob, Session};
use serde_json::value::RawValue;

use super::{Account, MadeUp, Told, account, is_one, json_of, native, rules};
use crate::format::Format;
use crate::formats::document_in;
use crate::layout::{elements, list_named};
use crate::options::ReadOptions;

/// Accounts for the values of a document that was written in its own format after these edits.
pub fn account_of_edits(
    source: &[u8],
    written: &[u8],
    format: Format,
    read: &ReadOptions,
    edits: &[Diagnostic],
) -> Account {
    let is_log = format.is_session() && format.has_records();
    // A moved session has a new id and folder.
    if source == written || is_log && !is_anew(edits) {
        return Account::default();
    }
    let (read, lower) = (read.clone().with_from(Some(format)), LowerOptions::strict());
    let source = &*if format.is_session() { document_in(source) } else { source.into() };
    let texts = json_of(source, format, &read, &lower).zip(json_of(written, format, &read, &lower));
    let Some((source, written)) = texts else { return Account::default() };
    let messages = || match format.is_json() {
        true => native(source.as_bytes(), &read, &lower),
        false => Some(source.to_string()),
    };
    account_in_place((&source, &written), format, edits, &messages)
}

/// As [`account_of_edits`], for two JSON texts. `messages` returns the messages of the source in native form, to which
/// the indices of the edits refer.
pub fn account_in_place(
    (source, written): (&str, &str),
    format: Format,
    edits: &[Diagnostic],
    messages: &dyn Fn() -> Option<String>,
) -> Account {
    let is_anew = is_anew(edits);
    let told = Told {
        report: edits,
        left_out: &[],
        from: format.name(),
        keeps_format: true,
        has_records: format.has_records() && is_anew,
        bookkeeping: (format.has_records() && is_anew).then(String::new),
        is_one: is_one(format, source),
        lacks_ids: false,
        has_text_calls: false,
        // They are spelled the same in the output.
        has_settings: false,
        made_up: MadeUp::default(),
        kept: None,
        messages,
    };
    account(source, written, &told)
}

/// Whether a report says that only the messages of a session are written.
fn is_anew(report: &[Diagnostic]) -> bool {
    report.iter().any(|it| it.code == "session::written-anew")
}

/// Adds to a report which members of an agent's records are left out (SE-81).
pub fn name_left_out(report: &mut [Diagnostic], names: &[String]) {
    let Some(it) = report.iter_mut().find(|it| it.code == "session::written-anew") else { return };
    if !names.is_empty() {
        let names: Vec<_> = names.iter().map(|it| format!("`{it}`")).collect();
        let names = names.join(", ");
        let fix = format!(
            "left out of its records: {names}; `msg doctor --fix` mends a session in place"
        );
        it.fix = Some(fix.into());
    }
}

/// A document of which messages were cut, and how the rest was written.
#[derive(Debug)]
pub struct Cut<'a> {
    /// The format of the document.
    pub format: Format,
    /// The options that it was read with.
    pub read: &'a ReadOptions,
    /// The remaining messages, before they were written.
    pub messages: &'a [Message],
    /// The edits that were reported.
    pub edits: &'a [Diagnostic],
    /// The members that are left out, if chat messages were written instead of the document; else `None`.
    pub left_out: Option<&'a [String]>,
}

impl Cut<'_> {
    /// Accounts for the values of the source. A value is lost if it is neither in `written` nor in a message that was
    /// cut or changed.
    pub fn account(&self, source: &[u8], written: &[u8]) -> Account {
        let (format, is_own) = (self.format, self.left_out.is_none());
        if source == written {
            return Account::default();
        }
        let (read, lower) = (self.read.clone().with_from(Some(format)), LowerOptions::strict());
        let text = match is_own {
            true => json_of(written, format, &read, &lower),
            false => std::str::from_utf8(written).ok().map(Cow::Borrowed),
        };
        let before = native(source, &read, &lower);
        let texts = json_of(source, format, &read, &lower).zip(text).zip(before);
        let Some(((source, written), before)) = texts else {
            return Account::default();
        };
        let mut after = Vec::new();
        msg_core::native::write(self.messages, &mut after);
        let after = String::from_utf8_lossy(&after);
        let gone = changed(&before, &after);
        if is_own && is_cut_of(format, &source, &written, gone.len()) {
            return Account::default();
        }
        let of_gone = |(at, _): &(usize, _)| {
            let code = "convert::lost-message".into();
            Diagnostic::warning(code, "cut").at_message(*at).with_fix("cut")
        };
        let mut report: Vec<_> = gone.iter().map(of_gone).collect();
        report.extend_from_slice(self.edits);
        let kept = Kept::of(&source, &written).filter(|_| is_own);
        // Values removed by the cut count as written.
        let written = gone.iter().fold(written.into_owned(), |res, it| res + "\n" + it.1);
        let told = Told {
            report: &report,
            left_out: self.left_out.unwrap_or_default(),
            from: format.name(),
            keeps_format: is_own,
            has_records: format.has_records() || format.name() == "otel",
            bookkeeping: (format.has_records() || format.name() == "otel").then(String::new),
            is_one: is_one(format, &source),
            lacks_ids: false,
            has_text_calls: self.read.calls.are_in_texts(format),
            has_settings: !is_own && !format.has_records(),
            made_up: MadeUp::default(),
            kept,
            messages: &|| Some(before.clone()),
        };
        account(&source, &written, &told)
    }
}

/// Whether a document was written with everything that was read, except for elements, at most as many as messages were
/// removed.
fn is_cut_of(format: Format, source: &str, written: &str, n_gone: usize) -> bool {
    let has_lines = !is_one(format, source);
    let records = |text: &str| -> Option<(String, Vec<String>)> {
        let text = text.trim();
        let list = match format.name().parse() {
            // Each line is an element.
            Ok(_) if has_lines => {
                let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
                return Some((String::new(), lines.map(str::to_owned).collect()));
            }
            Ok(dialect) => Session::new(dialect, vec![Blob::new("", text)]).list_of_messages()?,
            Err(_) => list_named(text, rules::holds_conversation)?,
        };
        let around = [&text[..list.start], &text[list.end..]].concat();
        Some((around, elements(&text[list]).map(str::to_owned).collect()))
    };
    let Some((before, after)) = records(source).zip(records(written)) else { return false };
    let mut left = before.1.iter();
    let is_part = after.1.iter().all(|it| left.any(|other| other == it));
    is_part && before.0 == after.0 && before.1.len() - after.1.len() <= n_gone
}

/// Elements of one list that are also in another.
pub(crate) struct Kept {
    /// The name of the member with the list; `None` if the list is the document.
    name: Option<String>,
    elements: BTreeSet<usize>,
}

impl Kept {
    /// The elements of the source's list that are unchanged in the output.
    pub(super) fn of(source: &str, written: &str) -> Option<Self> {
        let (source, written) = (source.trim(), written.trim());
        let list = list_named(source, rules::holds_conversation)?;
        let others = &written[list_named(written, rules::holds_conversation)?];
        let mut left: HashMap<&str, usize> = HashMap::new();
        elements(others).for_each(|it| *left.entry(it).or_default() += 1);
        let mut all: Vec<_> = elements(&source[list.clone()]).enumerate().collect();
        // From the end, where the remaining part of a conversation usually is.
        all.reverse();
        all.retain(|(_, it)| match left.get_mut(it) {
            Some(count @ 1..) => {
                *count -= 1;
                true
            }
            _ => false,
        });
        let before = source[..list.start].trim_end().strip_suffix(':').map(str::trim_end);
        let name = before.and_then(|it| it.strip_suffix('"')?.rsplit('"').next());
        Some(Kept {
            name: name.map(str::to_owned),
            elements: all.into_iter().map(|it| it.0).collect(),
        })
    }

    /// Whether one of them contains the value at these steps.
    pub(super) fn have(&self, steps: &[String]) -> bool {
        let index = match (&self.name, steps) {
            (Some(name), [first, index, ..]) if name == first => index,
            (None, [index, ..]) => index,
            _ => return false,
        };
        index.parse().is_ok_and(|it: usize| self.elements.contains(&it))
    }
}

/// The messages that are not among the remaining ones, with their indexes.
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
