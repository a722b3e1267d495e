//! goose's content blocks (SE-66): what the link rules see of them, and their parts.

use msg_core::{
    Content as ResultContent, Image, Message, Origin, Other, Part, Place, Reasoning, ToolCall,
    ToolResult,
};

use crate::json::{Object, Value};
use crate::link::{BlockKind, Content, Media};
use crate::view::View;

/// The content member of a message, as the link rules see it.
pub(crate) fn content<'a>(content: Option<Value<'a>>) -> Content<'a> {
    Content::of(content, kind)
}

fn kind(value: Value<'_>) -> Option<BlockKind<'_>> {
    let object = value.object()?;
    Some(match &*object.text("type")? {
        "toolRequest" | "frontendToolRequest" => BlockKind::Call(object.get("id")),
        "toolResponse" => BlockKind::Result(object.get("id")),
        "text" => BlockKind::Text(object.get("text")?),
        "thinking" | "redactedThinking" => BlockKind::Thinking { emptied: false },
        _ => BlockKind::Other,
    })
}

/// The JSON of an error result for a call that has none; the id is given as JSON.
pub(crate) fn placeholder(id: &str, _: Value<'_>) -> String {
    let text = super::INTERRUPTED;
    format!(
        r#"{{"type":"toolResponse","id":{id},"toolResult":{{"status":"error","error":"{text}"}}}}"#
    )
}

/// The images of a block, those inside a result too.
pub(crate) fn media(value: Value<'_>) -> Vec<Media<'_>> {
    let Some(object) = value.object() else { return Vec::new() };
    match object.text("type").as_deref() {
        Some("image") => image_data(value).into_iter().collect(),
        Some("toolResponse") => {
            let nested = object.get("toolResult").and_then(|it| it.get("value"));
            // Newer versions have the list in a member.
            let nested = nested.and_then(|it| it.array().or_else(|| it.get("content")?.array()));
            nested.into_iter().flatten().filter_map(image_data).collect()
        }
        _ => Vec::new(),
    }
}

fn image_data(value: Value<'_>) -> Option<Media<'_>> {
    let object = value.object()?;
    (object.text("type")? == "image").then_some(())?;
    let data = object.get("data").filter(|it| it.source.starts_with('"'))?;
    Some(Media { value, data, media_type: object.get("mimeType"), is_document: false })
}

/// The part that a block is; none of what is not a block.
pub(crate) fn part(value: Value<'_>) -> Option<Part> {
    let object = value.object()?;
    let kind = object.text("type").unwrap_or_default();
    Some(match &*kind {
        "text" => match object.text("text") {
            Some(text) => Part::text(text),
            None => other(value),
        },
        "thinking" => Part::Reasoning(Reasoning {
            text: object.text("thinking").map(Into::into),
            signature: object
                .text("signature")
                .map(Into::into)
                .filter(|it: &String| !it.is_empty()),
            ..Reasoning::default()
        }),
        "redactedThinking" => Part::Reasoning(Reasoning {
            redacted: object.text("data").map(Into::into),
            ..Reasoning::default()
        }),
        "image" => match image(&object) {
            Some(image) => Part::Image(image),
            None => other(value),
        },
        "toolRequest" | "frontendToolRequest" => Part::ToolCall(call(&object)),
        "toolResponse" => Part::ToolResult(result(&object)),
        _ => other(value),
    })
}

fn image(object: &Object<'_>) -> Option<Image> {
    let media_type = object.text("mimeType").map(Into::into);
    let url = super::data_url(media_type.as_deref(), &object.text("data")?);
    Some(Image { url: Some(url), media_type, ..Image::default() })
}

fn call(object: &Object<'_>) -> ToolCall {
    let value = object.get("toolCall").and_then(|it| it.get("value")).and_then(|it| it.object());
    let name = value.as_ref().map(|it| super::text(it, "name")).unwrap_or_default();
    let arguments = value.as_ref().and_then(|it| it.get("arguments"));
    ToolCall::new(super::text(object, "id"), name, arguments.map_or("", |it| it.source))
}

fn result(object: &Object<'_>) -> ToolResult {
    let result = object.inner("toolResult");
    let id = super::text(object, "id");
    let Some(result) = result else { return ToolResult::new(id, ResultContent::default()) };
    let failed = result.text("status").is_some_and(|it| it == "error");
    if let Some(error) = result.get("error").filter(|_| failed) {
        let text = error.plain();
        return ToolResult { is_error: true, ..ToolResult::new(id, text) };
    }
    let Some(value) = result.get("value") else {
        return ToolResult { is_error: failed, ..ToolResult::new(id, ResultContent::default()) };
    };
    let is_error = failed || value.get("isError").is_some_and(|it| it.is_true());
    ToolResult { is_error, ..ToolResult::new(id, result_content(value)) }
}

/// What came back: a list of contents, or an object with one (SE-66).
fn result_content(value: Value<'_>) -> ResultContent {
    let list = value.array().or_else(|| value.get("content")?.array());
    match list {
        Some(list) => ResultContent::from(list.into_iter().filter_map(nested).collect::<Vec<_>>()),
        None => ResultContent::from(value.plain()),
    }
}

fn nested(value: Value<'_>) -> Option<Part> {
    match kind(value) {
        Some(BlockKind::Call(_) | BlockKind::Result(_)) => Some(other(value)),
        _ => part(value),
    }
}

fn other(value: Value<'_>) -> Part {
    let (place, format) = (Some(Place::Content), Origin::from("goose"));
    Part::Other(Other { place, ..Other::new(format, value.raw_json()) })
}

/// Joins neighbouring thoughts: goose writes a block a token (SE-66).
pub(crate) fn join_thoughts(view: &mut View) {
    for (message, origins) in view.messages.iter_mut().zip(&mut view.origins) {
        let parts = std::mem::take(&mut message.parts);
        let old = std::mem::take(origins);
        for (part, origin) in parts.into_iter().zip(old) {
            if !joins(message, &part) {
                message.parts.push(part);
                origins.push(origin);
            }
        }
    }
}

/// Adds a thought to the one before it, if there is one without a signature.
fn joins(message: &mut Message, part: &Part) -> bool {
    let (Some(Part::Reasoning(last)), Part::Reasoning(next)) = (message.parts.last_mut(), part)
    else {
        return false;
    };
    let (Some(text), Some(more)) = (&mut last.text, &next.text) else { return false };
    if last.signature.is_some() || last.redacted.is_some() {
        return false;
    }
    text.push_str(more);
    last.signature.clone_from(&next.signature);
    true
}
