//! An object around a list of messages, kept byte for byte.
//!
//! Snapshots and session files put their own members beside `messages`. Those are not read: what is
//! before the list and what is behind it goes out again as it came.

use std::ops::Range;

use msg_core::json::{JsonError, Kind, Reader};

/// The bytes before and behind a list of messages; none if the list is the document.
#[derive(Debug, Default)]
pub(crate) struct Wrapper {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Wrapper {
    /// No wrapper: all of `json` is the list.
    pub(crate) fn none(json: &[u8]) -> (Self, Range<usize>) {
        (Wrapper::default(), 0..json.len())
    }

    /// The wrapper of `json`, and where the list is. What is no object with a list in `messages`
    /// has no wrapper: its reader says what is wrong with it.
    pub(crate) fn around(json: &[u8]) -> (Self, Range<usize>) {
        match list(json) {
            Ok(Some(list)) => {
                let (before, after) = (json[..list.start].to_vec(), json[list.end..].to_vec());
                (Wrapper { before, after }, list)
            }
            Ok(None) | Err(_) => Wrapper::none(json),
        }
    }

    /// Writes the object with the list that `write` writes.
    pub(crate) fn write(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.before);
        write(out);
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
