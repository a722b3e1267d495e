//! Haystack: chat messages as written by `ChatMessage.to_dict`. Before version 2.10, member names begin with
//! `_`.
//!
//! ```text
//! {"role":"assistant","meta":{},"name":null,"content":[{"tool_call":{"id":"c1","tool_name":"f","arguments":{…}}}]}
//! {"role":"tool","meta":{},"name":null,"content":[{"tool_call_result":{"result":"r","origin":{…},"error":false}}]}
//! ```

use msg_core::{
    Content, File, Image, Message, Part, Reasoning, Report, Role, ToolCall, ToolResult,
};
use msg_json::Writer;

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::Dialect;
use crate::dialects::frameworks::said;
use crate::dialects::frameworks::writing::{Media, Names, write_records};
use crate::edit::{Object, Value, quoted};
use crate::parts::{self, INTERRUPTED};
use crate::view::View;
use crate::write::{WriteOptions, list_of_result, text_of_result, write_arguments};

pub(crate) static STORE: Store = Store {
    members: &["_content", "_role", "content", "role"],
    blocks: &["content", "_content"],
    wrap: Wrap::new(wrap),
    style: |record| u8::from(record.has("_role")),
    ..Store::new(Dialect::Haystack, read, close, write)
};

/// The style whose names begin with `_`.
const OLD: u8 = 1;

fn read(records: &Records<'_>) -> View {
    each(records, |view, at, record| {
        let mark = if record.has("_role") { "_" } else { "" };
        let member = |name: &str| format!("{mark}{name}");
        let role = Role::from(&*parts::text(record, &member("role")));
        let mut grown = Grown::new(view, role, at);
        grown.draft.message.name = said(record, &member("name"));
        match record.text(&member("content")) {
            Some(text) => grown.push(Part::text(text), None),
            None => {
                for (n, it) in record.blocks(&member("content")) {
                    grown.push(part(it), n);
                }
            }
        }
        grown.finish();
    })
}

fn part(value: Value<'_>) -> Part {
    let Some(object) = value.object() else { return parts::other(value) };
    let inner = |name: &str| object.inner(name);
    if let Some(text) = object.plain("text") {
        return Part::text(text);
    }
    if let Some(call) = inner("tool_call") {
        return Part::ToolCall(self::call(&call));
    }
    if let Some(result) = inner("tool_call_result") {
        return Part::ToolResult(self::result(&result));
    }
    if let Some(thought) = inner("reasoning") {
        return Part::Reasoning(Reasoning::new(parts::text(&thought, "reasoning_text")));
    }
    let media = inner("image").and_then(|it| {
        let (media_type, data) = (said(&it, "mime_type"), said(&it, "base64_image")?);
        let url = parts::data_url(media_type.as_deref().or(Some("image/png")), &data);
        let detail = said(&it, "detail");
        Some(Part::Image(Image { media_type, detail, ..Image::from_url(url) }))
    });
    let file = || {
        let it = inner("file")?;
        let data = Some(said(&it, "base64_data")?);
        let (media_type, filename) = (said(&it, "mime_type"), said(&it, "filename"));
        Some(Part::File(File { data, filename, media_type, ..File::default() }))
    };
    media.or_else(file).unwrap_or_else(|| parts::other(value))
}

fn call(call: &Object<'_>) -> ToolCall {
    let arguments = call.get("arguments").map(|it| it.plain()).unwrap_or_default();
    ToolCall::new(parts::text(call, "id"), parts::text(call, "tool_name"), arguments)
}

fn result(result: &Object<'_>) -> ToolResult {
    let origin = result.inner("origin");
    let text = |name: &str| origin.as_ref().and_then(|it| said(it, name));
    let content = match result.get("result").map(|it| (it, it.array())) {
        Some((_, Some(list))) => Content::from(list.into_iter().map(part).collect::<Vec<_>>()),
        Some((it, None)) => Content::from(it.plain()),
        None => Content::default(),
    };
    let is_error = result.is_true("error");
    let id = text("id").unwrap_or_default();
    ToolResult { name: text("tool_name"), is_error, ..ToolResult::new(id, content) }
}

fn close(open: &Open<'_>) -> Closing {
    let call = open.block.and_then(|it| it.get("tool_call"));
    let named = || {
        format!(
            r#"{{"id":{},"tool_name":{},"arguments":{{}}}}"#,
            quoted(open.id),
            quoted(open.name)
        )
    };
    let origin = call.map_or_else(named, |it| it.source.to_owned());
    let text = quoted(INTERRUPTED);
    Closing::Result(format!(
        r#"{{"tool_call_result":{{"result":{text},"origin":{origin},"error":true}}}}"#
    ))
}

fn wrap(block: &str, beside: &Object<'_>, _: u8) -> String {
    match beside.has("_role") {
        true => format!(r#"{{"_role":"tool","_content":[{block}],"_name":null,"_meta":{{}}}}"#),
        false => format!(r#"{{"role":"tool","meta":{{}},"name":null,"content":[{block}]}}"#),
    }
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let names = Names::of(messages);
    let mark = if options.style == OLD { "_" } else { "" };
    let member = |name: &str| format!("{mark}{name}");
    write_records(messages, |it, entry| {
        it.key(&member("role")).str(entry.role());
        it.key(&member("meta")).object(|_| {});
        it.key(&member("name")).opt_str(entry.message.name.as_deref());
        it.key(&member("content")).array(entry.parts(), |it, part| {
            it.object(|it| match part {
                Part::ToolResult(result) => write_result(it, result, &names),
                part => write_part(it, part),
            });
        });
    })
}

fn write_call(it: &mut Writer<'_>, call: &ToolCall) {
    it.key("id").str(&call.id);
    it.key("tool_name").str(&call.name);
    write_arguments(it.key("arguments"), call);
}

fn write_result(it: &mut Writer<'_>, result: &ToolResult, names: &Names<'_>) {
    it.key("tool_call_result").object(|it| {
        match list_of_result(result) {
            None => it.key("result").str(&text_of_result(result)),
            Some(list) => it.key("result").array(list, |it, part| {
                it.object(|it| write_part(it, part));
            }),
        }
        it.key("origin").object(|it| match names.call(result) {
            Some(call) => write_call(it, call),
            None => {
                it.key("id").str(&result.call_id);
                it.key("tool_name").str(names.of_result(result));
                it.key("arguments").object(|_| {});
            }
        });
        it.key("error").bool(result.is_error);
    });
}

fn write_part(it: &mut Writer<'_>, part: &Part) {
    match part {
        Part::ToolCall(call) => it.key("tool_call").object(|it| write_call(it, call)),
        Part::Reasoning(thought) => it.key("reasoning").object(|it| {
            it.key("reasoning_text").str(&thought.display_text());
            it.key("extra").object(|_| {});
        }),
        part => match Media::of(part).filter(|it| it.data.is_some()) {
            Some(media) if matches!(part, Part::Image(_)) => it.key("image").object(|it| {
                it.key("base64_image").str(media.source());
                it.key("mime_type").str(media.media_type);
            }),
            Some(media) => it.key("file").object(|it| {
                it.key("base64_data").str(media.source());
                it.key("mime_type").str(media.media_type);
                it.key("filename").opt_str(media.filename);
            }),
            None => it.key("text").str(part.as_text().unwrap_or_default()),
        },
    }
}
