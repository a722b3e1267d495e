//! Converse messages: from bytes into [`Message`]s (BR-2 to BR-12). Nothing is judged here and nothing is dropped; what the
//! model has no place for is carried.
//!
//! ```text
//! {"role":"user","content":[{"toolResult":{..}},{"text":".."}]}
//!     Tool message (the results at the front), then a user message with the rest    BR-4
//! {"text":"a"},{"cachePoint":{"type":"default"}}
//!     Text "a", extra.bedrock.cachePoint                                            BR-9
//! ```

mod block;
mod media;

use msg_codec::codec::{Context, Fields, Turn, bit, mask, text_of};
use msg_core::{Error, Extra, Message, Part, Role};
use msg_json::{Kind, Reader};

use self::block::note_odd;
pub(crate) use self::block::{Depth, block_of, blocks, members, redacted};
use crate::shape::BEDROCK;

/// Reads an array of messages, where the reader is before it.
pub(crate) fn read_messages<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, Error> {
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        let before = res.last().map(|it: &Message| &it.role);
        let messages = read_message(reader, cx, before).map_err(|it| it.in_message(cx.message))?;
        for message in messages {
            res.push(message);
            cx.next_message();
        }
    }
    Ok(res)
}

/// Reads the message that the reader is at, and ends it.
pub(crate) fn read_one<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, Error> {
    let messages = read_message(reader, cx, None)?;
    messages.iter().for_each(|_| cx.next_message());
    Ok(messages)
}

/// Reads the value of `system`: no message if it says nothing, nothing if it is not a list of blocks.
pub(crate) fn read_system<'a>(
    source: &'a str,
    cx: &mut Context<'a, '_>,
) -> Option<Option<Message>> {
    let mut extra = Extra::default();
    let parts = if let Some(text) = text_of(source) {
        extra.set_layout(BEDROCK, [Turn::ROLE, Turn::CONTENT_OTHER << 5 | Turn::CONTENT]);
        let text = cx.text(text, "system");
        if text.is_empty() { Vec::new() } else { vec![Part::text(text)] }
    } else if source.starts_with('[') {
        blocks(source)
    } else if source == "null" {
        Vec::new()
    } else {
        return None;
    };
    if parts.is_empty() {
        return Some(None);
    }
    cx.next_message();
    Some(Some(Message { role: Role::System, parts, name: None, extra }))
}

fn read_message<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    before: Option<&Role>,
) -> Result<Vec<Message>, Error> {
    let offset = reader.next_offset();
    if reader.peek()? != Kind::Object {
        let message = Some(cx.message);
        return Err(Error::Shape { message, expected: "a message, which is an object", offset });
    }
    let (mut fields, mut word) = (Fields::new(&Turn::SHAPE, cx), None);
    let (mut parts, mut is_raw) = (Vec::new(), false);
    reader.begin_object()?;
    while let Some(code) = fields.next(cx, reader)? {
        if code == Turn::ROLE {
            word = cx.role_word(reader)?;
            continue;
        }
        let kind = reader.peek()?;
        let source = reader.raw()?;
        (parts, is_raw) = match kind {
            Kind::Array => {
                let parts = blocks(source);
                if parts.iter().any(|it| it.extra().layout(&BEDROCK).is_some()) {
                    note_odd(source, cx);
                }
                (parts, false)
            }
            Kind::String => {
                fields.vary(Turn::CONTENT, Turn::CONTENT_OTHER);
                let text = cx.text(text_of(source).unwrap_or_default(), "content");
                (vec![Part::text(text)], false)
            }
            Kind::Null => {
                fields.vary(Turn::CONTENT, Turn::CONTENT_NULL);
                (Vec::new(), false)
            }
            _ => {
                cx.wrong_type("content");
                fields.set_raw(Turn::CONTENT, Some(source));
                (Vec::new(), true)
            }
        };
    }
    let Some(word) = word else { return Err(Error::Role { message: cx.message, offset }) };
    let role = Turn::read_role(&word, &mut fields, cx);
    let canonical = bit(Turn::ROLE) | mask(!is_raw, Turn::CONTENT);
    let keep = |placement| fields.keep_placed(canonical, placement, &BEDROCK, cx);
    Ok(Turn::results_apart(&BEDROCK, (role, parts), before, keep))
}
