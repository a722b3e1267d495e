//! Fuzzes the laws of written event streams: messages, and streams that are rewritten while they arrive.
#![no_main]

#[path = "../../../crates/msg-anthropic/tests/it/laws/events.rs"]
mod laws;

use msg_codec::{StreamFamily, StreamOptions, StreamReader};

const FAMILIES: [StreamFamily; 3] =
    [msg_openai::RESPONSES, msg_anthropic::ANTHROPIC, msg_openai::CHAT];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut events = Vec::new();
    let mut reader = StreamReader::new(&FAMILIES, StreamOptions::default());
    reader.feed(bytes, &mut |it| events.push(it.into_owned()));
    let read = reader.finish(&mut |it| events.push(it.into_owned()));
    laws::live_says_the_same(&read, &events);
    read.choices.iter().for_each(|it| laws::written_is_read(&it.message));
});
