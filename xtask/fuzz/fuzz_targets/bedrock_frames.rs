//! Fuzzes the laws of binary Converse streams: any bytes as frames, and any bytes as the payloads of sound frames.
#![no_main]

#[path = "../../../crates/msg-bedrock/tests/it/laws/frames.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    laws::chunks_change_nothing(bytes);
    laws::written_is_read(&laws::read(bytes, usize::MAX));
    let mut frames = Vec::new();
    for line in bytes.split(|it| *it == b'\n') {
        let (event, payload) = line.split_at(line.iter().position(|it| *it == b' ').unwrap_or(0));
        msg_codec::write_frame(&String::from_utf8_lossy(event), payload, &mut frames);
    }
    laws::chunks_change_nothing(&frames);
});
