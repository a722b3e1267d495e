//! Responses items: from bytes straight into [`Message`]s (OA-14). Items of one speaker are put
//! together, and each part remembers the item that it begins.
//!
//! ```text
//! {"type":"reasoning",…}, {"type":"message",…}, {"type":"function_call",…}   ─▶   one assistant message of three parts
//! ```

mod content;
mod item;

use msg_core::{Error, Extra, Message, Part, Role};
use msg_json::{Kind, Reader};

use super::shape::{ITEM, RESPONSES};
use item::Item;
use msg_codec::codec::{Context, Fields, SlotPlan, keep_whole, read_alone, read_mended};

/// Reads an array of items, where the reader is before it.
pub(crate) fn items<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, Error> {
    let (mut res, first) = (Messages::default(), cx.message);
    reader.begin_array()?;
    while reader.next_element()? {
        let offset = reader.next_offset();
        if reader.peek()? != Kind::Object {
            let message = Some(cx.message);
            return Err(Error::Shape { message, expected: "an item, which is an object", offset });
        }
        let follows_message = res.ends_in_message;
        let keep = |it: &mut Item, source: &str| {
            it.parts.first_mut().iter_mut().for_each(|it| {
                keep_whole(it.extra_mut(), &RESPONSES, source);
            });
        };
        let item = read_mended(
            reader,
            cx,
            item::mend,
            |reader, cx| item::read(reader, cx, follows_message),
            keep,
        );
        res.push(item.map_err(|it| it.in_message(cx.message))?);
        cx.next_message_at(first + res.messages.len() - 1);
    }
    Ok(res.messages)
}

/// How many of these parts are what is read of the source of an item; none if they are something else.
pub(crate) fn n_said(source: &str, parts: &[Part]) -> Option<usize> {
    let item = read_alone(source, |reader, cx| {
        read_mended(reader, cx, item::mend, |reader, cx| item::read(reader, cx, false), |_, _| {})
    })?;
    parts.starts_with(&item.parts).then_some(item.parts.len())
}

/// Messages as they grow from items.
#[derive(Default)]
struct Messages {
    messages: Vec<Message>,
    /// Whether the last message is of an assistant whose run of items goes on.
    is_run: bool,
    /// Whether the last item of that run was a message.
    ends_in_message: bool,
}

impl Messages {
    fn push(&mut self, item: Item) {
        let is_message = item.is_message;
        match item.role {
            Role::Assistant if self.is_run => {
                if let Some(last) = self.messages.last_mut() {
                    last.parts.extend(item.parts);
                }
            }
            role => {
                self.is_run = role == Role::Assistant;
                self.messages.push(Message { parts: item.parts, ..Message::new(role) });
            }
        }
        self.ends_in_message = self.is_run && is_message;
    }
}

/// What an item keeps on its first part.
struct ItemKept<'f, 'a> {
    fields: &'f mut Fields<'a>,
    canonical: u32,
    /// Whether the writer needs the order even where it is canonical: it marks where an item begins.
    marks: bool,
    /// Sources of values that have no canonical spelling, a section each.
    raw: [Option<&'a str>; 2],
}

impl<'a> ItemKept<'_, 'a> {
    fn keep_in(self, cx: &mut Context<'a, '_>, extra: &mut Extra) {
        let is_canonical = self.fields.is_canonical(self.canonical);
        if let Some(members) = self.fields.move_object(cx) {
            extra.insert(RESPONSES, ITEM, members);
        }
        if !is_canonical || self.marks || self.raw.iter().any(Option::is_some) {
            // The part's own sections begin with the empty one of its item.
            let own = extra.layout(&RESPONSES).unwrap_or_default();
            let outer = [self.fields.section(), own].concat();
            let mut layout = vec![&*outer];
            if self.raw.iter().any(Option::is_some) {
                layout.extend(self.raw.map(|it| it.unwrap_or_default().as_bytes()));
            }
            let layout = SlotPlan::sections(&layout);
            extra.set_layout(RESPONSES, layout);
        }
    }
}
