//! Message files (`.msg.md`) among the formats: what a model is to see of one, and a file of messages.
//!
//! Editing a file in place is `msg file`'s; here a file is read as a conversation like any other.

use std::path::Path;

use msg_core::{Diagnostic, IdSource, Message, Report};
use msg_file::{Document, Entry, HistoryOptions, Limits, Mode, Nonce, ToCells, append_entries};

use crate::chain_args;

/// The messages of a file, calls at the end left open, and what is odd about it.
pub(super) fn read(
    bytes: &[u8],
    name: &str,
) -> Result<(Vec<Message>, Vec<Diagnostic>), Box<Diagnostic>> {
    let refused = |it: msg_file::Error| Box::new(it.diagnostic());
    // The limit has been applied where the bytes were read.
    let document =
        Document::read(bytes, Mode::of(Path::new(name)), &Limits::default()).map_err(refused)?;
    let options = HistoryOptions { open: true, ..HistoryOptions::default() };
    let history = document.history(&options).map_err(refused)?;
    Ok((history.messages, document.diagnostics().to_vec()))
}

/// A new file of these messages. The nonces of its ids are drawn like fresh call ids: the same
/// messages give the same file.
pub(super) fn write(messages: Vec<Message>, out: &mut Vec<u8>, report: &mut Report) {
    let entries: Vec<Entry> = messages.into_iter().map(Entry::Message).collect();
    let mut ids = chain_args::ids();
    let mut nonce = || Nonce::from_random(ids.next_u64());
    let options = ToCells::default();
    let written = append_entries(b"", Mode::MessageFile, &entries, &options, &mut nonce, false);
    match written {
        Ok((bytes, _)) => out.extend_from_slice(&bytes),
        Err(refused) => report.push(refused.diagnostic()),
    }
}
