//! Builds a conversation, says what is odd about it, and stores it in the form that loses nothing.
//!
//! `cargo run -p msg-core --example build_and_store`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use msg_core::{InputRules, Message, Part, ToolCall, check_all, native};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let call = ToolCall::new("call_1", "weather", r#"{"city":"Oslo""#); // cut off by the token limit
    let messages = vec![
        Message::system("Be brief."),
        Message::user("Weather in Oslo?"),
        Message::assistant("I look.").with_part(Part::ToolCall(call)),
        Message::tool_result("call_1", "12 degrees, rain"),
    ];

    for finding in &check_all(&messages, &InputRules::unlimited()) {
        println!("{finding}");
    }

    let mut json = Vec::new();
    native::write(&messages, &mut json);
    println!("{}", String::from_utf8_lossy(&json));

    let (again, report) = native::read(&json)?;
    assert_eq!(again, messages);
    assert!(report.is_empty());
    Ok(())
}
