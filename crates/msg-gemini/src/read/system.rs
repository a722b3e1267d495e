//! The `systemInstruction` of a request: a content of any role, or a string; the first message (GE-3).

use msg_codec::codec::Context;
use msg_core::{Error, Message, Role};
use msg_json::{Kind, Reader};

use super::content;

/// Reads the value of `systemInstruction`; none for one that says nothing, which stays where it is.
pub(crate) fn read<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, Error> {
    let is_empty = |reader: &Reader<'_>| {
        let mut ahead = reader.clone();
        ahead.begin_array().is_ok() && ahead.next_element() == Ok(false)
    };
    if reader.peek()? == Kind::Null || is_empty(reader) {
        reader.raw()?;
        return Ok(None);
    }
    let message = content::read_alone_as(&Role::System, reader, cx)?;
    if message.parts.is_empty() {
        return Ok(None);
    }
    cx.next_message();
    Ok(Some(message))
}
