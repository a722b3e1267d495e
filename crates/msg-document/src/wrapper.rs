//! An object around a list of messages, kept byte for byte.
//!
//! Snapshots and session files put their own members beside `messages`. Those are not read: what is
//! before the list and what is behind it goes out again as it came.

use std::ops::Range;

use msg_core::json::{JsonError, Kind, Reader};
use msg_core::{Message, Report};

use crate::codec::{Around, Codec, WriteOptions};

/// The bytes before and behind a list of messages; none if the list is the document.
pub(crate) struct Wrapper {
    codec: &'static dyn Codec,
    before: Vec<u8>,
    after: Vec<u8>,
    /// The names of its members but `messages`.
    members: Vec<String>,
}

impl Wrapper {
    /// No wrapper: all of `json` is the list.
    pub(crate) fn none(json: &[u8], codec: &'static dyn Codec) -> (Self, Range<usize>) {
        (
            Wrapper { codec, before: Vec::new(), after: Vec::new(), members: Vec::new() },
            0..json.len(),
        )
    }

    /// The wrapper of `json`, and where the list is. What is no object with a list in `messages`
    /// has no wrapper: its reader says what is wrong with it.
    pub(crate) fn around(json: &[u8], codec: &'static dyn Codec) -> (Self, Range<usize>) {
        match list(json) {
            Ok(Some(List { place: list, members })) => {
                let (before, after) = (json[..list.start].to_vec(), json[list.end..].to_vec());
                (Wrapper { codec, before, after, members }, list)
            }
            Ok(None) | Err(_) => Wrapper::none(json, codec),
        }
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
        let report = self.codec.write(messages, options, out);
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
