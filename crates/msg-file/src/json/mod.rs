//! The JSON form of documents (MF-58): members in a fixed order, written straight to text.
//!
//! Reading JSON is not done here, and neither is anything a library user cannot get from the types.
//!
//! ```text
//! {"ordinal":0,"kind":"message","level":1,"heading":"strong","title":"Question","id":"1","type":"markdown",…}   a cell
//! ```

mod cell;
mod document;

use crate::span::Span;
use msg_json::Writer;

fn number(out: &mut Writer<'_>, number: usize) {
    out.u64(number as u64);
}

fn span(out: &mut Writer<'_>, span: Span) {
    out.array([span.start, span.end], number);
}

/// What is there, or `null`.
fn optional<T>(out: &mut Writer<'_>, it: Option<T>, write: impl FnOnce(&mut Writer<'_>, T)) {
    match it {
        Some(it) => write(out, it),
        None => out.null(),
    }
}
