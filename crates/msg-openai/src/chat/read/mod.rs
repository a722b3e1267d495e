//! Chat messages: from bytes straight into [`Message`](msg_core::Message) (OA-1). Nothing is judged
//! here and nothing is dropped; what the model has no place for is carried.
//!
//! ```text
//! {"role":"assistant","content":"…","tool_calls":[{"id":"a",…}],"weight":1}
//!   ─▶ assistant: text, call a; extra openai.weight; the order of the members as its layout
//! ```

mod call;
mod content;
mod message;
mod reasoning;

use msg_core::{Message, Origin};
use msg_json::Reader;

use crate::wanted;
use msg_codec::codec::{Context, keep_whole, read_alone, read_mended};

pub(super) const OPENAI: Origin = Origin::OpenAi;

/// Reads an array of messages, the reader standing before it.
pub(crate) fn messages<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, msg_core::Error> {
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        res.push(one_message(reader, cx)?);
    }
    Ok(res)
}

/// Reads one message.
pub(crate) fn one_message<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Message, msg_core::Error> {
    let mend = |source: &str| wanted::message(source).mend("", source);
    let keep = |it: &mut Message, source: &str| keep_whole(&mut it.extra, &OPENAI, source);
    let res = read_mended(reader, cx, mend, message::read, keep);
    let res = res.map_err(|it| it.in_message(cx.message))?;
    cx.next_message();
    Ok(res)
}

/// Whether this is what is read of the source of a message.
pub(crate) fn says(source: &str, message: &Message) -> bool {
    read_alone(source, one_message).is_some_and(|it| it == *message)
}
