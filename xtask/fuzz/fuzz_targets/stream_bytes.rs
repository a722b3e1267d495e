//! Fuzzes the laws of streams: bytes of any kind, for every provider, cut and stopped anywhere.
#![no_main]

#[path = "../../../crates/msg-openai/tests/it/laws/stream.rs"]
mod laws;

use msg_core::TurnBuilder;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [how, at, bytes @ ..] = input else { return };
    let mut options = laws::options(laws::PROVIDERS[usize::from(how % 4)]);
    options.split_concatenated = how & 4 != 0;
    let at = usize::from(*at) * bytes.len() / 255;
    laws::chunks_change_nothing(bytes, options, at);
    laws::short_cuts_change_nothing(bytes, options);
    laws::may_stop_anywhere(bytes, options, at);
    laws::every_byte_is_accounted_for(bytes, at % 9);
    laws::faults_are_named(bytes);
    let outcome = laws::read(options, [bytes]);
    laws::events_say_what_the_result_says(&outcome);
    laws::events_build_the_turn(&outcome, TurnBuilder::finish);
    laws::assembling_again_changes_nothing(&outcome.0);
});
