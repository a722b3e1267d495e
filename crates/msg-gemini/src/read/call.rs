//! Calls and their results (GE-6, GE-8).

use msg_codec::codec::{Context, Fields, Inner, bit, mask, object_members, text_of};
use msg_core::{Other, Part, RawJson, ToolCall, ToolResult};
use msg_json::{Kind, Reader};

use super::{part::Depth, part::read_list};
use crate::shape::{GEMINI, call, part, response};

pub(super) fn call<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let mut reader = Reader::from_text(fields.raw(part::DATA)?);
    if reader.peek().ok()? != Kind::Object {
        return None;
    }
    let mut object = Fields::read(&call::SHAPE, cx, &mut reader).ok()?;
    let name = object.text(cx, call::NAME)?;
    let id = object.text_or_report(cx, call::ID).unwrap_or_default();
    let (arguments, string) = object.object_arguments(cx, call::ARGS, 1);
    let canonical = mask(!id.is_empty(), call::ID) | bit(call::NAME) | bit(call::ARGS);
    let inner = Inner::new("functionCall", object, canonical, cx);
    fields.set_raw(part::DATA, None);
    let signature = fields.text_or_report(cx, part::SIGNATURE);
    let canonical = bit(part::DATA) | mask(signature.is_some(), part::SIGNATURE);
    let extra = fields.keep_with(canonical, inner, string, (&GEMINI, cx));
    Some(Part::ToolCall(ToolCall { signature, extra, ..ToolCall::new(id, name, arguments) }))
}

pub(super) fn response<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let mut reader = Reader::from_text(fields.raw(part::DATA)?);
    if reader.peek().ok()? != Kind::Object {
        return None;
    }
    let mut object = Fields::read(&response::SHAPE, cx, &mut reader).ok()?;
    if object.raw(response::NAME) == Some("null") {
        cx.odd();
    }
    let name = object.text_or_report(cx, response::NAME);
    let call_id = object.text_or_report(cx, response::ID).unwrap_or_default();
    let media = media(&mut object, cx)?;
    let (mut content, is_error) = output(&mut object, cx);
    let has_media = !media.is_empty();
    if has_media && matches!(&*content, [Part::Text(it)] if it.text.is_empty()) {
        content.clear();
    }
    content.extend(media);
    let canonical = mask(!call_id.is_empty(), response::ID)
        | bit(response::NAME)
        | bit(response::RESPONSE)
        | mask(has_media, response::PARTS);
    let inner = Inner::new("functionResponse", object, canonical, cx);
    fields.set_raw(part::DATA, None);
    let extra = fields.keep_with(bit(part::DATA), inner, None, (&GEMINI, cx));
    Some(Part::ToolResult(ToolResult {
        name,
        is_error,
        extra,
        ..ToolResult::new(call_id, content)
    }))
}

/// The media of a response; none if its `parts` are not a list.
fn media<'a>(object: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Vec<Part>> {
    let Some(source) = object.raw(response::PARTS) else { return Some(Vec::new()) };
    if source == "null" {
        return Some(Vec::new());
    }
    if !source.starts_with('[') {
        return None;
    }
    object.set_raw(response::PARTS, None);
    read_list(&mut Reader::from_text(source), cx, Depth::Response).ok()
}

/// What a response says, and whether it is an error: a lone `output` or `error` is text, all else JSON.
fn output<'a>(object: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> (Vec<Part>, bool) {
    let Some(source) = object.raw(response::RESPONSE) else { return (Vec::new(), false) };
    object.set_raw(response::RESPONSE, None);
    if source == "null" {
        object.vary(response::RESPONSE, response::RESPONSE_NULL);
        return (Vec::new(), false);
    }
    let value = RawJson::new(source).expect("because the reader has walked over this value");
    if let Some((text, is_error)) = text_in(&value) {
        return (vec![Part::text(cx.text(text, "response"))], is_error);
    }
    if !source.starts_with('{') {
        object.vary(response::RESPONSE, response::RESPONSE_VALUE);
        cx.shape("response is not an object");
    }
    (vec![Part::Other(Other::new(msg_core::Origin::Json, value))], false)
}

/// The text of an object that holds nothing but `output` or `error`, and whether it is an error.
pub(crate) fn text_in(value: &RawJson) -> Option<((std::borrow::Cow<'_, str>, bool), bool)> {
    let members = object_members(value)?;
    let [one] = members.as_slice() else { return None };
    let is_error = match &*one.name {
        "output" => false,
        "error" => true,
        _ => return None,
    };
    Some((text_of(one.value)?, is_error))
}
