//! Microsoft Agent Framework and Microsoft.Extensions.AI: messages with contents. Python names the kind in `type` and
//! uses snake case; .NET names it in `$type` and uses camel case.
//!
//! ```text
//! {"type":"message","role":"assistant","contents":[{"type":"function_call","call_id":"c1","name":"f","arguments":{}}]}
//! {"role":"tool","contents":[{"$type":"functionResult","callId":"c1","result":"r"}]}
//! ```

use msg_core::{File, Image, Message, Part, Reasoning, Report, Role, ToolCall, ToolResult};
use msg_json::Writer;

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::Dialect;
use crate::dialects::frameworks::said;
use crate::dialects::frameworks::writing::{Media, write_records};
use crate::edit::{Object, Value, quoted};
use crate::parts::{self, INTERRUPTED};
use crate::view::View;
use crate::write::{WriteOptions, text_of_result, write_arguments};

pub(crate) static STORE: Store = Store {
    members: &["contents", "role"],
    lists: &[
        "messages",
        "chat_message_store_state.messages",
        "storeState.messages",
        "state.messages",
    ],
    blocks: &["contents"],
    wrap: Wrap::new(|block, _, style| match style == NET {
        true => format!(r#"{{"role":"tool","contents":[{block}]}}"#),
        false => format!(r#"{{"type":"message","role":"tool","contents":[{block}]}}"#),
    }),
    style: |record| u8::from(is_of_net(record)),
    ..Store::new(Dialect::AgentFramework, read, close, write)
};

/// The .NET style.
const NET: u8 = 1;

const NAME: &str = "agent-framework";

fn is_of_net(record: &Object<'_>) -> bool {
    record.list("contents").iter().any(|it| it.get("$type").is_some())
}

fn read(records: &Records<'_>) -> View {
    each(records, |view, at, record| {
        // Before version 1.0, Python stored a role as an object.
        let inner = || record.inner("role").and_then(|it| said(&it, "value"));
        let role = inner().or_else(|| said(record, "role")).unwrap_or_default();
        let mut grown = Grown::new(view, Role::from(&*role), at);
        for (n, value) in record.blocks("contents") {
            if let Some(part) = part(value) {
                grown.push(part, n);
            }
        }
        grown.finish();
    })
}

fn part(value: Value<'_>) -> Option<Part> {
    let Some(object) = value.object() else { return Some(parts::other(value)) };
    let kind = said(&object, "$type").or_else(|| said(&object, "type")).unwrap_or_default();
    let id = || said(&object, "callId").or_else(|| said(&object, "call_id")).unwrap_or_default();
    Some(match &*kind {
        "text" => Part::text(parts::text(&object, "text")),
        "reasoning" | "text_reasoning" => {
            let protected =
                said(&object, "protectedData").or_else(|| said(&object, "protected_data"));
            let thought = Reasoning::new(parts::text(&object, "text"));
            Part::Reasoning(Reasoning { encrypted: protected, ..thought })
        }
        "functionCall" | "function_call" => {
            let arguments = object.get("arguments").filter(|it| !it.is_null());
            let arguments = arguments.map(|it| it.plain()).unwrap_or_default();
            Part::ToolCall(ToolCall::new(id(), parts::text(&object, "name"), arguments))
        }
        "functionResult" | "function_result" => {
            let result = object.get("result").filter(|it| !it.is_null());
            let error = said(&object, "exception");
            let is_error = error.is_some();
            let content = result.map(|it| it.plain()).or(error).unwrap_or_default();
            Part::ToolResult(ToolResult { is_error, ..ToolResult::new(id(), content) })
        }
        "data" | "uri" => media(&object)?,
        "error" | "usage" | "usageContent" => return None,
        _ => parts::own(value, NAME),
    })
}

fn media(object: &Object<'_>) -> Option<Part> {
    let url = said(object, "uri")?;
    let media_type =
        said(object, "mediaType").or_else(|| said(object, "media_type")).or_else(|| {
            let (kind, _) = url.strip_prefix("data:")?.split_once(';')?;
            Some(kind.to_owned())
        });
    if media_type.as_deref().is_some_and(|it| it.starts_with("image/")) {
        return Some(Part::Image(Image { media_type, ..Image::from_url(url) }));
    }
    let (data, url) = if url.starts_with("data:") { (Some(url), None) } else { (None, Some(url)) };
    let filename = said(object, "name");
    Some(Part::File(File { url, data, filename, media_type, ..File::default() }))
}

fn close(open: &Open<'_>) -> Closing {
    let (id, text) = (quoted(open.id), quoted(INTERRUPTED));
    Closing::Result(match open.style == NET {
        true => format!(r#"{{"$type":"functionResult","callId":{id},"result":{text}}}"#),
        false => format!(
            r#"{{"type":"function_result","call_id":{id},"result":{text},"exception":{text}}}"#
        ),
    })
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let is_net = options.style == NET;
    write_records(messages, |it, entry| {
        if !is_net {
            it.key("type").str("message");
        }
        it.key("role").str(entry.role());
        it.key("contents").array(entry.parts(), |it, part| {
            it.object(|it| match part {
                Part::ToolResult(result) => write_result(it, result, is_net),
                part => write_part(it, part, is_net),
            });
        });
    })
}

fn write_result(it: &mut Writer<'_>, result: &ToolResult, is_net: bool) {
    let text = text_of_result(result);
    let names = match is_net {
        true => ("$type", "functionResult", "callId"),
        false => ("type", "function_result", "call_id"),
    };
    it.key(names.0).str(names.1);
    it.key(names.2).str(&result.call_id);
    it.key("result").str(&text);
    if result.is_error && !is_net {
        it.key("exception").str(&text);
    }
}

fn write_part(it: &mut Writer<'_>, part: &Part, is_net: bool) {
    let mut kind = |net: &str, python: &str| match is_net {
        true => it.key("$type").str(net),
        false => it.key("type").str(python),
    };
    match part {
        Part::ToolCall(call) => {
            kind("functionCall", "function_call");
            it.key(if is_net { "callId" } else { "call_id" }).str(&call.id);
            it.key("name").str(&call.name);
            write_arguments(it.key("arguments"), call);
        }
        Part::Reasoning(thought) => {
            kind("reasoning", "text_reasoning");
            it.key("text").str(&thought.display_text());
            if let Some(sealed) = &thought.encrypted {
                it.key(if is_net { "protectedData" } else { "protected_data" }).str(sealed);
            }
        }
        part => match Media::of(part) {
            Some(media) => {
                let is_data = media.data.is_some();
                let name = if is_data { "data" } else { "uri" };
                kind(name, name);
                it.key("uri").str(&media.as_url());
                it.key(if is_net { "mediaType" } else { "media_type" }).str(media.media_type);
            }
            None => {
                kind("text", "text");
                it.key("text").str(part.as_text().unwrap_or_default());
            }
        },
    }
}
