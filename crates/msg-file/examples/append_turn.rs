//! Appends a question and its answer to a conversation on disk; what is above does not change by a byte.
//!
//! `cargo run -p msg-file --example append_turn`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use msg_core::{IdSource, Message, SeededIds};
use msg_file::{AppendOptions, Mode, Nonce, append};

fn main() -> Result<(), msg_file::Error> {
    let before = b"# Notes\n\nWritten by hand, and left alone.\n";
    let messages = [Message::user("What is 2 + 2?"), Message::assistant("4")];
    let mut random = SeededIds::new(1);
    let (options, mut nonce) = (AppendOptions::default(), || Nonce::from_random(random.next_u64()));
    let (after, placed) = append(before, Mode::MessageFile, messages, &options, &mut nonce)?;
    assert!(after.starts_with(before));
    println!("{}", String::from_utf8_lossy(&after));
    println!("{} cells were added", placed.len());
    Ok(())
}
