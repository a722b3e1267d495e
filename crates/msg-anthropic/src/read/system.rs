//! The `system` of a request: a string or blocks, the first message (AN-4).

use msg_codec::codec::{Content, Context, Placement, text_of};
use msg_core::{Extra, Message, Part, Role};
use msg_json::{JsonError, Reader};

use super::block::{self, Depth};
use crate::shape::{ANTHROPIC, message};

/// Reads the value of `system`; none for one that says nothing, which stays where it is.
pub(crate) fn read<'a>(
    source: &'a str,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, JsonError> {
    let (parts, extra) = if let Some(text) = text_of(source) {
        let text = cx.text(text, "system");
        (if text.is_empty() { Vec::new() } else { vec![Part::text(text)] }, Extra::default())
    } else if source.starts_with('[') {
        let parts = block::read_list(&mut Reader::from_text(source), cx, Depth::Message)?;
        let extra = array(&parts);
        (parts, extra)
    } else {
        if source != "null" {
            cx.wrong_type("system");
        }
        (Vec::new(), Extra::default())
    };
    if parts.is_empty() {
        return Ok(None);
    }
    cx.next_message();
    Ok(Some(Message { role: Role::System, parts, name: None, extra }))
}

/// The layout of an array that would be written as a string.
fn array(parts: &[Part]) -> Extra {
    match parts {
        [one] if Content::is_plain_text(one, &ANTHROPIC) => Placement::default()
            .keep(&ANTHROPIC, &[message::ROLE, message::CONTENT_ARRAY << 5 | message::CONTENT]),
        _ => Extra::default(),
    }
}
