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

use msg_core::{Extra, Message, json::Reader};
use msg_wire::codec::{Context, EMPTY, Fields, SECTION};

pub(crate) use message::read as read_message;
pub(crate) use system::read as read_system;

use crate::shape::ANTHROPIC;

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

/// The object inside a block: the unknown members of it, and its layout.
#[derive(Default)]
struct Inner {
    /// The unknown members, as an object.
    unknown: Option<msg_core::RawJson>,
    /// The slots, if they are not the canonical ones.
    slots: Option<Vec<u8>>,
}

impl Inner {
    /// What is left of an object when the model has what it knows of it.
    fn new<'a>(mut fields: Fields<'a>, canonical: u32, cx: &mut Context<'a, '_>) -> Self {
        let is_canonical = fields.is_canonical(canonical);
        let unknown = fields.move_object(cx);
        let slots = (!is_canonical).then(|| fields.slots().to_vec());
        Self { unknown, slots }
    }
}

/// What a block keeps beside the model: its unknown members, those of its source under `source`, and
/// the layout where it is not the canonical one.
fn keep<'a>(
    fields: &mut Fields<'a>,
    canonical: u32,
    inner: Inner,
    cx: &mut Context<'a, '_>,
) -> Extra {
    let mut extra = Extra::default();
    if let Some(unknown) = inner.unknown {
        extra.insert(ANTHROPIC, "source", unknown);
    }
    let is_canonical = fields.is_canonical(canonical);
    fields.move_extra(cx, &ANTHROPIC, &mut extra);
    if !is_canonical || inner.slots.is_some() {
        let mut layout = slots_or_empty(fields.slots()).to_vec();
        if let Some(slots) = inner.slots {
            layout.push(SECTION);
            layout.extend_from_slice(slots_or_empty(&slots));
        }
        extra.set_layout(ANTHROPIC, layout);
    }
    extra
}

/// A section without slots would mean the canonical order.
fn slots_or_empty(slots: &[u8]) -> &[u8] {
    if slots.is_empty() { &[EMPTY] } else { slots }
}
