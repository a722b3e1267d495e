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
}

impl Wrapper {
    /// No wrapper: all of `json` is the list.
    pub(crate) fn none(json: &[u8], codec: &'static dyn Codec) -> (Self, Range<usize>) {
        (Wrapper { codec, before: Vec::new(), after: Vec::new() }, 0..json.len())
    }

    /// The wrapper of `json`, and where the list is. What is no object with a list in `messages`
    /// has no wrapper: its reader says what is wrong with it.
    pub(crate) fn around(json: &[u8], codec: &'static dyn Codec) -> (Self, Range<usize>) {
        match list(json) {
            Ok(Some(list)) => {
                let (before, after) = (json[..list.start].to_vec(), json[list.end..].to_vec());
                (Wrapper { codec, before, after }, list)
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
        report: &mut Report,
    ) {
        out.extend_from_slice(&self.before);
        self.codec.write(messages, options, out, report);
        out.extend_from_slice(self.after.trim_ascii_end());
    }
}

/// Where the list of the last member `messages` is.
fn list(json: &[u8]) -> Result<Option<Range<usize>>, JsonError> {
    let mut reader = Reader::new(json)?;
    if reader.peek()? != Kind::Object {
        return Ok(None);
    }
    let mut res = None;
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let (is_messages, is_list) = (key.text == "messages", reader.peek()? == Kind::Array);
        let start = reader.next_offset();
        reader.raw()?;
        if is_messages {
            res = is_list.then_some(start..reader.offset());
        }
    }
    reader.finish()?;
    Ok(res)
}
