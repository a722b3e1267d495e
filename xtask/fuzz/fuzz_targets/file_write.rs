//! Fuzzes the writing of message files: appended cells, messages and streams read back.
#![no_main]

#[path = "../../../crates/msg-file/tests/it/laws.rs"]
#[allow(dead_code, reason = "the other target has the other laws")]
mod laws;

use msg_file::{Mode, NewCell};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let cut = bytes.first().map_or(0, |&n| usize::from(n)).min(bytes.len());
    let (old, body) = bytes.split_at(cut);
    for exact in [false, true] {
        let cell =
            NewCell { exact, ..NewCell::output("bot", String::from_utf8_lossy(body).into_owned()) };
        laws::write_then_read(&cell);
        laws::append_keeps_the_past(old, Mode::MessageFile, &cell);
        laws::append_keeps_the_past(old, Mode::Markdown, &cell);
    }
    let texts: Vec<String> =
        bytes.split(|&b| b == 0xFF).map(|t| String::from_utf8_lossy(t).into_owned()).collect();
    laws::messages_come_back(b"", &laws::chain_of(&texts[..texts.len().min(6)]));
    let chunks: Vec<(bool, String)> =
        texts.into_iter().enumerate().map(|(i, t)| (i % 2 == 1, t)).collect();
    laws::streams_come_back(&chunks);
});
