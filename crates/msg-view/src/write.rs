//! A conversation on one page, in memory.

use std::convert::Infallible;

use msg_core::{Diagnostic, Message};

use crate::options::Options;
use crate::pages::Pages;

/// Appends a conversation as one page; of `options` the size of a page does not count. [`Pages`] makes several,
/// and hands them on in pieces. `problems` are what is wrong with the messages. Linear in both.
pub fn write(messages: &[Message], problems: &[Diagnostic], options: &Options, out: &mut Vec<u8>) {
    let options = Options { page_size: None, ..options.clone() };
    let written = Pages::new(messages, problems, &options).write(0, |piece| {
        out.extend_from_slice(piece.as_bytes());
        Ok::<(), Infallible>(())
    });
    match written {
        Ok(()) => {}
        Err(never) => match never {},
    }
}
