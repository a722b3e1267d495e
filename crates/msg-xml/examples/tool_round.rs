//! One round with a model that has no tool calling of its own: the tools go into the system prompt, the call comes
//! back in the text, the result goes back as a text.
//!
//! `cargo run -p msg-xml --example tool_round`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use msg_xml::{ParseOptions, ParsedResult, ThinkingMode, ToolDefinition, instructions, parse};

fn main() -> Result<(), msg_xml::Error> {
    let tools = [ToolDefinition::new("add")];
    let system = instructions(&tools, ThinkingMode::Extract);
    assert!(system.contains("## add"));

    // What the model answered to that prompt and "What is 19 + 23?".
    let answer =
        "<tool>\n<tool_name>add</tool_name>\n<arguments><a>19</a><b>23</b></arguments>\n</tool>";
    let parsed = parse(answer.as_bytes(), None, &ParseOptions::default());
    for call in parsed.calls() {
        println!("call: {} {}", call.tool_name(), call.arguments().text());
        let result = ParsedResult {
            name: call.tool_name().to_owned(),
            content: "42".to_owned(),
            is_error: false,
        };
        println!("next message:\n{}", result.render()?);
    }
    assert!(parsed.diagnostics.is_empty());
    Ok(())
}
