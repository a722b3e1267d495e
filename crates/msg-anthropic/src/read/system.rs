//! The `system` of a request: a string or blocks, the first message (AN-4).

use msg_codec::codec::{Content, Context, Placement, keep_whole, read_mended, text_of};
use msg_core::{Error, Extra, Message, Part, Report, Role};
use msg_json::{JsonError, Reader};

use super::block::{self, Depth};
use crate::{
    shape::{ANTHROPIC, message},
    wanted::CONTENT,
};

/// Reads the value of `system`; none for one that says nothing, which stays where it is.
pub(crate) fn read<'a>(
    source: &'a str,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, Error> {
    let message = read_mended(
        &mut Reader::from_text(source),
        cx,
        |source| CONTENT.mend("system", source),
        |reader, cx| Ok(read_value(reader.raw()?, cx)?),
        |it, source| {
            it.iter_mut().for_each(|it| keep_whole(&mut it.extra, &ANTHROPIC, source));
        },
    )?;
    message.iter().for_each(|_| cx.next_message());
    Ok(message)
}

/// Whether this message is what is read of this value of `system`.
pub(crate) fn says(source: &str, message: &Message) -> bool {
    let mut report = Report::with_cap(0);
    let found = read(source, &mut Context::new(&mut report));
    found.is_ok_and(|it| it.as_ref() == Some(message))
}

fn read_value<'a>(source: &'a str, cx: &mut Context<'a, '_>) -> Result<Option<Message>, JsonError> {
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
