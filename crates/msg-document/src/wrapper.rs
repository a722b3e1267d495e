//! An object around a list of messages, kept byte for byte.
//!
//! Snapshots and session files put their own members beside `messages`. Those are not read: what is
//! before the list and what is after it goes out again as it came.

use std::ops::Range;

use msg_core::{Message, Report};
use msg_json::{JsonError, Kind, Reader};

use crate::codec::{Around, WriteOptions};

/// Writes a list of messages.
pub(crate) type WriteList = fn(&mut [Message], &WriteOptions, &mut Vec<u8>) -> Report;

/// The bytes before and after a list of messages; none if the list is the document.
pub(crate) struct Wrapper {
    write: WriteList,
    list: Range<usize>,
    before: Vec<u8>,
    after: Vec<u8>,
    /// The names of its members but `messages`.
    members: Vec<String>,
}

impl Wrapper {
    /// No wrapper: all of `json` is the list.
    pub(crate) fn none(json: &[u8], write: WriteList) -> Self {
        Wrapper::of(json, List { place: 0..json.len(), members: Vec::new() }, write)
    }

    /// The wrapper of `json`. What is not an object with a list in `messages` has none: its reader says what is
    /// wrong with it.
    pub(crate) fn around(json: &[u8], write: WriteList) -> Self {
        match list(json, &["messages"]) {
            Ok(Some(list)) => Wrapper::of(json, list, write),
            Ok(None) | Err(_) => Wrapper::none(json, write),
        }
    }

    fn of(json: &[u8], List { place, members }: List, write: WriteList) -> Self {
        let (before, after) = (json[..place.start].to_vec(), json[place.end..].to_vec());
        Wrapper { write, list: place, before, after, members }
    }

    /// Where the list is.
    pub(crate) fn list(&self) -> Range<usize> {
        self.list.clone()
    }
}

impl Around for Wrapper {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        out.extend_from_slice(&self.before);
        let report = (self.write)(messages, options, out);
        out.extend_from_slice(self.after.trim_ascii_end());
        report
    }

    fn members(&self) -> Vec<String> {
        self.members.clone()
    }
}

/// Where a list is, and the names of the members beside it.
pub(crate) struct List {
    pub(crate) place: Range<usize>,
    pub(crate) members: Vec<String>,
}

/// Looks for the list in an object, in the last member of the first of these names; nothing in anything else.
pub(crate) fn list(json: &[u8], names: &[&str]) -> Result<Option<List>, JsonError> {
    let mut reader = Reader::new(json)?;
    if reader.peek()? != Kind::Object {
        return Ok(None);
    }
    let (mut found, mut members) = (vec![None; names.len()], Vec::new());
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let (name, is_list) = (key.text.into_owned(), reader.peek()? == Kind::Array);
        let start = reader.next_offset();
        reader.raw()?;
        match names.iter().position(|it| *it == name) {
            Some(at) => found[at] = is_list.then_some(start..reader.offset()),
            None => members.push(name),
        }
    }
    reader.finish()?;
    Ok(found.into_iter().flatten().next().map(|place| List { place, members }))
}
