//! What a model is to see of a conversation that a person keeps as a Markdown file.
//!
//! `cargo run -p msg-file --example what_is_sent [FILE]`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use msg_file::{HistoryOptions, MessageFile, Mode};

const FILE: &str = "# %% A question[^1]\n\n[^1]: [markdown]\n\nWhat is 2 + 2?\n\n\
    ## %%% [^2]\n\n[^2]: [bot]\n\n4\n\n\
    # %% For me only[^3]\n\n[^3]: [markdown] history=\"exclude\"\n\nAsk him about 3 + 3 tomorrow.\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => FILE.as_bytes().to_vec(),
    };
    let document = MessageFile::parse(bytes, Mode::MessageFile)?;
    let history = document.history(&HistoryOptions::default())?;
    for message in &history.messages {
        println!("{}: {}", message.role.as_str(), message.text());
    }
    Ok(())
}
