//! A row: one of many documents, whose answer is a value whatever the row is (SC-12).
//!
//! A panic is a defect of this workspace; it costs its row and no other. Where panics abort, as in a small
//! WebAssembly build, it costs the process as any other would. Splitting lines, columns and threads are
//! the caller's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use msg_core::{Code, Diagnostic};

use crate::refusal::Refusal;

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
