//! Fuzzes the reading of message files: identity, tails, formatting, history, edits.
#![no_main]

#[path = "../../../crates/msg-file/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

use msg_file::Mode;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (mode, bytes) = match bytes.split_first() {
        Some((0, rest)) => (Mode::Markdown, rest),
        _ => (Mode::MessageFile, bytes),
    };
    laws::identity(bytes, mode);
    laws::any_tail(bytes);
    laws::format_keeps_meaning(bytes, mode);
    laws::history_is_sound(bytes, mode);
    laws::edit_touches_its_cell(bytes, mode, "v&#10;");
});
