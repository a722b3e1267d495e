//! An object around a list of messages, kept byte for byte.
//!
//! Snapshots and session files put their own members beside `messages`. Those are not read: what is
//! before the list and what is behind it goes out again as it came.

use std::ops::Range;

use msg_core::{Message, Report};
use msg_json::{JsonError, Kind, Reader};

use crate::codec::{Around, WriteOptions};

/// Writes a list of messages.
pub(crate) type WriteList = fn(&mut [Message], &WriteOptions, &mut Vec<u8>) -> Report;

/// The bytes before and behind a list of messages; none if the list is the document.
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

    /// The wrapper of `json`. What is no object with a list in `messages` has none: its reader says what is
    /// wrong with it.
    pub(crate) fn around(json: &[u8], write: WriteList) -> Self {
        match list(json) {
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

/// Where the list of the last member `messages` is, and the names of the others.
struct List {
    place: Range<usize>,
    members: Vec<String>,
}

/// Looks for the list in an object; nothing in anything else.
fn list(json: &[u8]) -> Result<Option<List>, JsonError> {
    let mut reader = Reader::new(json)?;
    if reader.peek()? != Kind::Object {
        return Ok(None);
    }
    let (mut res, mut members) = (None, Vec::new());
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let (is_messages, is_list) = (key.text == "messages", reader.peek()? == Kind::Array);
        let start = reader.next_offset();
        reader.raw()?;
        if is_messages {
            res = is_list.then_some(start..reader.offset());
        } else {
            members.push(key.text.into_owned());
        }
    }
    reader.finish()?;
    Ok(res.map(|place| List { place, members }))
}
