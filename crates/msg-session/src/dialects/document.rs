//! Sessions that are one JSON document and are read only: what can be said about their frame.

use super::Checked;
use crate::Dialect;
use crate::Error;
use crate::finding::Finding;
use crate::frame::{Array, clean};
use crate::json::{Object, Value};
use crate::options::RepairOptions;

/// The list of a document, itself or at the first of these paths where there is one.
pub(super) fn list<'a>(bytes: &'a [u8], paths: &[&str]) -> Array<'a> {
    crate::frame::read_at(bytes, paths)
}

/// The diagnosis of a document that has no list to mend.
pub(super) fn check_text(bytes: &[u8]) -> Checked {
    let mut findings: Vec<Finding> = Vec::new();
    let text = clean(bytes, &mut findings);
    if Value::whole(&text, 0).is_none() {
        let at = crate::finding::Place::line(1);
        let message = "the document is not JSON";
        findings.push(Finding::error("session::not-readable", at, message));
        return Checked::unreadable(findings);
    }
    Checked::of_text(&text, 1, 1, findings, Vec::new())
}

/// The object that a document is.
pub(super) fn object<'a>(text: &'a str, dialect: Dialect) -> Result<Object<'a>, Error> {
    Value::whole(text, 0).and_then(|it| it.object()).ok_or_else(|| {
        let found = msg_json::validate(text);
        let offset = found.as_ref().err().map_or(0, |it| it.offset);
        let reason =
            found.err().map_or_else(|| "no object".to_owned(), |it| it.problem.to_string());
        Error::Unreadable { dialect, offset, reason }
    })
}

/// The text of a document after the frame rules.
pub(super) fn text(bytes: &[u8]) -> (std::borrow::Cow<'_, str>, Vec<Finding>) {
    let mut findings = Vec::new();
    let text = clean(bytes, &mut findings);
    (text, findings)
}

/// The index that a leaf names, in a document of several conversations.
pub(super) fn number(options: &RepairOptions, count: usize) -> Result<usize, Error> {
    match &options.leaf {
        Some(leaf) => {
            let at = leaf.parse().ok().filter(|it: &usize| *it < count);
            at.ok_or_else(|| Error::NoLeaf(leaf.clone()))
        }
        None if count > 1 => Err(Error::Several { count }),
        None => Ok(0),
    }
}
