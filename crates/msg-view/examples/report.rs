//! A long conversation as several pages in a folder, with what its sections cost.
//!
//! `cargo run -p msg-view --example report FOLDER`; without a folder the pages go to one among the temporary files.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use msg_core::Message;
use msg_view::{Pages, ViewOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join("msg-view-report"));
    fs::create_dir_all(&folder)?;
    let messages: Vec<Message> = (0..600).map(message).collect();
    let options = ViewOptions::default()
        .with_title("a long talk")
        .with_page_size(200)
        .with_price("3:15".parse()?);
    let pages = Pages::new(&messages, &[], &options);
    for number in 0..pages.count() {
        let path = folder.join(pages.file_name(number));
        let mut file = io::BufWriter::new(File::create(&path)?);
        pages.write(number, |piece| file.write_all(piece.as_bytes()))?;
        println!("{}", path.display());
    }
    Ok(())
}

fn message(number: usize) -> Message {
    match number % 2 {
        0 => Message::user(format!("Question {number}?")),
        _ => Message::assistant(format!("- answer to {}", number - 1)),
    }
}
