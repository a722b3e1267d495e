//! Fuzzes reading and mending of sessions: the first bytes choose the dialect and the options.
#![no_main]

#[path = "../../../crates/msg-session/tests/it/laws.rs"]
mod laws;

use msg_session::{Blob, Dialect, SessionOptions};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(([dialect, flags], text)) = bytes.split_first_chunk() else { return };
    let dialect = Dialect::ALL[usize::from(*dialect) % Dialect::ALL.len()];
    let options = SessionOptions {
        all: flags & 1 > 0,
        drop_thinking: flags & 2 > 0,
        drop_encrypted: flags & 4 > 0,
        drop: flags & 8 > 0,
        ..SessionOptions::default()
    };
    let blobs = vec![Blob::new("session", text)];
    laws::mended_once_is_mended(dialect, blobs.clone(), &options);
    laws::every_part_has_an_origin(dialect, blobs);
});
