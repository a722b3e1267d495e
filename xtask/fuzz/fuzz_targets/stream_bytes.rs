//! Fuzzes the laws of streams: bytes of any kind, for every provider, cut and stopped anywhere.
#![no_main]

#[path = "../../../crates/msg-openai/tests/it/laws/again.rs"]
mod again;
#[path = "../../../crates/msg-codec/tests/it/laws.rs"]
mod laws;

use msg_anthropic::ANTHROPIC;
use msg_codec::StreamFamily;
use msg_forms::turns::TurnBuilder;
use msg_gemini::GEMINI;
use msg_openai::{CHAT, RESPONSES};

const FAMILIES: [&[StreamFamily]; 5] =
    [&[RESPONSES, ANTHROPIC, GEMINI, CHAT], &[CHAT], &[RESPONSES], &[ANTHROPIC], &[GEMINI]];

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [how, at, bytes @ ..] = input else { return };
    let flags = *how;
    let mut how = laws::How::new(FAMILIES[usize::from(flags % 5)]);
    how.options.split_concatenated = flags & 128 != 0;
    let at = usize::from(*at) * bytes.len() / 255;
    laws::chunks_change_nothing(bytes, &how, at);
    laws::short_cuts_change_nothing(bytes, &how);
    laws::may_stop_anywhere(bytes, &how, at);
    laws::every_byte_is_accounted_for(bytes, at % 9);
    laws::faults_are_named(bytes, &laws::How::new(&[CHAT]));
    let outcome = laws::read(&how, [bytes]);
    laws::events_say_what_the_result_says(&outcome);
    laws::events_build_the_turn(&outcome, TurnBuilder::finish);
    again::assembling_again_changes_nothing(&outcome.0);
    again::written_streams_are_read(&outcome.0);
    again::built_bodies_are_read(&outcome.0);
    again::rewritten_streams_are_read(&outcome);
});
