//! Gemini contents: from bytes straight into [`Message`]s (GE-2 to GE-11). Nothing is judged here and
//! nothing is dropped; what the model has no place for is carried.
//!
//! ```text
//! {"role":"user","parts":[{"functionResponse":{..}},{"text":"And?"}]}
//!     Tool message (the results at the front), then a user message with the rest    GE-8
//! {"text":"a","thoughtSignature":"S"}
//!     Text "a", extra.gemini.thoughtSignature; no layout, for this is canonical     GE-5, GE-12
//! ```

mod call;
mod content;
mod media;
mod part;

use msg_codec::codec::Context;
use msg_core::{Error, Message, Role};
use msg_json::{Kind, Reader};

pub(crate) use call::text_in;
pub(crate) use content::{read_alone_as, says, says_alone};
pub(crate) use part::read_part;

/// Reads the value of `contents`, the reader standing before it: an array, one content, or a string
/// (GE-1).
pub(crate) fn read_contents<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, Error> {
    let mut res = Vec::new();
    match reader.peek()? {
        Kind::Array => {
            reader.begin_array()?;
            while reader.next_element()? {
                content::read_into(&mut res, reader, cx).map_err(|it| it.in_message(cx.message))?;
            }
        }
        Kind::String => {
            let text = cx.string(reader.string()?, "contents");
            res.push(content::bare_text(Role::User, text));
            cx.next_message();
        }
        _ => content::read_into(&mut res, reader, cx)?,
    }
    Ok(res)
}

/// Reads the value of `systemInstruction`; none for one that says nothing, which stays where it is.
pub(crate) fn read_system<'a>(
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
