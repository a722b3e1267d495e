//! Fuzzes sequences of edits, and normalised ids: sizes, lookups and links stay right.
#![no_main]

#[path = "../../../crates/msg-chainast/tests/it/hostile.rs"]
#[allow(dead_code, reason = "the other target has the other choices")]
mod hostile;
#[path = "../../../crates/msg-chainast/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

use msg_chainast::{ChainAst, ChainRepairOptions, SeededIds, constants::TOOL_CALL_ID_PATTERN};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = hostile::Choices::new(bytes);
    let messages = choices.chain(12);
    let options = ChainRepairOptions::new();
    let (mut chain, _) = ChainAst::repair(messages, &options, &mut SeededIds::new(3));
    if let Ok(pattern) = TOOL_CALL_ID_PATTERN.parse() {
        laws::ids_are_normalized(&chain, &pattern);
    }
    for _ in 0..30 {
        choices.edit(&mut chain);
        laws::sizes_are_counted(&chain);
        laws::lookups_are_scans(&chain, hostile::ids());
    }
});
