//! What WebAssembly exports: numbers and places only.

#![allow(unsafe_code, reason = "an exported symbol is named without mangling")]

use crate::state::{Status, with_state};

/// The place of `len` bytes for the next call to read.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    with_state(|it| it.input_of(len))
}

/// Understands the options of an act, the first `len` bytes of the input: their number from 1, or 0 where the answer is
/// the refusal.
#[unsafe(no_mangle)]
pub extern "C" fn options(act: u32, len: usize) -> u32 {
    with_state(|it| it.understand(act, len))
}

/// Acts on the first `len` bytes of the input. `kept` is 1 where the answer names the elements that did not change
/// instead of repeating them.
#[unsafe(no_mangle)]
pub extern "C" fn call(options: u32, len: usize, kept: u32) -> Status {
    with_state(|it| it.call(options, len, kept != 0))
}

/// Forgets all options that were understood.
#[unsafe(no_mangle)]
pub extern "C" fn forget() {
    with_state(|it| it.forget());
}

/// Opens a parser of model text or of a stream with options that were understood: its number from 1, or 0 where these
/// are options of something else.
#[unsafe(no_mangle)]
pub extern "C" fn open(options: u32) -> u32 {
    with_state(|it| it.open(options))
}

/// Feeds the first `len` bytes of the input; the answer is a list of events.
#[unsafe(no_mangle)]
pub extern "C" fn feed(parser: u32, len: usize) -> Status {
    with_state(|it| it.feed(parser, len))
}

/// Ends what is fed; the answer is what `feed` has not said yet.
#[unsafe(no_mangle)]
pub extern "C" fn finish(parser: u32) -> Status {
    with_state(|it| it.finish(parser))
}

/// Drops a parser that is not finished.
#[unsafe(no_mangle)]
pub extern "C" fn close(parser: u32) {
    with_state(|it| it.close(parser));
}

/// The place of the answer's document.
#[unsafe(no_mangle)]
pub extern "C" fn document() -> *const u8 {
    with_state(|it| it.answer.document.as_ptr())
}

/// Its length.
#[unsafe(no_mangle)]
pub extern "C" fn document_len() -> usize {
    with_state(|it| it.answer.document.len())
}

/// The place of the answer's report, which is JSON.
#[unsafe(no_mangle)]
pub extern "C" fn report() -> *const u8 {
    with_state(|it| it.answer.report.as_ptr())
}

/// Its length.
#[unsafe(no_mangle)]
pub extern "C" fn report_len() -> usize {
    with_state(|it| it.answer.report.len())
}
