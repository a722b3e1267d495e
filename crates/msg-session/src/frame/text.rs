//! The text of a document or of lines without what keeps it from being one: a byte order mark, NUL bytes,
//! sequences that are no UTF-8 (SE-20 to SE-22). Lines that are no JSON are `lines`' to mend.

use std::borrow::Cow;

use super::byte_order_mark;
use crate::Blob;
use crate::finding::{Finding, Place};
use crate::json::Object;

/// The text without a byte order mark, NUL bytes and sequences that are no UTF-8.
pub(crate) fn clean<'a>(bytes: &'a [u8], findings: &mut Vec<Finding>) -> Cow<'a, str> {
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => {
            findings.push(byte_order_mark());
            rest
        }
        None => bytes,
    };
    without_damage(bytes, findings)
}

fn without_damage<'a>(bytes: &'a [u8], findings: &mut Vec<Finding>) -> Cow<'a, str> {
    let bytes = without_nul(bytes, findings);
    if let Err(it) = std::str::from_utf8(&bytes) {
        let line = line_of(&bytes, it.valid_up_to());
        let message = "it is not UTF-8";
        let finding = Finding::error("session::invalid-utf8", Place::line(line), message);
        findings.push(finding.mended("replace each bad sequence with U+FFFD", false));
    }
    match bytes {
        Cow::Borrowed(it) => String::from_utf8_lossy(it),
        Cow::Owned(it) => Cow::Owned(String::from_utf8_lossy(&it).into_owned()),
    }
}

fn without_nul<'a>(bytes: &'a [u8], findings: &mut Vec<Finding>) -> Cow<'a, [u8]> {
    let Some(first) = memchr::memchr(0, bytes) else { return Cow::Borrowed(bytes) };
    let message = "it holds NUL bytes, as after a power loss";
    let finding = Finding::error("session::nul-bytes", Place::line(line_of(bytes, first)), message);
    findings.push(finding.mended("remove the NUL bytes", false));
    Cow::Owned(bytes.iter().copied().filter(|it| *it != 0).collect())
}

pub(crate) fn line_of(bytes: &[u8], at: usize) -> u32 {
    let count = memchr::memchr_iter(b'\n', bytes.get(..at).unwrap_or_default()).count();
    u32::try_from(count + 1).unwrap_or(u32::MAX)
}

/// As [`clean`], of lines: each damaged line is a finding of its own.
pub(crate) fn clean_all_lines<'a>(bytes: &'a [u8], findings: &mut Vec<Finding>) -> Cow<'a, str> {
    let rest = bytes.strip_prefix(b"\xef\xbb\xbf");
    findings.extend(rest.map(|_| byte_order_mark()));
    let bytes = rest.unwrap_or(bytes);
    if memchr::memchr(0, bytes).is_none()
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Cow::Borrowed(text);
    }
    let mut res = String::with_capacity(bytes.len());
    for (at, line) in bytes.split_inclusive(|it| *it == b'\n').enumerate() {
        let mut found = Vec::new();
        res.push_str(&without_damage(line, &mut found));
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        findings.extend(found.into_iter().map(|it| Finding { at: Place::line(number), ..it }));
    }
    Cow::Owned(res)
}

/// The text of a file that is one record, and what was wrong with it; nothing is where no record can be
/// saved.
pub(crate) fn clean_record(blob: &Blob, place: Place) -> (Cow<'_, str>, Vec<Finding>) {
    let mut findings = Vec::new();
    let text = clean(&blob.bytes, &mut findings);
    if !findings.is_empty() && Object::whole(&text, 0).is_none() {
        findings.clear();
    }
    findings.iter_mut().for_each(|it| it.at = Place { line: it.at.line, ..place });
    (text, findings)
}
