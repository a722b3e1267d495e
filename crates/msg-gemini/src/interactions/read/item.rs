//! Steps that are one part: thoughts, calls and results (GI-7, GI-8, GI-11).

use msg_codec::codec::{
    Build, ContentValue, Context, Fields, Inner, Shape, bit, mask, text_of, type_of,
};
use msg_core::{Origin, Other, Part, Place, RawJson, Reasoning, ToolCall, ToolResult};
use msg_json::{JsonError, Kind, Reader};

use super::content;
use crate::interactions::shape::{INTERACTIONS, TYPE, call, result, thought};

/// Reads an element of an older list, or a step that is one part: what is neither a content nor one of the
/// steps that the model knows is carried as a step.
pub(crate) fn read_item<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Part, JsonError> {
    let mut part = content::read_with(reader, cx, known)?;
    if let Part::Other(it) = &mut part
        && it.value.text().starts_with('{')
        && type_of(Reader::from_text(it.value.text()))?.is_some_and(|it| !content::is_content(&it))
    {
        it.place = Some(Place::Item);
    }
    Ok(part)
}

/// Reads a content of a `user_input`, among which results may be (GI-4).
pub(super) fn read_input<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Part, JsonError> {
    content::read_with(reader, cx, |kind| known(kind).filter(|_| kind == "function_result"))
}

/// Whether a part is a step of its own.
pub(crate) fn is_item(it: &Part) -> bool {
    match it {
        Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
        Part::Other(it) => it.format == INTERACTIONS && it.place == Some(Place::Item),
        _ => false,
    }
}

fn known(kind: &str) -> Option<(&'static Shape, Build)> {
    Some(match kind {
        "thought" => (&thought::SHAPE, thought),
        "function_call" => (&call::SHAPE, call),
        "function_result" => (&result::SHAPE, result),
        _ => return None,
    })
}

fn thought<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    // The signature stays among the unknown members: that of a reasoning part is Anthropic's (GI-11).
    let variant = match fields.raw(thought::SIGNATURE) {
        Some("\"\"") => thought::SIGNATURE_EMPTY,
        Some("null") => thought::SIGNATURE_NULL,
        _ => 0,
    };
    if variant != 0 {
        fields.vary(thought::SIGNATURE, variant);
        fields.set_raw(thought::SIGNATURE, None);
    }
    let mut spelled = None;
    let summary = match fields.raw(thought::SUMMARY) {
        None => None,
        Some("null") => {
            fields.vary(thought::SUMMARY, thought::SUMMARY_NULL);
            None
        }
        Some(source) => {
            let texts = summary_of(source)?;
            spelled = (!is_canonical(source, &texts)).then_some(source);
            Some(texts)
        }
    };
    fields.set_raw(thought::SUMMARY, None);
    let canonical = bit(TYPE) | bit(thought::SUMMARY);
    let extra = fields.keep_with(canonical, Default::default(), spelled, (&INTERACTIONS, cx));
    let summary = summary.filter(|it| !it.is_empty());
    Some(Part::Reasoning(Reasoning { summary, extra, ..Reasoning::default() }))
}

/// The texts of a summary; none if there is anything else in it.
pub(crate) fn summary_of(source: &str) -> Option<Vec<String>> {
    let mut reader = Reader::from_text(source);
    reader.begin_array().ok()?;
    let mut res = Vec::new();
    while reader.next_element().ok()? {
        res.push(summary_text(reader.raw().ok()?)?);
    }
    Some(res)
}

fn summary_text(source: &str) -> Option<String> {
    let (mut text, mut is_text) = (None, false);
    let mut reader = Reader::from_text(source);
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let value = reader.raw().ok()?;
        match &*key.text {
            "type" => is_text = text_of(value)?.0 == "text",
            // Half a pair would come back as another character.
            "text" => text = Some(text_of(value).filter(|it| !it.1)?.0.into_owned()),
            _ => return None,
        }
    }
    text.filter(|_| is_text)
}

/// Whether the canonical writer gives a summary back: one that says nothing only where it was.
fn is_canonical(source: &str, texts: &[String]) -> bool {
    let mut compact = Vec::new();
    msg_json::write_compact(&mut compact, source);
    let mut out = Vec::new();
    crate::interactions::write::write_summary(texts, &mut out);
    texts.iter().any(|it| !it.is_empty()) && compact == out
}

fn call<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let name = fields.text(cx, call::NAME)?;
    let id = fields.text_or_report(cx, call::ID).unwrap_or_default();
    let (arguments, string) = fields.object_arguments(cx, call::ARGUMENTS, 2);
    let signature = match fields.raw(call::SIGNATURE) {
        Some("\"\"") => {
            fields.vary(call::SIGNATURE, call::SIGNATURE_EMPTY);
            fields.set_raw(call::SIGNATURE, None);
            None
        }
        _ => fields.text_or_report(cx, call::SIGNATURE),
    };
    let canonical = bit(TYPE)
        | bit(call::ID)
        | bit(call::NAME)
        | bit(call::ARGUMENTS)
        | mask(signature.is_some(), call::SIGNATURE);
    let extra = fields.keep_with(canonical, Inner::default(), string, (&INTERACTIONS, cx));
    Some(Part::ToolCall(ToolCall { signature, extra, ..ToolCall::new(id, name, arguments) }))
}

fn result<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Option<Part> {
    let call_id = fields.text_or_report(cx, result::CALL_ID).unwrap_or_default();
    let name = fields.text_or_report(cx, result::NAME);
    let content = output(fields, cx);
    let is_error = fields.flag(cx, result::IS_ERROR);
    let canonical = bit(TYPE)
        | bit(result::CALL_ID)
        | bit(result::NAME)
        | bit(result::RESULT)
        | mask(is_error, result::IS_ERROR);
    let extra = fields.keep(canonical, &INTERACTIONS, cx);
    Some(Part::ToolResult(ToolResult {
        name,
        is_error,
        extra,
        ..ToolResult::new(call_id, content)
    }))
}

/// What a result holds: text, contents, or JSON of any other shape.
fn output<'a>(fields: &mut Fields<'a>, cx: &mut Context<'a, '_>) -> Vec<Part> {
    let Some(source) = fields.raw(result::RESULT) else { return Vec::new() };
    fields.set_raw(result::RESULT, None);
    let (parts, variant) = if source == "null" {
        (Vec::new(), result::RESULT_NULL)
    } else if let Some(text) = text_of(source) {
        (vec![Part::text(cx.text(text, "result"))], 0)
    } else if let Some(parts) = contents(source, cx) {
        let is_short = match &*parts {
            [] => true,
            [one] => matches!(one, Part::Text(it) if it.extra.is_empty()),
            _ => false,
        };
        (parts, if is_short { result::RESULT_ARRAY } else { 0 })
    } else {
        let value = RawJson::new(source).expect("because the reader has walked over this value");
        let variant = if source.starts_with('{') { 0 } else { result::RESULT_VALUE };
        (vec![Part::Other(Other::new(Origin::Json, value))], variant)
    };
    fields.vary(result::RESULT, variant);
    parts
}

/// The contents of an array that is one of contents: objects that say their types, of which some are known.
fn contents<'a>(source: &'a str, cx: &mut Context<'a, '_>) -> Option<Vec<Part>> {
    let mut reader = Reader::from_text(source);
    if reader.peek().ok()? != Kind::Array {
        return None;
    }
    let (mut look, mut is_known, mut len) = (reader.clone(), false, 0);
    look.begin_array().ok()?;
    while look.next_element().ok()? {
        if look.peek().ok()? != Kind::Object {
            return None;
        }
        let kind = type_of(look.clone()).ok()??;
        is_known |= content::is_content(&kind) || kind == "function";
        len += 1;
        look.raw().ok()?;
    }
    if len > 0 && !is_known {
        return None;
    }
    ContentValue::read_parts(&mut reader, cx, content::read_content).ok()
}
