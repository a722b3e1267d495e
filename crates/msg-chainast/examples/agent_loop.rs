//! An agent loop whose history is a chain: it cannot be sent broken, whatever happens between two requests.
//!
//! `cargo run -p msg-chainast --example agent_loop`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use msg_chainast::{ChainAst, ChainRepairOptions, Message, Part, SeededIds, ToolCall};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What was on disk: the program was killed while a tool ran.
    let stored = vec![
        Message::system("You work on files."),
        Message::user("How long is a.txt?"),
        Message::assistant("").with_part(Part::ToolCall(ToolCall::new(
            "c1",
            "wc",
            r#"{"path":"a.txt"}"#,
        ))),
    ];
    let (mut chain, edits) =
        ChainAst::repair(stored, &ChainRepairOptions::new(), &mut SeededIds::new(1));
    for edit in &edits {
        println!("mended: {edit}");
    }

    chain.append_user("Are you there?");
    loop {
        assert!(chain.validate().is_empty(), "what is sent is well formed");
        let history: Vec<Message> = chain.messages().cloned().collect();
        let answer = ask_model(&history);
        let calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
        chain = ChainAst::parse(
            history.into_iter().chain([answer]).chain(calls.iter().map(run_tool)).collect(),
        )?;
        if calls.is_empty() {
            break;
        }
    }
    for message in chain.messages() {
        println!("{:9} {}", message.role.as_str(), message.text());
    }
    Ok(())
}

/// Takes the place of a request to a model: calls a tool once, then answers.
fn ask_model(history: &[Message]) -> Message {
    match history.last().filter(|it| it.tool_results().next().is_some()) {
        Some(_) => Message::assistant("It has 3 lines."),
        None => Message::assistant("I count.").with_part(Part::ToolCall(ToolCall::new(
            "c2",
            "wc",
            r#"{"path":"a.txt"}"#,
        ))),
    }
}

fn run_tool(call: &ToolCall) -> Message {
    Message::tool_result(&call.id, "3 a.txt")
}
