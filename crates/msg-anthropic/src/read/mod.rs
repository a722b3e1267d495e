//! Anthropic messages: from bytes straight into [`Message`]s (AN-2 to AN-12). Nothing is judged here and
//! nothing is dropped; what the model has no place for is carried.
//!
//! ```text
//! {"role":"user","content":[{"type":"tool_result",..},{"type":"text",..}]}
//!     Tool message (the results at the front), then a user message with the rest    AN-2
//! {"type":"text","text":"a","citations":[]}
//!     Text "a", extra.anthropic.citations; no layout, for this is canonical         AN-3, AN-13
//! ```

mod block;
mod media;
mod message;
mod system;

use msg_codec::codec::Context;
use msg_core::Message;
use msg_json::Reader;

pub(crate) use message::{content_says, read as read_message, says};
pub(crate) use system::{read as read_system, says as system_says};

/// Reads an array of messages, the reader standing before it.
pub(crate) fn read_messages<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, msg_core::Error> {
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        message::read_into(&mut res, reader, cx).map_err(|it| it.in_message(cx.message))?;
    }
    Ok(res)
}
