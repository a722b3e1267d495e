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

use std::borrow::Cow;

use msg_codec::codec::{
    ContentValue, Context, Fields, Placement, RoleContent, bit, keep_whole, mask, read_alone,
    read_mended, text_of,
};
use msg_core::{Error, Extra, Message, Part, Report, Role};
use msg_json::{JsonError, Kind, Reader};

use crate::read::block::Depth;
use crate::shape::ANTHROPIC;
use crate::shape::{CONTENT, MESSAGE};

/// Reads an array of messages, where the reader is before it.
pub(crate) fn read_messages<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, msg_core::Error> {
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        read_into(&mut res, reader, cx).map_err(|it| it.in_message(cx.message))?;
    }
    Ok(res)
}

// One message: its members are read in whatever order they come, then its results are set apart (AN-2).

/// Reads the message that the reader is at, which may become two, after those of the list.
fn read_into<'a>(
    list: &mut Vec<Message>,
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<(), Error> {
    let before = list.last().map(|it| it.role.clone());
    let messages = read_mended(
        reader,
        cx,
        |source| MESSAGE.mend("", source),
        |reader, cx| read_one(reader, cx, before.as_ref()),
        |it, source| {
            it.iter_mut().take(1).for_each(|it| keep_whole(&mut it.extra, &ANTHROPIC, source));
        },
    )?;
    for message in messages {
        list.push(message);
        cx.next_message();
    }
    Ok(())
}

fn read_one<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    before: Option<&Role>,
) -> Result<Vec<Message>, Error> {
    let offset = reader.next_offset();
    if reader.peek()? != Kind::Object {
        let message = Some(cx.message);
        return Err(Error::Shape { message, expected: "a message, which is an object", offset });
    }
    let mut draft = Draft::read(reader, cx)?;
    let Some(word) = draft.role.take() else {
        return Err(Error::Role { message: cx.message, offset });
    };
    let role = draft.role(&word, cx);
    Ok(draft.into_messages(role, before, cx))
}

/// Whether these messages are what is read of the source of one.
pub(crate) fn says(source: &str, messages: &[Message]) -> bool {
    let mut list = Vec::new();
    let read = read_alone(source, |reader, cx| read_into(&mut list, reader, cx));
    read.is_some() && list == messages
}

/// Reads the one message whose members are `role` and `content` of a response.
pub(crate) fn read_message<'a>(
    role: Role,
    content: &'a str,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, Error> {
    let messages = read_mended(
        &mut Reader::from_text(content),
        cx,
        |source| CONTENT.mend("content", source),
        |reader, cx| {
            let mut draft = Draft::new(cx);
            draft.content = block::read_content(reader, cx)?;
            let mut messages = draft.into_messages(role.clone(), None, cx);
            messages.iter_mut().for_each(|it| it.extra.clear_layout());
            Ok::<_, Error>(messages)
        },
        |it, source| {
            it.iter_mut().take(1).for_each(|it| keep_whole(&mut it.extra, &ANTHROPIC, source));
        },
    )?;
    messages.iter().for_each(|_| cx.next_message());
    Ok(messages)
}

/// Whether these messages are what is read of this content of a response.
pub(crate) fn content_says(source: &str, messages: &[Message]) -> bool {
    let Some(first) = messages.first() else { return false };
    let mut report = Report::with_cap(0);
    let found = read_message(first.role.clone(), source, &mut Context::new(&mut report));
    found.is_ok_and(|it| it == messages)
}

/// The members of a message as they came.
struct Draft<'a> {
    fields: Fields<'a>,
    role: Option<Cow<'a, str>>,
    content: ContentValue,
}

impl<'a> Draft<'a> {
    fn new(cx: &Context<'a, '_>) -> Self {
        Self {
            fields: Fields::new(&RoleContent::SHAPE, cx),
            role: None,
            content: ContentValue::Absent,
        }
    }

    fn read(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, JsonError> {
        let mut res = Self::new(cx);
        reader.begin_object()?;
        while let Some(code) = res.fields.next(cx, reader)? {
            let start = reader.next_offset();
            match code {
                RoleContent::ROLE => res.role = cx.role_word(reader)?,
                _ => res.content = block::read_content(reader, cx)?,
            }
            res.fields.set_raw(code, Some(reader.source(start, reader.offset())));
        }
        Ok(res)
    }

    /// The role, whose spelling stays in the layout (MS-2).
    fn role(&mut self, word: &str, cx: &mut Context<'a, '_>) -> Role {
        self.fields.set_raw(RoleContent::ROLE, None);
        RoleContent::read_role(word, &mut self.fields, cx)
    }

    /// One message, or two where a user's begins with results.
    fn into_messages(
        mut self,
        role: Role,
        before: Option<&Role>,
        cx: &mut Context<'a, '_>,
    ) -> Vec<Message> {
        let (parts, is_array) = self.parts(cx);
        let is_plain = matches!(&*parts, [it] if ContentValue::is_plain_text(it, &ANTHROPIC));
        if is_array && is_plain {
            self.fields.vary(RoleContent::CONTENT, RoleContent::CONTENT_OTHER);
        }
        let keep = |placement| self.into_extra(placement, cx);
        RoleContent::results_apart(&ANTHROPIC, (role, parts), before, keep)
    }

    /// The parts of the content, and whether it was an array.
    fn parts(&mut self, cx: &mut Context<'a, '_>) -> (Vec<Part>, bool) {
        let (parts, is_array) = match std::mem::take(&mut self.content) {
            ContentValue::Absent => return (Vec::new(), false),
            ContentValue::Raw => {
                cx.wrong_type("content");
                return (Vec::new(), false);
            }
            ContentValue::Null => {
                self.fields.vary(RoleContent::CONTENT, RoleContent::CONTENT_NULL);
                (Vec::new(), false)
            }
            ContentValue::Text(text) => (vec![Part::text(text)], false),
            ContentValue::Parts(parts) => (parts, true),
        };
        self.fields.set_raw(RoleContent::CONTENT, None);
        (parts, is_array)
    }

    fn into_extra(mut self, placement: Placement, cx: &mut Context<'a, '_>) -> Extra {
        let has_raw = self.fields.raw(RoleContent::CONTENT).is_some();
        let canonical = bit(RoleContent::ROLE) | mask(!has_raw, RoleContent::CONTENT);
        self.fields.keep_placed(canonical, placement, &ANTHROPIC, cx)
    }
}

// The `system` of a request: a string or blocks, the first message (AN-4).

/// Reads the value of `system`; none for one that says nothing, which stays where it is.
pub(crate) fn read_system<'a>(
    source: &'a str,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, Error> {
    let message = read_mended(
        &mut Reader::from_text(source),
        cx,
        |source| CONTENT.mend("system", source),
        |reader, cx| Ok::<_, Error>(read_value(reader.raw()?, cx)?),
        |it, source| {
            it.iter_mut().for_each(|it| keep_whole(&mut it.extra, &ANTHROPIC, source));
        },
    )?;
    message.iter().for_each(|_| cx.next_message());
    Ok(message)
}

/// Whether this message is what is read of this value of `system`.
pub(crate) fn system_says(source: &str, message: &Message) -> bool {
    let mut report = Report::with_cap(0);
    let found = read_system(source, &mut Context::new(&mut report));
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
        [one] if ContentValue::is_plain_text(one, &ANTHROPIC) => Placement::default().keep(
            &ANTHROPIC,
            &[RoleContent::ROLE, RoleContent::CONTENT_OTHER << 5 | RoleContent::CONTENT],
        ),
        _ => Extra::default(),
    }
}
