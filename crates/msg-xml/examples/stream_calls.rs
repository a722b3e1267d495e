//! Reads a model's answer while it arrives: text goes to the screen at once, a tool call as soon as it is whole.
//!
//! `cargo run -p msg-xml --example stream_calls [FILE]`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use std::fs::File;
use std::io::{self, Read, Write};

use msg_xml::{CallEnd, Event, ParseOptions, StreamParser};

const ANSWER: &str = "[The file has to be read first]\nI read it.\n<tool>\n<tool_name>read_file</tool_name>\n\
    <arguments><path>src/main.rs</path><limit>20</limit></arguments>\n</tool>\n";

fn main() -> io::Result<()> {
    let mut parser = StreamParser::new(ParseOptions::default());
    let mut screen = io::stdout().lock();
    let mut source: Box<dyn Read> = match std::env::args_os().nth(1) {
        Some(path) => Box::new(File::open(path)?),
        None => Box::new(ANSWER.as_bytes()),
    };
    let mut chunk = [0; 16];
    loop {
        let len = source.read(&mut chunk)?;
        if len == 0 {
            break;
        }
        for event in parser.feed(&chunk[..len]) {
            show(&event, &mut screen)?;
        }
    }
    for event in parser.finish(None) {
        show(&event, &mut screen)?;
    }
    screen.flush()
}

fn show(event: &Event<'_>, screen: &mut impl Write) -> io::Result<()> {
    match event {
        Event::Text { text, .. } => write!(screen, "{text}"),
        Event::ToolEnd { outcome, .. } => match outcome.as_ref() {
            CallEnd::Complete(call) => {
                writeln!(screen, "-> {}({})", call.tool_name(), call.arguments().text())
            }
            CallEnd::Partial(_) => writeln!(screen, "-> a call that was cut off, not to be run"),
        },
        _ => Ok(()),
    }
}
