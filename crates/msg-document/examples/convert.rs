//! Any conversation as an Anthropic one, with what was lost on the way.
//!
//! `cargo run -p msg-document --example convert [FILE]`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use msg_document::{ConvertOptions, Format, convert};

const CHAT: &[u8] = br#"[{"role":"user","content":"Weather?"},
    {"role":"assistant","content":null,"tool_calls":[
        {"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"call_1","content":"rain"}]"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let json = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => CHAT.to_vec(),
    };
    let target: Format = "anthropic".parse()?;
    let converted = convert(&json, target, &ConvertOptions::default())?;
    println!("{}", String::from_utf8_lossy(&converted.document));
    for edit in &converted.edits {
        println!("{edit}");
    }
    Ok(())
}
