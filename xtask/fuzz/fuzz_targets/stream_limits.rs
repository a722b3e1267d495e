//! Fuzzes the laws of streams under limits so small that every one of them is met.
#![no_main]

#[path = "../../../crates/msg-openai/tests/it/laws/stream.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [how, small, bytes @ ..] = input else { return };
    let small = usize::from(*small);
    let mut options = laws::options(laws::PROVIDERS[usize::from(how % 4)]);
    options.limits.max_event_bytes = 2 * small;
    options.limits.max_body_bytes = 10 * small;
    options.limits.max_text_bytes = small;
    options.limits.max_argument_bytes = small / 8;
    options.limits.max_calls = small % 3;
    options.limits.max_choices = small % 2;
    let at = small * bytes.len() / 255;
    laws::chunks_change_nothing(bytes, options, at);
    laws::may_stop_anywhere(bytes, options, at);
    laws::events_say_what_the_result_says(&laws::read(options, [bytes]));
});
