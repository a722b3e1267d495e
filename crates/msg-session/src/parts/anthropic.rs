//! Anthropic content blocks (claude-code, cline): what the link rules see of them, and their parts as
//! msg-anthropic reads them.
//!
//! ```text
//! {"type":"tool_use","id":"toolu_1","name":"Bash","input":{…}}          a call
//! {"type":"tool_result","tool_use_id":"toolu_1","content":"…"}          its result
//! ```

use std::borrow::Cow;

use msg_anthropic::{ReadOptions, messages};
use msg_core::{Origin, Other, Part, Place};

use crate::edit::{Object, Value};
use crate::link::{BlockKind, Content, Media};

/// The content member of a message, as the link rules see it.
pub(crate) fn content<'a>(content: Option<Value<'a>>) -> Content<'a> {
    Content::of(content, kind)
}

fn kind(value: Value<'_>) -> Option<BlockKind<'_>> {
    let object = value.object()?;
    Some(match &*object.text("type")? {
        "tool_use" => BlockKind::Call(object.get("id")),
        "tool_result" => BlockKind::Result(object.get("tool_use_id")),
        "server_tool_use" | "mcp_tool_use" => BlockKind::ServerCall(object.get("id")),
        kind if kind.ends_with("_tool_result") => {
            BlockKind::ServerResult(object.get("tool_use_id"))
        }
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
pub(crate) fn placeholder(id: &str, _: Value<'_>) -> String {
    let text = super::INTERRUPTED;
    format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":"{text}","is_error":true}}"#)
}

/// The images and documents of a block, those inside a result too.
pub(crate) fn media(value: Value<'_>) -> Vec<Media<'_>> {
    let Some(object) = value.object() else { return Vec::new() };
    match object.text("type").as_deref() {
        Some("tool_result") => object.list("content").into_iter().filter_map(one).collect(),
        _ => one(value).into_iter().collect(),
    }
}

/// An image or a PDF in base64.
fn one(value: Value<'_>) -> Option<Media<'_>> {
    let block = value.object()?;
    let is_document = match &*block.text("type")? {
        "image" => false,
        "document" => true,
        _ => return None,
    };
    let source = block.inner("source")?;
    let data = source.get("data").filter(|it| it.source.starts_with('"'))?;
    let media_type = source.get("media_type");
    let is_pdf = media_type.is_some_and(|it| it.text().is_some_and(|it| it == "application/pdf"));
    (!is_document || is_pdf).then_some(Media { value, data, media_type, is_document })
}

/// The part that a block is, as msg-anthropic reads it; none of what is not an object.
pub(crate) fn part(value: Value<'_>) -> Option<Part> {
    let block = with_ids(value)?;
    // Results are of a user there, everything else may be of an answer.
    let is_result = matches!(kind(value), Some(BlockKind::Result(_)));
    let role = if is_result { "user" } else { "assistant" };
    let json = format!(r#"[{{"role":"{role}","content":[{block}]}}]"#);
    let read = messages::read(json.as_bytes(), &ReadOptions::default());
    let mut messages = read.map(|it| it.0.into_messages()).unwrap_or_default();
    match messages.pop().map(|it| it.parts) {
        Some(mut parts) if parts.len() == 1 && messages.is_empty() => {
            parts.pop().map(super::with_media_types)
        }
        _ => Some(other(value)),
    }
}

/// A block with the members that it must have: older sessions of Cline tell calls by their place alone.
fn with_ids(value: Value<'_>) -> Option<Cow<'_, str>> {
    let object = value.object()?;
    let needed: &[&str] = match kind(value) {
        Some(BlockKind::Call(_)) => &["id", "name"],
        Some(BlockKind::Result(_)) => &["tool_use_id"],
        _ => &[],
    };
    let missing = needed.iter().filter(|it| !object.has(it));
    let missing: String = missing.map(|it| format!("\"{it}\":\"\",")).collect();
    Some(match missing.is_empty() {
        true => Cow::Borrowed(value.source),
        false => Cow::Owned(format!("{{{missing}{}", &value.source[1..])),
    })
}

fn other(value: Value<'_>) -> Part {
    let place = Some(Place::Content);
    Part::Other(Other { place, ..Other::new(Origin::Anthropic, value.raw_json()) })
}
