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
mod system;

use msg_codec::codec::Context;
use msg_core::{Error, Message};
use msg_json::{Kind, Reader};

pub(crate) use call::text_in;
pub(crate) use content::{read_alone_as, says, says_alone};
pub(crate) use part::read_part;
pub(crate) use system::read as read_system;

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
            res.push(content::bare_text(msg_core::Role::User, text));
            cx.next_message();
        }
        _ => content::read_into(&mut res, reader, cx)?,
    }
    Ok(res)
}
