//! A log of conversations, one a line, in whatever formats its writers had: which are broken, and why.
//!
//! `cargo run -p msg-document --example check_lines [FILE]`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use msg_document::{CheckOptions, check};

const LINES: &str = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]
{"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c1","content":"42"}]}
{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}
not a conversation
"#;

fn main() -> io::Result<()> {
    let source: Box<dyn BufRead> = match std::env::args_os().nth(1) {
        Some(path) => Box::new(BufReader::new(File::open(path)?)),
        None => Box::new(LINES.as_bytes()),
    };
    let options = CheckOptions::default();
    for (at, line) in source.lines().enumerate() {
        match check(line?.as_bytes(), &options) {
            Ok(checked) if checked.ok => println!("{}: {}, ok", at + 1, checked.format.name()),
            Ok(checked) => {
                println!("{}: {}", at + 1, checked.format.name());
                checked.diagnostics.iter().for_each(|it| println!("   {it}"));
            }
            Err(refused) => println!("{}: {refused}", at + 1),
        }
    }
    Ok(())
}
