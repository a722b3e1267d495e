//! Fuzzes the laws of streams under limits so small that every one of them is met.
#![no_main]

#[path = "../../../crates/msg-codec/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

use msg_anthropic::ANTHROPIC;
use msg_codec::StreamFamily;
use msg_gemini::GEMINI;
use msg_openai::{CHAT, RESPONSES};

const FAMILIES: [&[StreamFamily]; 5] =
    [&[RESPONSES, ANTHROPIC, GEMINI, CHAT], &[CHAT], &[RESPONSES], &[ANTHROPIC], &[GEMINI]];

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [how, small, bytes @ ..] = input else { return };
    let small = usize::from(*small);
    let mut how = laws::How::new(FAMILIES[usize::from(how % 5)]);
    let options = &mut how.options;
    options.limits.max_event_bytes = 2 * small;
    options.limits.max_body_bytes = 10 * small;
    options.limits.max_text_bytes = small;
    options.limits.max_argument_bytes = small / 8;
    options.limits.max_calls = small % 3;
    options.limits.max_choices = small % 2;
    let at = small * bytes.len() / 255;
    laws::chunks_change_nothing(bytes, &how, at);
    laws::may_stop_anywhere(bytes, &how, at);
    laws::events_say_what_the_result_says(&laws::read(&how, [bytes]));
});
