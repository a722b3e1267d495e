//! Anthropic content blocks (claude-code, cline): what the link rules see of them, and their parts.
//!
//! ```text
//! {"type":"tool_use","id":"toolu_1","name":"Bash","input":{…}}          a call
//! {"type":"tool_result","tool_use_id":"toolu_1","content":"…"}          its result
//! ```

use msg_core::{
    Content as ResultContent, File, Image, Origin, Other, Part, Place, Reasoning, Text, ToolCall,
    ToolResult,
};

use crate::json::{Object, Value};
use crate::link::{Block, BlockKind, Content};

/// The content member of a message, as the link rules see it.
pub(crate) fn content<'a>(content: Option<Value<'a>>) -> Content<'a> {
    let Some(value) = content else { return Content::None };
    if value.text().is_some() {
        return Content::Text(value);
    }
    match value.array() {
        Some(blocks) => Content::Blocks(value, blocks.into_iter().map(block).collect()),
        None => Content::None,
    }
}

fn block(value: Value<'_>) -> Block<'_> {
    Block { value, kind: kind(value).unwrap_or(BlockKind::Other) }
}

fn kind(value: Value<'_>) -> Option<BlockKind<'_>> {
    let object = value.object()?;
    Some(match &*object.text("type")? {
        "tool_use" => BlockKind::Call(object.get("id")),
        "tool_result" => BlockKind::Result(object.get("tool_use_id")),
        "text" => BlockKind::Text(object.get("text")?),
        "thinking" => BlockKind::Thinking { emptied: is_emptied(&object) },
        "redacted_thinking" => BlockKind::Thinking { emptied: false },
        _ => BlockKind::Other,
    })
}

fn is_emptied(object: &Object<'_>) -> bool {
    object.text("thinking").is_some_and(|it| it.is_empty())
        && object.text("signature").is_some_and(|it| !it.is_empty())
}

/// The JSON of an error result for a call that has none; the id is given as JSON.
pub(crate) fn placeholder(id: &str) -> String {
    let text = super::INTERRUPTED;
    format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":"{text}","is_error":true}}"#)
}

/// The images of a block, those inside a result too, with their base64.
pub(crate) fn images(value: Value<'_>) -> Vec<(Value<'_>, Value<'_>)> {
    let Some(object) = value.object() else { return Vec::new() };
    match object.text("type").as_deref() {
        Some("image") => base64(&object).map(|it| (value, it)).into_iter().collect(),
        Some("tool_result") => {
            let nested = object.get("content").and_then(|it| it.array()).unwrap_or_default();
            nested
                .into_iter()
                .filter_map(|it| {
                    let object = it.object()?;
                    (object.text("type")? == "image").then_some(())?;
                    Some((it, base64(&object)?))
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn base64<'a>(image: &Object<'a>) -> Option<Value<'a>> {
    let data = image.get("source")?.get("data")?;
    data.source.starts_with('"').then_some(data)
}

/// The part that a block is; none of what is no block.
pub(crate) fn part(value: Value<'_>) -> Option<Part> {
    let object = value.object()?;
    let kind = object.text("type").unwrap_or_default().into_owned();
    Some(match &*kind {
        "text" => match object.text("text") {
            Some(text) => {
                let extra = super::extra(&object, &ANTHROPIC, &["type", "text"]);
                Part::Text(Text { text: text.into_owned(), extra })
            }
            None => other(value),
        },
        "thinking" => Part::Reasoning(Reasoning {
            text: object.text("thinking").map(Into::into),
            signature: object.text("signature").map(Into::into),
            extra: super::extra(&object, &ANTHROPIC, &["type", "thinking", "signature"]),
            ..Reasoning::default()
        }),
        "redacted_thinking" => Part::Reasoning(Reasoning {
            redacted: object.text("data").map(Into::into),
            extra: super::extra(&object, &ANTHROPIC, &["type", "data"]),
            ..Reasoning::default()
        }),
        "tool_use" => Part::ToolCall(call(&object)),
        "tool_result" => Part::ToolResult(result(&object)),
        "image" => image(&object).map_or_else(|| other(value), Part::Image),
        "document" => document(&object).map_or_else(|| other(value), Part::File),
        _ => other(value),
    })
}

const ANTHROPIC: Origin = Origin::Anthropic;

fn call(object: &Object<'_>) -> ToolCall {
    let input = object.get("input").map_or("", |it| it.source);
    ToolCall {
        extra: super::extra(object, &ANTHROPIC, &["type", "id", "name", "input"]),
        ..ToolCall::new(super::text(object, "id"), super::text(object, "name"), input)
    }
}

fn result(object: &Object<'_>) -> ToolResult {
    const KNOWN: [&str; 4] = ["type", "tool_use_id", "content", "is_error"];
    let content = object.get("content").map(result_content).unwrap_or_default();
    ToolResult {
        is_error: object.is_true("is_error"),
        extra: super::extra(object, &ANTHROPIC, &KNOWN),
        ..ToolResult::new(super::text(object, "tool_use_id"), content)
    }
}

fn result_content(value: Value<'_>) -> ResultContent {
    match (value.text(), value.array()) {
        (Some(text), _) => ResultContent::from(text.into_owned()),
        (None, Some(blocks)) => {
            ResultContent::from(blocks.into_iter().filter_map(nested).collect::<Vec<_>>())
        }
        _ => ResultContent::default(),
    }
}

/// A block inside a result; calls and results are none there, so that nothing nests.
fn nested(value: Value<'_>) -> Option<Part> {
    match kind(value) {
        Some(BlockKind::Call(_) | BlockKind::Result(_)) => Some(other(value)),
        _ => part(value),
    }
}

fn image(object: &Object<'_>) -> Option<Image> {
    let source = object.get("source")?.object()?;
    let extra = super::extra(object, &ANTHROPIC, &["type", "source"]);
    let media_type = source.text("media_type").map(Into::into);
    match &*source.text("type")? {
        "base64" => {
            let url = super::data_url(media_type.as_deref(), &source.text("data")?);
            Some(Image { url: Some(url), media_type, extra, ..Image::default() })
        }
        "url" => {
            let url = source.text("url")?.into_owned();
            Some(Image { url: Some(url), media_type, extra, ..Image::default() })
        }
        "file" => {
            let file_id = source.text("file_id")?.into_owned();
            Some(Image { file_id: Some(file_id), media_type, extra, ..Image::default() })
        }
        _ => None,
    }
}

fn document(object: &Object<'_>) -> Option<File> {
    let source = object.get("source")?.object()?;
    let filename = object.text("title").map(Into::into);
    let media_type = source.text("media_type").map(Into::into);
    let extra = super::extra(object, &ANTHROPIC, &["type", "source", "title"]);
    let file = File { filename, media_type, extra, ..File::default() };
    match &*source.text("type")? {
        "base64" => Some(File { data: Some(source.text("data")?.into_owned()), ..file }),
        "url" => Some(File { url: Some(source.text("url")?.into_owned()), ..file }),
        "file" => Some(File { file_id: Some(source.text("file_id")?.into_owned()), ..file }),
        _ => None,
    }
}

fn other(value: Value<'_>) -> Part {
    let place = Some(Place::Content);
    Part::Other(Other { place, ..Other::new(ANTHROPIC, value.raw_json()) })
}
