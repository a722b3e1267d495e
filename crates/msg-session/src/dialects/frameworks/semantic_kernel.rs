//! Semantic Kernel: a chat history, whose messages have items. Python names kinds in `content_type` with members in
//! snake case, .NET in `$type` with members in Pascal case.
//!
//! ```text
//! {"content_type":"message","role":"assistant","items":[{"content_type":"function_call","id":"c1","name":"p-f","arguments":"{}"}]}
//! {"Role":{"Label":"tool"},"Items":[{"$type":"FunctionResultContent","CallId":"c1","FunctionName":"f","Result":"r"}]}
//! ```
//!
//! The name of a function is what a model calls it: the plugin, a hyphen, the function.

use msg_core::{File, Image, Message, Part, Reasoning, Report, Role, ToolCall, ToolResult};
use msg_json::{Writer, to_text};

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::Dialect;
use crate::dialects::frameworks::autogen::{Media, Names, entries, role};
use crate::json::{Object, Value, quoted};
use crate::parts::seals::said;
use crate::parts::{self, INTERRUPTED};
use crate::view::View;
use crate::write::WriteOptions;
use crate::write::blocks::write_arguments;

pub(crate) static STORE: Store = Store {
    members: &["Content", "Items", "Role", "content", "items", "role"],
    lists: &["messages", "Messages", "chat_history.messages"],
    blocks: &["items", "Items"],
    wrap: Wrap::new(|block, beside| match is_of_net(beside) {
        true => format!(r#"{{"Role":{{"Label":"tool"}},"Items":[{block}]}}"#),
        false => format!(
            r#"{{"metadata":{{}},"content_type":"message","role":"tool","items":[{block}]}}"#
        ),
    }),
    style: |record| u8::from(is_of_net(record)),
    ..Store::new(Dialect::SemanticKernel, read, close, write)
};

/// The style of .NET.
const NET: u8 = 1;

const NAME: &str = "semantic-kernel";

fn is_of_net(record: &Object<'_>) -> bool {
    record.has("Role") || record.has("Items")
}

fn read(records: &Records<'_>) -> View {
    each(records, |view, at, record| {
        let label = || record.inner("Role").and_then(|it| said(&it, "Label"));
        let own = || said(record, "role").or_else(|| said(record, "Role"));
        let role = label().or_else(own);
        let mut grown = Grown::new(view, Role::from(&*role.unwrap_or_default()), at);
        let name = said(record, "name").or_else(|| said(record, "AuthorName"));
        grown.draft.message.name = name;
        // Before it had items a message had a text.
        let text = said(record, "content").or_else(|| said(record, "Content"));
        let items = ["items", "Items"].map(|it| record.blocks(it)).concat();
        match (items.is_empty(), text) {
            (true, Some(text)) => grown.push(Part::text(text), None),
            _ => {
                for (n, value) in items {
                    grown.push(part(value), n);
                }
            }
        }
        grown.finish();
    })
}

fn part(value: Value<'_>) -> Part {
    let Some(object) = value.object() else { return parts::other(value) };
    let kind = said(&object, "content_type").or_else(|| said(&object, "$type")).unwrap_or_default();
    let either = |python: &str, net: &str| said(&object, python).or_else(|| said(&object, net));
    match &*kind {
        "text" | "TextContent" => Part::text(either("text", "Text").unwrap_or_default()),
        "reasoning" | "ReasoningContent" => {
            Part::Reasoning(Reasoning::new(either("text", "Text").unwrap_or_default()))
        }
        "function_call" | "FunctionCallContent" => {
            let arguments = object.get("arguments").or_else(|| object.get("Arguments"));
            let arguments = arguments.filter(|it| !it.is_null()).map(|it| it.plain());
            let (id, name) = (either("id", "Id").unwrap_or_default(), function(&object));
            Part::ToolCall(ToolCall::new(id, name, arguments.unwrap_or_default()))
        }
        "function_result" | "FunctionResultContent" => {
            let id = said(&object, "CallId").or_else(|| said(&object, "call_id"));
            let id = id.or_else(|| said(&object, "id")).unwrap_or_default();
            let result = object.get("result").or_else(|| object.get("Result"));
            let content = result.filter(|it| !it.is_null()).map(|it| it.plain());
            let name = Some(function(&object)).filter(|it| !it.is_empty());
            Part::ToolResult(ToolResult {
                name,
                ..ToolResult::new(id, content.unwrap_or_default())
            })
        }
        _ => media(&object).unwrap_or_else(|| parts::own(value, NAME)),
    }
}

/// The name by which a model calls a function.
fn function(object: &Object<'_>) -> String {
    let either = |python: &str, net: &str| said(object, python).or_else(|| said(object, net));
    if let Some(name) = said(object, "name").filter(|it| !it.is_empty()) {
        return name;
    }
    let name = either("function_name", "FunctionName").unwrap_or_default();
    match either("plugin_name", "PluginName").filter(|it| !it.is_empty()) {
        Some(plugin) => format!("{plugin}-{name}"),
        None => name,
    }
}

fn media(object: &Object<'_>) -> Option<Part> {
    let data = ["data_uri", "DataUri"].iter().find_map(|it| said(object, it));
    let url = ["uri", "Uri"].iter().find_map(|it| said(object, it));
    let url = data.filter(|it| !it.is_empty()).or(url).filter(|it| !it.is_empty())?;
    let own = ["mime_type", "MimeType"].iter().find_map(|it| said(object, it));
    let media_type = own.or_else(|| {
        let (kind, _) = url.strip_prefix("data:")?.split_once(';')?;
        Some(kind.to_owned())
    });
    let kind = said(object, "content_type").or_else(|| said(object, "$type")).unwrap_or_default();
    let is_image = media_type.as_deref().is_some_and(|it| it.starts_with("image/"));
    if is_image || kind == "image" || kind == "ImageContent" {
        return Some(Part::Image(Image { media_type, ..Image::from_url(url) }));
    }
    let (data, url) = if url.starts_with("data:") { (Some(url), None) } else { (None, Some(url)) };
    Some(Part::File(File { url, data, media_type, ..File::default() }))
}

fn close(open: &Open<'_>) -> Closing {
    let (id, name, text) = (quoted(open.id), quoted(open.name), quoted(INTERRUPTED));
    if is_of_net(open.record) {
        let call = open.block.and_then(|it| it.object());
        let own = |it: &str| Some((it.to_owned(), call.as_ref()?.get(it)?.source));
        let names = ["PluginName", "FunctionName"].into_iter().filter_map(own);
        let names: String = names.map(|(name, it)| format!(r#""{name}":{it},"#)).collect();
        return Closing::Result(format!(
            r#"{{"$type":"FunctionResultContent",{names}"CallId":{id},"Result":{text}}}"#
        ));
    }
    Closing::Result(format!(
        r#"{{"metadata":{{}},"content_type":"function_result","id":{id},"result":{text},"name":{name}}}"#
    ))
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let is_net = options.style == NET;
    let names = Names::of(messages);
    let list = |it: &mut Writer<'_>| {
        it.array(entries(messages), |it, entry| {
            it.object(|it| {
                let role = if entry.result.is_some() { "tool" } else { role(entry.message) };
                let name = entry.message.name.as_deref().filter(|_| entry.result.is_none());
                begin(it, role, name, is_net);
                let items = it.key(if is_net { "Items" } else { "items" });
                match entry.result {
                    Some(result) => items.array([result], |it, result| {
                        let name = names.of_result(result);
                        it.object(|it| write_result(it, result, name, is_net));
                    }),
                    None => items.array(
                        entry.message.parts.iter().filter(|it| it.as_tool_result().is_none()),
                        |it, part| it.object(|it| write_part(it, part, is_net)),
                    ),
                }
            });
        });
    };
    let text = to_text(|it| match is_net {
        true => list(it),
        // A chat history of Python is an object.
        false => it.object(|it| list(it.key("messages"))),
    });
    text.into_bytes()
}

fn begin(it: &mut Writer<'_>, role: &str, name: Option<&str>, is_net: bool) {
    if is_net {
        it.key("Role").object(|it| {
            it.key("Label").str(role);
        });
    } else {
        it.key("content_type").str("message");
        it.key("role").str(role);
    }
    if let Some(name) = name {
        it.key(if is_net { "AuthorName" } else { "name" }).str(name);
    }
}

/// The plugin and the function that a name is.
fn write_name(it: &mut Writer<'_>, name: &str, is_net: bool) {
    if !is_net {
        it.key("name").str(name);
        return;
    }
    let (plugin, function) = name.split_once('-').map_or((None, name), |it| (Some(it.0), it.1));
    if let Some(plugin) = plugin {
        it.key("PluginName").str(plugin);
    }
    it.key("FunctionName").str(function);
}

fn write_result(it: &mut Writer<'_>, result: &ToolResult, name: &str, is_net: bool) {
    let names = match is_net {
        true => ("$type", "FunctionResultContent", "CallId", "Result"),
        false => ("content_type", "function_result", "id", "result"),
    };
    it.key(names.0).str(names.1);
    it.key(names.2).str(&result.call_id);
    write_name(it, name, is_net);
    it.key(names.3).str(&result.content.text());
}

fn write_part(it: &mut Writer<'_>, part: &Part, is_net: bool) {
    let mut kind = |python: &str, net: &str| match is_net {
        true => it.key("$type").str(net),
        false => it.key("content_type").str(python),
    };
    match part {
        Part::ToolCall(call) => {
            kind("function_call", "FunctionCallContent");
            it.key(if is_net { "Id" } else { "id" }).str(&call.id);
            write_name(it, &call.name, is_net);
            match is_net {
                true => write_arguments(it.key("Arguments"), call),
                false => {
                    it.key("arguments").str(call.arguments.text());
                }
            }
        }
        Part::Reasoning(thought) => {
            kind("reasoning", "ReasoningContent");
            it.key(if is_net { "Text" } else { "text" }).str(&thought.display_text());
        }
        part => match Media::of(part) {
            Some(media) => {
                match media.media_type.split('/').next().unwrap_or_default() {
                    "image" => kind("image", "ImageContent"),
                    "audio" => kind("audio", "AudioContent"),
                    _ => kind("binary", "BinaryContent"),
                };
                match (media.data.is_some(), is_net) {
                    (true, true) => it.key("DataUri").str(&media.as_url()),
                    (true, false) => it.key("data_uri").str(&media.as_url()),
                    (false, true) => it.key("Uri").str(media.source()),
                    (false, false) => it.key("uri").str(media.source()),
                };
                it.key(if is_net { "MimeType" } else { "mime_type" }).str(media.media_type);
            }
            None => {
                kind("text", "TextContent");
                let text = part.as_text().unwrap_or_default();
                it.key(if is_net { "Text" } else { "text" }).str(text);
            }
        },
    }
}
