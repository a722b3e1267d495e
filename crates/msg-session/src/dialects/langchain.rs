//! LangChain: messages as dicts, as constructors, or flat; states of LangGraph hold them in a member.
//!
//! ```text
//! {"type":"ai","data":{"content":"","tool_calls":[{"name":"f","args":{"x":1},"id":"t1"}]}}
//! {"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{…}}
//! {"type":"ai","content":"hello","tool_calls":[]}
//! ```

use msg_core::{Content, Image, Part, Reasoning, Role, ToolCall, ToolResult};

use super::{Checked, Format, document};
use crate::Error;
use crate::blob::Blob;
use crate::json::{Object, Value};
use crate::options::RepairOptions;
use crate::parts::{self, anthropic};
use crate::view::{Draft, Origin, View};

/// The dialect.
pub(crate) struct LangChain;

impl Format for LangChain {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        super::leaf_is_not_chosen(options)?;
        let bytes = super::only(blobs);
        let mut view = View::default();
        if let Some(list) = state(bytes) {
            for (at, source) in list.iter().enumerate() {
                message(&mut view, at, Value { source, at: 0 });
            }
            return Ok(view);
        }
        let array = document::list(bytes, &["messages"]);
        view.findings.clone_from(&array.findings);
        for (at, value) in array.values().enumerate() {
            message(&mut view, at, value);
        }
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], _: &RepairOptions) -> Result<Checked, Error> {
        match state(super::only(blobs)) {
            Some(_) => Ok(document::check_text(super::only(blobs))),
            None => Ok(document::check_list(super::only(blobs), &["messages"])),
        }
    }
}

/// The messages of a LangGraph state.
fn state(bytes: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let state = Value::whole(text, 0)?;
    let values = state.get("channel_values").or_else(|| state.get("values"))?;
    let list = values.get("messages")?.array()?;
    Some(list.into_iter().map(|it| it.source.to_owned()).collect())
}

fn message(view: &mut View, at: usize, value: Value<'_>) {
    let Some(outer) = value.object() else { return };
    let inner = outer.get("data").or_else(|| outer.get("kwargs")).and_then(|it| it.object());
    let class = outer.get("id").and_then(|it| it.array()).and_then(|it| it.last()?.text());
    let body = inner.as_ref().unwrap_or(&outer);
    let kind = match class {
        Some(class) => class.into_owned(),
        None => outer.text("type").or_else(|| body.text("type")).unwrap_or_default().into_owned(),
    };
    let role = role(&kind, body);
    let mut draft = Draft::new(role.clone());
    draft.message.name = body.text("name").map(Into::into).filter(|it: &String| !it.is_empty());
    if role == Role::Tool {
        draft.message.name = None;
        draft.push(Part::ToolResult(result(body)), Origin::record(at));
    } else {
        content(&mut draft, at, body);
        calls(&mut draft, at, body);
        let metadata = body.inner("response_metadata");
        let said = |name: &str| metadata.as_ref().and_then(|it| it.text(name));
        let model = said("model_name").or_else(|| said("model"));
        draft.made_by(model, said("model_provider"));
    }
    view.push(draft);
}

fn role(kind: &str, body: &Object<'_>) -> Role {
    let kind = kind.strip_suffix("Chunk").unwrap_or(kind);
    match kind {
        "human" | "HumanMessage" | "user" => Role::User,
        "ai" | "AIMessage" | "assistant" => Role::Assistant,
        "system" | "SystemMessage" => Role::System,
        "tool" | "ToolMessage" | "function" | "FunctionMessage" => Role::Tool,
        _ => body.text("role").map_or_else(|| Role::from(kind), |it| Role::from(&*it)),
    }
}

fn content(draft: &mut Draft, at: usize, body: &Object<'_>) {
    let Some(content) = body.get("content") else { return };
    match content.text() {
        Some(text) if text.is_empty() => {}
        Some(text) => draft.push(Part::text(text), Origin::record(at)),
        None => {
            for (n, it) in content.array().into_iter().flatten().enumerate() {
                if let Some(part) = part(it) {
                    draft.push(part, Origin::block(at, n));
                }
            }
        }
    }
}

/// A content part. Calls stand there a second time and are skipped.
fn part(value: Value<'_>) -> Option<Part> {
    if let Some(text) = value.text() {
        return Some(Part::text(text));
    }
    let object = value.object()?;
    match &*object.text("type").unwrap_or_default() {
        "tool_use" | "tool_call" | "input_json_delta" => None,
        "image_url" => Some(image_url(&object).map_or_else(|| parts::other(value), Part::Image)),
        "image" if object.has("source_type") => {
            Some(image(&object).map_or_else(|| parts::other(value), Part::Image))
        }
        "reasoning" => {
            let text = object.text("reasoning").or_else(|| object.text("text"));
            Some(Part::Reasoning(Reasoning { text: text.map(Into::into), ..Reasoning::default() }))
        }
        _ => anthropic::part(value),
    }
}

fn image_url(object: &Object<'_>) -> Option<Image> {
    let value = object.get("image_url")?;
    if let Some(url) = value.text() {
        return Some(Image::from_url(url));
    }
    let inner = value.object()?;
    let detail = inner.text("detail").map(Into::into);
    Some(Image { detail, ..Image::from_url(inner.text("url")?) })
}

fn image(object: &Object<'_>) -> Option<Image> {
    let media_type: Option<String> = object.text("mime_type").map(Into::into);
    if let Some(url) = object.text("url") {
        return Some(Image { media_type, ..Image::from_url(url) });
    }
    let url = parts::data_url(media_type.as_deref(), &object.text("data")?);
    Some(Image { media_type, ..Image::from_url(url) })
}

fn calls(draft: &mut Draft, at: usize, body: &Object<'_>) {
    let list = |object: &Object<'_>, name: &str| -> Vec<String> {
        let list = object.list(name);
        list.into_iter().map(|it| it.source.to_owned()).collect()
    };
    let mut found: Vec<ToolCall> = Vec::new();
    for name in ["tool_calls", "invalid_tool_calls"] {
        found.extend(list(body, name).iter().filter_map(|it| call(it)));
    }
    if found.is_empty()
        && let Some(more) = body.inner("additional_kwargs")
    {
        found.extend(list(&more, "tool_calls").iter().filter_map(|it| openai_call(it)));
    }
    found.into_iter().for_each(|it| draft.push(Part::ToolCall(it), Origin::record(at)));
}

/// A call; the arguments of an invalid one are raw text.
fn call(source: &str) -> Option<ToolCall> {
    let object = Value { source, at: 0 }.object()?;
    let arguments = object.get("args").map(|it| match it.text() {
        Some(text) => text.into_owned(),
        None if it.is_null() => String::new(),
        None => it.source.to_owned(),
    });
    let (id, name) = (parts::text(&object, "id"), parts::text(&object, "name"));
    Some(ToolCall::new(id, name, arguments.unwrap_or_default()))
}

fn openai_call(source: &str) -> Option<ToolCall> {
    let object = Value { source, at: 0 }.object()?;
    let function = object.get("function")?.object()?;
    let id = parts::text(&object, "id");
    Some(ToolCall::new(id, parts::text(&function, "name"), parts::text(&function, "arguments")))
}

fn result(body: &Object<'_>) -> ToolResult {
    let content = match body.get("content") {
        Some(it) => match it.text() {
            Some(text) => Content::from(text.into_owned()),
            None => {
                Content::from(it.array().into_iter().flatten().filter_map(part).collect::<Vec<_>>())
            }
        },
        None => Content::default(),
    };
    ToolResult {
        name: body.text("name").map(Into::into).filter(|it: &String| !it.is_empty()),
        is_error: body.text("status").is_some_and(|it| it == "error"),
        ..ToolResult::new(parts::text(body, "tool_call_id"), content)
    }
}
