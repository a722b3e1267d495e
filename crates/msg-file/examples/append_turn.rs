//! Appends a question and its answer to a conversation on disk; what stands above does not change by a byte.
//!
//! `cargo run -p msg-file --example append_turn`

use msg_core::Message;
use msg_file::{Entry, Mode, Nonce, ToCells, append_entries};

fn main() -> Result<(), msg_file::Error> {
    let before = b"# Notes\n\nWritten by hand, and left alone.\n";
    let entries = [Message::user("What is 2 + 2?"), Message::assistant("4")].map(Entry::Message);
    let mut nonce = || Nonce::from_random(4);
    let (after, placed) = append_entries(
        before,
        Mode::MessageFile,
        &entries,
        &ToCells::default(),
        &mut nonce,
        false,
    )?;
    assert!(after.starts_with(before));
    println!("{}", String::from_utf8_lossy(&after));
    println!("{} cells were added", placed.len());
    Ok(())
}
