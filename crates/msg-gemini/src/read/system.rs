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
    let message = match reader.peek()? {
        Kind::String => {
            let text = cx.string(reader.string()?, "systemInstruction");
            content::bare_text(Role::System, text)
        }
        Kind::Object => content::read_instruction(reader, cx)?,
        kind => {
            if kind != Kind::Null {
                cx.wrong_type("systemInstruction");
            }
            reader.raw()?;
            return Ok(None);
        }
    };
    if message.parts.is_empty() {
        return Ok(None);
    }
    cx.next_message();
    Ok(Some(message))
}
