//! Gemini contents: from bytes straight into [`Message`]s (GE-2 to GE-11). Nothing is judged here and
//! nothing is dropped; what the model has no place for is carried.
//!
//! ```text
//! {"role":"user","parts":[{"functionResponse":{..}},{"text":"And?"}]}
//!     Tool message (the results at the front), then a user message with the rest    GE-8
//! {"text":"a","thoughtSignature":"S"}
//!     Text "a", extra.gemini.thoughtSignature; no layout, for this is canonical     GE-5, GE-12
//! ```

mod call;
mod content;
mod media;
mod part;
mod system;

use msg_core::{
    Error, Extra, Message, RawJson,
    json::{Kind, Reader},
};
use msg_wire::codec::{Context, EMPTY, Fields, SECTION};

pub(crate) use call::text_in;
pub(crate) use content::read_candidate;
pub(crate) use part::read_part;
pub(crate) use system::read as read_system;

use crate::shape::GEMINI;

/// Reads the value of `contents`, the reader standing before it: an array, one content, or a string
/// (GE-1).
pub(crate) fn read_contents<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Vec<Message>, Error> {
    let mut res = Vec::new();
    match reader.peek()? {
        Kind::Array => {
            reader.begin_array()?;
            while reader.next_element()? {
                content::read_into(&mut res, reader, cx).map_err(|it| it.in_message(cx.message))?;
            }
        }
        Kind::String => {
            let text = cx.string(reader.string()?, "contents");
            res.push(content::bare_text(msg_core::Role::User, text));
            cx.next_message();
        }
        _ => content::read_into(&mut res, reader, cx)?,
    }
    Ok(res)
}

/// The object inside a part: the unknown members of it, and its layout.
#[derive(Default)]
struct Inner {
    /// The name of the member that holds the object.
    name: &'static str,
    /// The unknown members, as an object.
    unknown: Option<RawJson>,
    /// The slots, if they are not the canonical ones.
    slots: Option<Vec<u8>>,
}

impl Inner {
    /// What is left of an object when the model has what it knows of it.
    fn new<'a>(
        name: &'static str,
        mut fields: Fields<'a>,
        canonical: u32,
        cx: &mut Context<'a, '_>,
    ) -> Self {
        let is_canonical = fields.is_canonical(canonical);
        let unknown = fields.move_object(cx);
        let slots = (!is_canonical).then(|| fields.slots().to_vec());
        Self { name, unknown, slots }
    }
}

/// What a part keeps beside the model: its unknown members, those of the object in it under the name of
/// that object (GE-5), and the layout where it is not the canonical one.
fn keep<'a>(
    fields: &mut Fields<'a>,
    canonical: u32,
    inner: Inner,
    cx: &mut Context<'a, '_>,
) -> Extra {
    let mut extra = Extra::default();
    if let Some(unknown) = inner.unknown {
        extra.insert(GEMINI, inner.name, unknown);
    }
    let is_canonical = fields.is_canonical(canonical);
    fields.move_extra(cx, &GEMINI, &mut extra);
    if !is_canonical || inner.slots.is_some() {
        let mut layout = slots_or_empty(fields.slots()).to_vec();
        if let Some(slots) = inner.slots {
            layout.push(SECTION);
            layout.extend_from_slice(slots_or_empty(&slots));
        }
        extra.set_layout(GEMINI, layout);
    }
    extra
}

/// A section without slots would mean the canonical order.
fn slots_or_empty(slots: &[u8]) -> &[u8] {
    if slots.is_empty() { &[EMPTY] } else { slots }
}
