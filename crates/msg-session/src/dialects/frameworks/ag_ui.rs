//! AG-UI: messages between an agent and its user interface, with members in camel case.
//!
//! ```text
//! {"id":"2","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}
//! {"id":"3","role":"tool","toolCallId":"c1","content":"r","error":"…"}
//! ```
//!
//! The activities that the interface shows are not sent to a model.

use msg_core::{File, Image, Message, Part, Reasoning, Report, Role, ToolCall, ToolResult};
use msg_json::Writer;

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::Dialect;
use crate::dialects::frameworks::said;
use crate::dialects::frameworks::writing::{Media, is_answer, write_records};
use crate::edit::{Object, Value, quoted};
use crate::parts::{self, INTERRUPTED};
use crate::view::{Draft, PartOrigin, View};
use crate::write::{WriteOptions, text_of, text_of_result};

pub(crate) static STORE: Store = Store {
    wrap: Wrap::new(|result, _, _| result.to_owned()),
    ..Store::new(Dialect::AgUi, read, close, write)
};

fn read(records: &Records<'_>) -> View {
    // AG-UI stores reasoning as a message of its own before the answer.
    let mut thoughts: Option<Draft> = None;
    let mut view = each(records, |view, at, record| {
        let word = record.text("role").unwrap_or_default();
        if word == "activity" {
            return;
        }
        if word == "reasoning" {
            let draft = thoughts.get_or_insert_with(|| Draft::new(Role::Assistant));
            let mut thought = Reasoning::new(parts::text(record, "content"));
            thought.encrypted = said(record, "encryptedValue");
            return draft.push(Part::Reasoning(thought), PartOrigin::record(at));
        }
        let role = Role::from(&*parts::text(record, "role"));
        let before = thoughts.take();
        let mut grown = Grown::new(view, role.clone(), at);
        match before {
            Some(before) if role == Role::Assistant => grown.draft = before,
            Some(before) => grown.view.push(before),
            None => {}
        }
        grown.draft.message.name = said(record, "name").filter(|_| role != Role::Tool);
        if role == Role::Tool {
            grown.push(Part::ToolResult(result(record)), None);
            return grown.finish();
        }
        match record.text("content") {
            Some(text) if text.is_empty() => {}
            Some(text) => grown.push(Part::text(text), None),
            None => {
                for (n, it) in record.blocks("content") {
                    grown.push(part(it), n);
                }
            }
        }
        for (_, it) in record.blocks("toolCalls") {
            let Some(function) = it.inner("function") else {
                grown.push(parts::other(it), None);
                continue;
            };
            let id = it.object().map(|it| parts::text(&it, "id")).unwrap_or_default();
            let (name, arguments) =
                (parts::text(&function, "name"), parts::text(&function, "arguments"));
            grown.push(Part::ToolCall(ToolCall::new(id, name, arguments)), None);
        }
        grown.finish();
    });
    view.push(thoughts.unwrap_or_else(|| Draft::new(Role::Assistant)));
    view
}

fn result(record: &Object<'_>) -> ToolResult {
    let error = said(record, "error");
    let content = said(record, "content").or_else(|| error.clone()).unwrap_or_default();
    let is_error = error.is_some();
    ToolResult { is_error, ..ToolResult::new(parts::text(record, "toolCallId"), content) }
}

/// A part of a user message. The older form of media is `binary`; the newer one has its kind and a `source`.
fn part(value: Value<'_>) -> Part {
    let Some(object) = value.object() else { return parts::other(value) };
    let kind = object.text("type").unwrap_or_default();
    if kind == "text" {
        return Part::text(parts::text(&object, "text"));
    }
    let source = object.inner("source");
    let beside = source.as_ref().unwrap_or(&object);
    let is_data = beside.text("type").is_some_and(|it| it == "data");
    let value_of = |name: &str| said(beside, name);
    let data = value_of("data").or_else(|| value_of("value").filter(|_| is_data));
    let url = value_of("url").or_else(|| value_of("value").filter(|_| !is_data));
    let media_type = value_of("mimeType");
    let is_image =
        kind == "image" || media_type.as_deref().is_some_and(|it| it.starts_with("image/"));
    if is_image && (data.is_some() || url.is_some()) {
        let inline = |it: String| parts::data_url(media_type.as_deref().or(Some("image/png")), &it);
        let url = data.map(inline).or(url).unwrap_or_default();
        return Part::Image(Image { media_type, ..Image::from_url(url) });
    }
    let is_stored = beside.text("type").is_some_and(|it| it == "file");
    // In the newer form `id` names the part; a provider's file id is in `source`.
    let (url, file_id) = match is_stored {
        true => (None, url),
        false => (url, said(&object, "id").filter(|_| source.is_none())),
    };
    match data.is_some() || url.is_some() || file_id.is_some() {
        true => {
            let metadata = object.inner("metadata");
            let beside = || metadata.as_ref().and_then(|it| said(it, "filename"));
            let filename = said(&object, "filename").or_else(beside);
            Part::File(File { file_id, url, data, filename, media_type, ..File::default() })
        }
        false => parts::other(value),
    }
}

fn close(open: &Open<'_>) -> Closing {
    let (id, text) = (quoted(open.id), quoted(INTERRUPTED));
    let own = quoted(&format!("{}-result", open.id));
    Closing::Result(format!(
        r#"{{"id":{own},"role":"tool","toolCallId":{id},"content":{text},"error":{text}}}"#
    ))
}

fn write(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let mut number = 0;
    write_records(messages, |it, entry| {
        it.key("id").str(&format!("msg-{number}"));
        number += 1;
        if let Some(result) = entry.result {
            let text = text_of_result(result);
            it.key("role").str("tool");
            it.key("content").str(&text);
            it.key("toolCallId").str(&result.call_id);
            if result.is_error {
                it.key("error").str(&text);
            }
            return;
        }
        it.key("role").str(entry.role());
        if let Some(name) = &entry.message.name {
            it.key("name").str(name);
        }
        let said =
            entry.message.parts.iter().filter(|it| {
                matches!(it, Part::Text(_) | Part::Refusal(_)) || Media::of(it).is_some()
            });
        let said: Vec<_> = said.collect();
        let has_media = said.iter().any(|it| Media::of(it).is_some());
        match (has_media, is_answer(entry.message)) {
            (true, _) => it.key("content").array(said, |it, part| {
                it.object(|it| match Media::of(part) {
                    Some(media) => write_media(it, part, &media),
                    None => {
                        it.key("type").str("text");
                        it.key("text").str(part.as_text().unwrap_or_default());
                    }
                });
            }),
            (false, true) if said.is_empty() => {}
            (false, _) => it.key("content").str(&text_of(entry.message)),
        }
        if entry.message.tool_calls().next().is_some() {
            it.key("toolCalls").array(entry.message.tool_calls(), |it, call| {
                it.object(|it| {
                    it.key("id").str(&call.id);
                    it.key("type").str("function");
                    it.key("function").object(|it| {
                        it.key("name").str(&call.name);
                        it.key("arguments").str(call.arguments.text());
                    });
                });
            });
        }
    })
}

/// A media part: its kind and its source.
fn write_media(it: &mut Writer<'_>, part: &Part, media: &Media<'_>) {
    let kind = media.media_type.split('/').next().unwrap_or_default();
    let is_kind = matches!(kind, "image" | "audio" | "video");
    let is_known = match part {
        Part::Image(it) => it.media_type.is_some(),
        Part::File(it) => it.media_type.is_some(),
        _ => false,
    };
    it.key("type").str(if is_kind { kind } else { "document" });
    it.key("source").object(|it| {
        it.key("type").str(if media.data.is_some() { "data" } else { "url" });
        it.key("value").str(media.source());
        // A URL may have an unknown type.
        if is_known || media.data.is_some() {
            it.key("mimeType").str(media.media_type);
        }
    });
    if let Some(name) = media.filename {
        it.key("metadata").object(|it| {
            it.key("filename").str(name);
        });
    }
}
