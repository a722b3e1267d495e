//! A custom form on the reader that all forms use: errors and findings have their places.
//!
//! `cargo run -p msg-core --example own_form`
#![allow(clippy::disallowed_macros, reason = "it is a program that prints")]

use msg_core::{Error, Message, reading};

/// Reads `["user text", "assistant text", …]`: they speak in turns.
fn read(json: &[u8]) -> Result<Vec<Message>, Error> {
    let (messages, report) = reading::list(json, |source| {
        let is_user = source.message % 2 == 0;
        let text = source.string()?;
        Ok(if is_user { Message::user(text) } else { Message::assistant(text) })
    })?;
    report.iter().for_each(|it| println!("{it}"));
    Ok(messages)
}

fn main() -> Result<(), Error> {
    let messages = read(br#"["Hi", "Hello \ud800"]"#)?;
    assert_eq!(messages[1], Message::assistant("Hello \u{FFFD}"));
    let error = read(br#"["Hi", 5]"#).expect_err("because 5 is not a string");
    println!("{error}");
    assert_eq!((error.message(), error.offset()), (Some(1), 7));
    Ok(())
}
