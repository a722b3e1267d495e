//! The content blocks of a message or of a tool result (AN-3).

use msg_codec::DataUrl;
use msg_codec::codec::{
    Build, ContentValue, Context, Fields, Inner, Shape, bit, mask, text_of, type_of,
};
use msg_core::{File, Image, Part, Reasoning, Text, ToolCall, ToolResult};
use msg_json::{JsonError, Reader};

use crate::shape::{ANTHROPIC, block, call, result, source};

/// Where a list of blocks is: results do not nest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The content of a message.
    Message,
    /// The content of a result.
    Result,
}

/// Reads an array of blocks, where the reader is before it.
pub(super) fn read_list<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    depth: Depth,
) -> Result<Vec<Part>, JsonError> {
    ContentValue::read_parts(reader, cx, |reader, cx| read(reader, cx, depth))
}

/// Reads the value of a message's `content`, where the reader is before it.
pub(super) fn read_content<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<ContentValue, JsonError> {
    ContentValue::read(reader, cx, |reader, cx| read(reader, cx, Depth::Message))
}

fn read<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
    depth: Depth,
) -> Result<Part, JsonError> {
    let known = |it: &str| known(it).filter(|_| depth == Depth::Message || it != "tool_result");
    ContentValue::read_typed(reader, cx, ANTHROPIC, known)
}

fn known(kind: &str) -> Option<(&'static Shape, Build)> {
    Some(match kind {
        "text" => (&block::TEXT, text),
        "thinking" => (&block::THINKING, thinking),
        "redacted_thinking" => (&block::REDACTED, redacted),
        "image" => (&block::IMAGE, image),
        "document" => (&block::DOCUMENT, document),
        "tool_use" => (&call::SHAPE, tool_use),
        "tool_result" => (&result::SHAPE, tool_result),
        _ => return None,
    })
}

fn text<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, block::BODY)?;
    let extra = fields.keep(bit(block::TYPE) | bit(block::BODY), &ANTHROPIC, cx);
    Some(Part::Text(Text { text, extra }))
}

fn thinking<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let text = fields.text(cx, block::BODY)?;
    let signature = signature(fields, cx);
    let canonical = bit(block::TYPE) | bit(block::BODY) | bit(block::SIGNATURE);
    let extra = fields.keep(canonical, &ANTHROPIC, cx);
    Some(Part::Reasoning(Reasoning { signature, extra, ..Reasoning::new(text) }))
}

/// The signature; `""` and null are none, and stay in the layout.
fn signature<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<String> {
    let variant = match fields.raw(block::SIGNATURE) {
        Some("\"\"") => block::SIGNATURE_EMPTY,
        Some("null") => block::SIGNATURE_NULL,
        _ => return fields.text_or_report(cx, block::SIGNATURE),
    };
    fields.vary(block::SIGNATURE, variant);
    fields.set_raw(block::SIGNATURE, None);
    None
}

fn redacted<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let redacted = Some(fields.text(cx, block::BODY)?);
    let extra = fields.keep(bit(block::TYPE) | bit(block::BODY), &ANTHROPIC, cx);
    Some(Part::Reasoning(Reasoning { redacted, extra, ..Reasoning::default() }))
}

fn tool_use<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let id = fields.text(cx, call::ID)?;
    let name = fields.text(cx, call::NAME)?;
    let (arguments, string) = fields.object_arguments(cx, call::INPUT, 0);
    let canonical = bit(block::TYPE) | bit(call::ID) | bit(call::NAME) | bit(call::INPUT);
    let extra = fields.keep_with(canonical, Inner::default(), string, (&ANTHROPIC, cx));
    Some(Part::ToolCall(ToolCall { extra, ..ToolCall::new(id, name, arguments) }))
}

fn tool_result<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    // Which call it answers is told by its place.
    let call_id = match fields.has(result::CALL_ID) {
        true => fields.text(cx, result::CALL_ID)?,
        false => String::new(),
    };
    let content = content(fields, cx)?;
    let is_error = fields.flag(cx, result::IS_ERROR);
    let canonical = bit(block::TYPE)
        | bit(result::CALL_ID)
        | bit(result::CONTENT)
        | mask(is_error, result::IS_ERROR);
    let extra = fields.keep(canonical, &ANTHROPIC, cx);
    Some(Part::ToolResult(ToolResult { is_error, extra, ..ToolResult::new(call_id, content) }))
}

/// The content of a result (AN-8); none if it is neither text nor blocks.
fn content<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Vec<Part>> {
    let Some(source) = fields.raw(result::CONTENT) else { return Some(Vec::new()) };
    let (parts, variant) = if source == "null" {
        (Vec::new(), result::CONTENT_NULL)
    } else if let Some(text) = text_of(source) {
        (vec![Part::text(cx.text(text, "content"))], 0)
    } else {
        if !source.starts_with('[') {
            return None;
        }
        let parts = read_list(&mut Reader::from_text(source), cx, Depth::Result).ok()?;
        let is_short = match &*parts {
            [] => true,
            [one] => ContentValue::is_plain_text(one, &ANTHROPIC),
            _ => false,
        };
        (parts, if is_short { result::CONTENT_ARRAY } else { 0 })
    };
    fields.vary(result::CONTENT, variant);
    fields.set_raw(result::CONTENT, None);
    Some(parts)
}

// Images and documents by their `source` (AN-10, AN-11).

/// Where a source says that the bytes are.
enum Place {
    Data(String),
    Url(String),
    File(String),
}

pub(super) fn image<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let (place, inner) = read_media(fields.raw(block::BODY)?, false, cx)?;
    fields.set_raw(block::BODY, None);
    let (url, file_id) = match place {
        Place::Data(url) | Place::Url(url) => (Some(url), None),
        Place::File(id) => (None, Some(id)),
    };
    let canonical = bit(block::TYPE) | bit(block::BODY);
    let extra = fields.keep_with(canonical, inner, None, (&ANTHROPIC, cx));
    Some(Part::Image(Image { url, file_id, extra, ..Image::default() }))
}

pub(super) fn document<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let (place, inner) = read_media(fields.raw(block::BODY)?, true, cx)?;
    fields.set_raw(block::BODY, None);
    let mut res = File { filename: fields.text_or_report(cx, block::TITLE), ..File::default() };
    match place {
        Place::Data(data) => res.data = Some(data),
        Place::Url(url) => res.url = Some(url),
        Place::File(id) => res.file_id = Some(id),
    }
    let canonical =
        bit(block::TYPE) | bit(block::BODY) | mask(res.filename.is_some(), block::TITLE);
    res.extra = fields.keep_with(canonical, inner, None, (&ANTHROPIC, cx));
    Some(Part::File(res))
}

/// Reads a source; none if it is of a kind or a shape that the model has no place for.
fn read_media<'a>(
    object: &'a str,
    is_document: bool,
    cx: &mut Context<'a, '_>,
) -> Option<(Place, Inner)> {
    let kind = type_of(Reader::from_text(object)).ok()??;
    let shape = shape_of(&kind, is_document)?;
    let mut fields = Fields::read(shape, cx, &mut Reader::from_text(object)).ok()?;
    // A second `type` may have come after the one that chose the kind.
    if text_of(fields.raw(source::TYPE)?)?.0 != kind {
        return None;
    }
    fields.set_raw(source::TYPE, None);
    let place = match &*kind {
        "base64" => base64(&mut fields, is_document, cx)?,
        "text" => text_media(&mut fields, cx)?,
        "url" => Place::Url(url(&mut fields, is_document, cx)?),
        _ => Place::File(fields.text(cx, block::BODY)?),
    };
    let canonical = bit(source::TYPE) | bit(block::BODY) | mask(is_inline(&kind), source::DATA);
    Some((place, Inner::new("source", fields, canonical, cx)))
}

fn is_inline(kind: &str) -> bool {
    matches!(kind, "base64" | "text")
}

fn shape_of(kind: &str, is_document: bool) -> Option<&'static Shape> {
    match kind {
        "base64" => Some(&source::INLINE),
        "text" if is_document => Some(&source::INLINE),
        "url" => Some(&source::URL),
        "file" => Some(&source::FILE),
        _ => None,
    }
}

fn base64<'a>(
    fields: &mut Fields<'a>,
    is_document: bool,
    cx: &mut Context<'a, '_>,
) -> Option<Place> {
    let media_type = fields.text(cx, source::MEDIA_TYPE)?;
    let data = fields.text(cx, source::DATA)?;
    if is_document && media_type != "application/pdf" {
        fields.vary(source::TYPE, source::TYPE_BASE64);
    }
    DataUrl { media_type: &media_type, data: &data }.url().map(Place::Data)
}

/// A text is base64 in the model. A media type that is not that of plain text is carried.
fn text_media<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Place> {
    let data = fields.text(cx, source::DATA)?;
    if fields.raw(source::MEDIA_TYPE) == Some("\"text/plain\"") {
        fields.set_raw(source::MEDIA_TYPE, None);
    }
    Some(Place::Data(DataUrl::from_text(&data)))
}

fn url<'a>(fields: &mut Fields<'a>, is_document: bool, cx: &mut Context<'a, '_>) -> Option<String> {
    let url = fields.text(cx, block::BODY)?;
    if !is_document && DataUrl::is(&url) {
        fields.vary(source::TYPE, source::TYPE_URL);
    }
    Some(url)
}
