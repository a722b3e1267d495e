//! Rows of logs, exports, batches and data sets: documents that hold a conversation in one of their members, or its
//! request in one and its answer in another (RW-1 to RW-8).
//!
//! ```text
//! {"id":7,"request":{"body":{"messages":[…]}}}     --field request.body
//! {"id":7,"input":[…],"output":{…}}                --join input,output
//!          └ taken out, answered, and put back; every other byte of the row stays
//! ```
//!
//! What the answer is, is for the commands; a conversation that is taken out of its row is a document like any other.

mod join;
mod side;
mod split;

use std::panic::{AssertUnwindSafe, catch_unwind};

use msg_core::{Code, Diagnostic};

pub use self::join::join;
pub use self::split::Row;
use crate::format::Format;
use crate::refusal::Refusal;

/// A row without a conversation.
fn no_conversation(text: String) -> Refusal {
    Diagnostic::error(Code::new("document::no-conversation"), text).into()
}

/// The findings that are not known yet: conversations with one request have its findings in common.
pub(crate) fn new_findings(known: &[Diagnostic], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_same = |one: &Diagnostic, other: &Diagnostic| {
        one.code == other.code
            && one.at.pointer == other.at.pointer
            && one.at.message == other.at.message
    };
    let is_new =
        |it: &Diagnostic| it.at.pointer.is_none() || !known.iter().any(|known| is_same(known, it));
    found.into_iter().filter(is_new).collect()
}

/// The format of all conversations that were changed.
pub(crate) fn one_format(formats: &[Format]) -> Result<Format, Refusal> {
    let first = formats.first().copied().unwrap_or_default();
    match formats.iter().find(|it| **it != first) {
        Some(other) => Err(Refusal::bad_option(format!(
            "the row has conversations of {first} and of {other}: name one of them"
        ))),
        None => Ok(first),
    }
}

/// The answer to one of many documents.
///
/// Fails as `answer` does, and with `document::panic` where it panics. The place is without a line: a row
/// is not a text of lines, and who counts rows knows its number (SC-18).
///
/// ```
/// use msg_document::{CheckOptions, answer_row, check};
///
/// let options = CheckOptions::default();
/// let rows = [&br#"[{"role":"user","content":"hi"}]"#[..], b"[", b"\xff"];
/// let ok: Vec<_> = rows.map(|row| answer_row(|| check(row, &options)).ok().map(|it| it.ok)).to_vec();
/// assert_eq!(ok, [Some(true), None, None]);
/// ```
pub fn answer_row<T>(answer: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    let answered = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| Err(panicked()));
    answered.map_err(|it| it.at_line(None))
}

fn panicked() -> Refusal {
    let text = "internal error: this is a defect of msg, please report it with this document";
    Diagnostic::error(Code::new("document::panic"), text).into()
}
