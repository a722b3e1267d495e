//! Fuzzes the readers and writers of `msg-core` and `msg-forms`: bytes in all its forms, and the laws over whatever
//! they hold.
#![no_main]

#[path = "../../../crates/msg-forms/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

use msg_core::native;
use msg_forms::turns::{self, LowerOptions};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::reading_is_total(bytes);
    laws::plain_comes_back_as_it_was(bytes);
    if let Ok((messages, _)) = native::read(bytes) {
        laws::native_holds_everything(&messages);
        messages.iter().for_each(laws::an_empty_report_means_no_loss);
        messages.iter().for_each(laws::argument_text_survives_turns);
    }
    if let Ok((turns, _)) = turns::read(bytes) {
        laws::turns_come_back(&turns);
        laws::strict_lowering_is_safe(&turns, &LowerOptions::strict());
    }
});
