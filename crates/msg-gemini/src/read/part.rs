//! The parts of a content or of a function response (GE-4, GE-5).

use msg_codec::codec::{Build, ContentValue, Context, Fields, Shape, bit, mask};
use msg_core::{Error, Part, Reasoning, Text};
use msg_json::{JsonError, Kind, Reader};

use super::{call, media};
use crate::shape::{GEMINI, part};

/// Where a list of parts is: responses hold media only, and do not nest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The parts of a content.
    Content,
    /// The parts of a function response.
    Response,
}

/// Reads an array of parts, where the reader is before it.
pub(super) fn read_list<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    depth: Depth,
) -> Result<Vec<Part>, Error> {
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        res.push(read(reader, cx, depth)?);
    }
    Ok(res)
}

/// Reads a part of a content.
pub(crate) fn read_part<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Part, JsonError> {
    read(reader, cx, Depth::Content)
}

/// Reads a part; anything else stays as it is.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    depth: Depth,
) -> Result<Part, JsonError> {
    match reader.peek()? {
        Kind::String if depth == Depth::Content => {
            cx.shape("a part is a bare string, no object");
            return Ok(ContentValue::bare_text(GEMINI, cx.string(reader.string()?, "parts")));
        }
        Kind::Object => {}
        _ => {
            cx.odd();
            return reader.raw().map(|it| ContentValue::carried(GEMINI, None, it));
        }
    }
    let kind = kind_of(reader.clone())?;
    let Some((shape, build)) = kind.and_then(|it| known(it, depth)) else {
        cx.odd();
        return reader.raw().map(|it| ContentValue::carried(GEMINI, None, it));
    };
    let start = reader.next_offset();
    let mark = cx.mark();
    let mut fields = Fields::read(shape, cx, reader)?;
    if let Some(part) = build(&mut fields, cx) {
        return Ok(part);
    }
    cx.odd();
    cx.back_to(mark);
    Ok(ContentValue::carried(GEMINI, None, reader.source(start, reader.offset())))
}

/// The one member of an object that says what it is, also where it is there twice; none if there are several, or none.
fn kind_of(mut reader: Reader<'_>) -> Result<Option<&'static str>, JsonError> {
    let mut found = None;
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let is_null = reader.peek()? == Kind::Null;
        reader.raw()?;
        let kind = part::KINDS.iter().find(|it| it.0 == key.text || it.1 == key.text);
        if let Some((name, _)) = kind.filter(|_| !is_null)
            && found.replace(*name).is_some_and(|it| it != *name)
        {
            return Ok(None);
        }
    }
    Ok(found)
}

fn known(kind: &str, depth: Depth) -> Option<(&'static Shape, Build)> {
    Some(match (kind, depth) {
        ("inlineData", _) => (&part::INLINE, media::inline),
        ("fileData", _) => (&part::FILE, media::file),
        ("text", Depth::Content) => (&part::TEXT, text),
        ("functionCall", Depth::Content) => (&part::CALL, call::call),
        ("functionResponse", Depth::Content) => (&part::RESPONSE, call::response),
        _ => return None,
    })
}

fn text<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, part::DATA)?;
    let is_thought = fields.raw(part::THOUGHT) == Some("true");
    if is_thought {
        fields.set_raw(part::THOUGHT, None);
    }
    let canonical = bit(part::DATA) | mask(is_thought, part::THOUGHT);
    let extra = fields.keep(canonical, &GEMINI, cx);
    Some(if is_thought {
        Part::Reasoning(Reasoning { extra, ..Reasoning::new(text) })
    } else {
        Part::Text(Text { text, extra })
    })
}
