//! Plain messages to messages (MS-10), with unknown members and the layout of the source.

use super::{LineBreak, assemble};
use crate::layout::Order;
use msg_core::{
    Error, Extra, Message, Origin, Report, Role,
    reading::{Source, list},
};
use msg_json::Kind;

/// Reads a list of `{"role","content"}` (MS-10), and reports what was not as written. Unknown members are
/// kept (MS-6).
///
/// # Errors
/// [`Error`]: no JSON, no list, a role that is missing or no string, a `content` that is missing or
/// no string.
///
/// ```
/// use msg_core::Message;
/// use msg_forms::plain;
/// let json = br#"[{"role":"tool","content":"Tool: calculator\n42"}]"#;
/// let (messages, report) = plain::read(json)?;
/// assert_eq!(messages, [Message::tool("calculator", "42")]);
/// assert!(report.is_empty());
/// # Ok::<(), msg_core::Error>(())
/// ```
pub fn read(json: &[u8]) -> Result<(Vec<Message>, Report), Error> {
    list(json, |source| source.message_of(read_members))
}

fn read_members(source: &mut Source<'_, '_>) -> Result<Message, Error> {
    let start = source.begin_object()?;
    let (mut role, mut content): (Option<Role>, Option<String>) = (None, None);
    let mut extra = Extra::default();
    let mut order = Order::default();
    while let Some(key) = source.next_key()? {
        match &*key {
            "role" => {
                source.note_duplicate(&role, &key);
                order.known(0);
                role = Some(source.role()?);
            }
            "content" => {
                source.note_duplicate(&content, &key);
                order.known(1);
                content = Some(read_content(source)?);
            }
            _ => {
                order.unknown(&extra, &Origin::Plain, &key);
                source.unknown(&key, Origin::Plain, &mut extra)?;
            }
        }
    }
    let message = source.message;
    let role = role.ok_or(Error::Role { message, offset: start })?;
    let content = content.ok_or(Error::missing(message, start, "`content`"))?;
    let (mut res, line_break) = assemble(role, content);
    res.extra = extra;
    order.flag(line_break == LineBreak::CrLf);
    order.leave(Origin::Plain, &mut res.extra);
    Ok(res)
}

fn read_content(source: &mut Source<'_, '_>) -> Result<String, Error> {
    if source.peek()? == Kind::String {
        return Ok(source.string()?.into_owned());
    }
    let it = source.reader.wrong_kind("`content` to be a string");
    Err(source.fail(it))
}
