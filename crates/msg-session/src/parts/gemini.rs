//! Gemini's parts: text, thoughts, calls, responses and inline data.

use msg_core::{File, Image, Origin, Other, Part, Place, Reasoning, Text, ToolCall, ToolResult};

use crate::json::{Object, Value};

const GEMINI: &str = "gemini";

/// The part that a Gemini part is; none of what is no object.
pub(crate) fn part(value: Value<'_>) -> Option<Part> {
    let object = value.object()?;
    let signature = object.text("thoughtSignature").map(Into::into);
    if let Some(call) = object.get("functionCall").and_then(|it| it.object()) {
        return Some(Part::ToolCall(ToolCall { signature, ..self::call(&call) }));
    }
    if let Some(response) = object.get("functionResponse").and_then(|it| it.object()) {
        return Some(Part::ToolResult(result(&response)));
    }
    if let Some(text) = object.text("text") {
        let text = text.into_owned();
        if object.is_true("thought") {
            return Some(Part::Reasoning(Reasoning { signature, ..Reasoning::new(text) }));
        }
        let origin = Origin::from(GEMINI);
        let extra = super::extra(&object, &origin, &["text", "thought"]);
        return Some(Part::Text(Text { text, extra }));
    }
    Some(data(&object).unwrap_or_else(|| other(value)))
}

/// A call, of the content or of the list of calls.
pub(crate) fn call(object: &Object<'_>) -> ToolCall {
    let arguments = object.get("args").map_or("", |it| it.source);
    ToolCall::new(super::text(object, "id"), super::text(object, "name"), arguments)
}

/// A response: `output` and `error` are texts, everything else is JSON.
pub(crate) fn result(object: &Object<'_>) -> ToolResult {
    let response = object.get("response");
    let member = |name: &str| response.and_then(|it| it.get(name)).and_then(|it| it.text());
    let (text, is_error) = match (member("output"), member("error")) {
        (Some(output), None) => (output.into_owned(), false),
        (None, Some(error)) => (error.into_owned(), true),
        _ => (response.map_or("", |it| it.source).to_owned(), false),
    };
    ToolResult {
        name: object.text("name").map(Into::into).filter(|it: &String| !it.is_empty()),
        is_error,
        ..ToolResult::new(super::text(object, "id"), text)
    }
}

fn data(object: &Object<'_>) -> Option<Part> {
    if let Some(inline) = object.get("inlineData").and_then(|it| it.object()) {
        let media_type: Option<String> = inline.text("mimeType").map(Into::into);
        let data = inline.text("data")?;
        if media_type.as_deref().is_some_and(|it| it.starts_with("image/")) {
            let url = Some(super::data_url(media_type.as_deref(), &data));
            return Some(Part::Image(Image { url, media_type, ..Image::default() }));
        }
        let data = Some(data.into_owned());
        return Some(Part::File(File { data, media_type, ..File::default() }));
    }
    let file = object.get("fileData")?.object()?;
    Some(Part::File(File {
        url: Some(file.text("fileUri")?.into_owned()),
        media_type: file.text("mimeType").map(Into::into),
        ..File::default()
    }))
}

fn other(value: Value<'_>) -> Part {
    let place = Some(Place::Content);
    Part::Other(Other { place, ..Other::new(Origin::from(GEMINI), value.raw_json()) })
}
