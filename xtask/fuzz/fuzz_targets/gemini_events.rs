//! Fuzzes the laws of written Gemini streams: results, and streams that are rewritten while they arrive.
#![no_main]

#[path = "../../../crates/msg-gemini/tests/it/laws/events.rs"]
mod laws;

use msg_codec::{StreamFamily, StreamOptions, StreamReader};

const OTHERS: [StreamFamily; 3] =
    [msg_openai::RESPONSES, msg_anthropic::ANTHROPIC, msg_openai::CHAT];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    run(&[msg_gemini::GEMINI], bytes, Some("gemini"));
    run(&OTHERS, bytes, None);
});

fn run(families: &[StreamFamily], bytes: &[u8], of: Option<&'static str>) {
    let mut events = Vec::new();
    let mut reader = StreamReader::new(families, StreamOptions::default());
    reader.feed(bytes, &mut |it| events.push(it.into_owned()));
    let read = reader.finish(&mut |it| events.push(it.into_owned()));
    laws::live_says_the_same(&read, &events, of);
    if of.is_some() {
        laws::written_is_read(&read);
    }
}
