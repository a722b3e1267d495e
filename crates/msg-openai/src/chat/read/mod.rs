//! Chat messages: from bytes straight into [`Message`](msg_core::Message) (OA-1). Nothing is judged
//! here and nothing is dropped; what the model has no place for is carried.

mod call;
mod content;
mod message;
mod reasoning;

use msg_core::{Extra, Message, Origin, Part, Place, RawJson, json::Reader};

pub(super) use reasoning::text_blocks;

use msg_wire::codec::{Context, EMPTY, Fields, SECTION};

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
    let res = message::read(reader, cx).map_err(|it| it.in_message(cx.message))?;
    cx.next_message();
    Ok(res)
}

fn other(place: Option<Place>, source: &str) -> Part {
    let value = RawJson::new(source).expect("the reader has walked over this value");
    Part::Other(msg_core::Other { place, ..msg_core::Other::new(OPENAI, value) })
}

/// What a part keeps beside the model: its unknown members, those of the object inside it under
/// that object's name, and the layout.
struct Kept<'f, 'a> {
    fields: &'f mut Fields<'a>,
    /// What the canonical writer writes.
    canonical: u32,
    inner_name: &'static str,
    inner: Inner,
    /// The source of a value that has no canonical spelling.
    raw: Option<&'a str>,
}

/// What the object inside a part keeps.
#[derive(Default)]
struct Inner {
    extra: Option<RawJson>,
    /// Its slots, if they are not the canonical ones.
    slots: Option<Vec<u8>>,
}

impl Inner {
    fn new<'a>(mut fields: Fields<'a>, canonical: u32, cx: &mut Context<'a, '_>) -> Self {
        let is_canonical = fields.is_canonical(canonical);
        let extra = fields.move_object(cx);
        let slots = (!is_canonical).then(|| fields.slots().to_vec());
        Self { extra, slots }
    }
}

impl<'a> Kept<'_, 'a> {
    fn into_extra(self, cx: &mut Context<'a, '_>) -> Extra {
        let mut extra = Extra::default();
        if let Some(inner) = self.inner.extra {
            extra.insert(OPENAI, self.inner_name, inner);
        }
        let is_canonical = self.fields.is_canonical(self.canonical);
        self.fields.move_extra(cx, &OPENAI, &mut extra);
        if !is_canonical || self.inner.slots.is_some() || self.raw.is_some() {
            let layout = sections(self.fields.slots(), self.inner.slots.as_deref(), self.raw);
            extra.set_layout(OPENAI, layout);
        }
        extra
    }
}

fn sections(outer: &[u8], inner: Option<&[u8]>, raw: Option<&str>) -> Vec<u8> {
    let mut res = slots_or_empty(outer).to_vec();
    if inner.is_some() || raw.is_some() {
        res.push(SECTION);
        res.extend_from_slice(inner.map_or(&[], slots_or_empty));
    }
    if let Some(raw) = raw {
        res.push(SECTION);
        res.extend_from_slice(raw.as_bytes());
    }
    res
}

/// A section without slots would mean the canonical order.
fn slots_or_empty(slots: &[u8]) -> &[u8] {
    if slots.is_empty() { &[EMPTY] } else { slots }
}
