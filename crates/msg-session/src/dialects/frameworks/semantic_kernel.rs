//! Semantic Kernel: a chat history, whose messages have items. Python names kinds in `content_type` with members in
//! snake case; .NET uses `$type` with members in Pascal case, or in camel case in web applications.
//!
//! ```text
//! {"content_type":"message","role":"assistant","items":[{"content_type":"function_call","id":"c1","name":"p-f","arguments":"{}"}]}
//! {"Role":{"Label":"tool"},"Items":[{"$type":"FunctionResultContent","CallId":"c1","FunctionName":"f","Result":"r"}]}
//! ```
//!
//! The function name that a model sees is the plugin, a hyphen, and the function.

use std::borrow::Cow;

use msg_core::{File, Image, Message, Part, Reasoning, Report, Role, ToolCall, ToolResult};
use msg_json::{Writer, to_text};

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::Dialect;
use crate::dialects::frameworks::said;
use crate::dialects::frameworks::writing::{Media, Names, entries};
use crate::edit::{Object, Value, quoted};
use crate::parts::{self, INTERRUPTED};
use crate::view::View;
use crate::write::{WriteOptions, text_of_result, write_arguments};

pub(crate) static STORE: Store = Store {
    members: &["Content", "Items", "Role", "content", "items", "role"],
    lists: &["messages", "Messages", "chat_history.messages"],
    blocks: &["items", "Items"],
    wrap: Wrap::new(|block, _, style| match Style::numbered(style) {
        Style::Net => format!(r#"{{"Role":{{"Label":"tool"}},"Items":[{block}]}}"#),
        Style::Web => format!(r#"{{"role":"tool","items":[{block}]}}"#),
        Style::Python => format!(
            r#"{{"metadata":{{}},"content_type":"message","role":"tool","items":[{block}]}}"#
        ),
    }),
    style: |record| Style::of(record) as u8,
    ..Store::new(Dialect::SemanticKernel, read, close, write)
};

/// The naming style of members.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Python,
    Net,
    /// .NET with the serializer defaults of web applications.
    Web,
}

impl Style {
    fn of(record: &Object<'_>) -> Self {
        let is_typed = |it: &Value<'_>| it.get("$type").is_some();
        match record.has("Role") || record.has("Items") {
            true => Style::Net,
            false if record.list("items").iter().any(is_typed) => Style::Web,
            false => Style::Python,
        }
    }

    fn numbered(number: u8) -> Self {
        match number {
            0 => Style::Python,
            1 => Style::Net,
            _ => Style::Web,
        }
    }

    fn is_net(self) -> bool {
        self != Style::Python
    }

    /// The name of a member.
    fn name<'n>(self, python: &'n str, net: &'n str) -> Cow<'n, str> {
        match self {
            Style::Python => Cow::Borrowed(python),
            Style::Net => Cow::Borrowed(net),
            Style::Web => Cow::Owned(camel(net)),
        }
    }
}

/// A name in camel case.
fn camel(net: &str) -> String {
    let mut res = net.to_owned();
    if let Some(first) = res.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    res
}

/// The value of a .NET member, in either case.
fn net(object: &Object<'_>, name: &str) -> Option<String> {
    said(object, name).or_else(|| said(object, &camel(name)))
}

const NAME: &str = "semantic-kernel";

fn read(records: &Records<'_>) -> View {
    each(records, |view, at, record| {
        let label = || {
            let role = ["Role", "role"].iter().find_map(|it| record.inner(it))?;
            net(&role, "Label")
        };
        let own = || said(record, "role").or_else(|| said(record, "Role"));
        let role = label().or_else(own);
        let mut grown = Grown::new(view, Role::from(&*role.unwrap_or_default()), at);
        let name = said(record, "name").or_else(|| net(record, "AuthorName"));
        grown.draft.message.name = name;
        // Before items existed, a message had a text.
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
    let either = |python: &str, name: &str| said(&object, python).or_else(|| net(&object, name));
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
            let id = net(&object, "CallId").or_else(|| said(&object, "call_id"));
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
    let either = |python: &str, name: &str| said(object, python).or_else(|| net(object, name));
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
    let data = said(object, "data_uri").or_else(|| net(object, "DataUri"));
    let url = net(object, "Uri");
    let url = data.filter(|it| !it.is_empty()).or(url).filter(|it| !it.is_empty())?;
    let own = said(object, "mime_type").or_else(|| net(object, "MimeType"));
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
    let style = Style::numbered(open.style);
    if style.is_net() {
        let call = open.block.and_then(|it| it.object());
        let name = |it| style.name("", it);
        let own = |it| Some((name(it), call.as_ref()?.get(&name(it))?.source));
        let names = ["PluginName", "FunctionName"].into_iter().filter_map(own);
        let names: String = names.map(|(name, it)| format!(r#""{name}":{it},"#)).collect();
        let (of_call, result) = (name("CallId"), name("Result"));
        return Closing::Result(format!(
            r#"{{"$type":"FunctionResultContent",{names}"{of_call}":{id},"{result}":{text}}}"#
        ));
    }
    Closing::Result(format!(
        r#"{{"metadata":{{}},"content_type":"function_result","id":{id},"result":{text},"name":{name}}}"#
    ))
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let style = Style::numbered(options.style);
    let names = Names::of(messages);
    let list = |it: &mut Writer<'_>| {
        it.array(entries(messages), |it, entry| {
            it.object(|it| {
                let name = entry.message.name.as_deref().filter(|_| entry.result.is_none());
                begin(it, entry.role(), name, style);
                it.key(&style.name("items", "Items")).array(entry.parts(), |it, part| {
                    it.object(|it| match part {
                        Part::ToolResult(result) => {
                            write_result(it, result, names.of_result(result), style);
                        }
                        part => write_part(it, part, style),
                    });
                });
            });
        });
    };
    let text = to_text(|it| match style.is_net() {
        true => list(it),
        // Python writes a chat history as an object.
        false => it.object(|it| list(it.key("messages"))),
    });
    text.into_bytes()
}

fn begin(it: &mut Writer<'_>, role: &str, name: Option<&str>, style: Style) {
    match style {
        Style::Net => it.key("Role").object(|it| {
            it.key("Label").str(role);
        }),
        Style::Web => it.key("role").str(role),
        Style::Python => {
            it.key("content_type").str("message");
            it.key("role").str(role);
        }
    }
    if let Some(name) = name {
        it.key(&style.name("name", "AuthorName")).str(name);
    }
}

/// Writes a name as plugin and function.
fn write_name(it: &mut Writer<'_>, name: &str, style: Style) {
    if !style.is_net() {
        it.key("name").str(name);
        return;
    }
    let (plugin, function) = name.split_once('-').map_or((None, name), |it| (Some(it.0), it.1));
    if let Some(plugin) = plugin {
        it.key(&style.name("", "PluginName")).str(plugin);
    }
    it.key(&style.name("", "FunctionName")).str(function);
}

fn write_result(it: &mut Writer<'_>, result: &ToolResult, name: &str, style: Style) {
    match style.is_net() {
        true => it.key("$type").str("FunctionResultContent"),
        false => it.key("content_type").str("function_result"),
    }
    it.key(&style.name("id", "CallId")).str(&result.call_id);
    write_name(it, name, style);
    it.key(&style.name("result", "Result")).str(&text_of_result(result));
}

fn write_part(it: &mut Writer<'_>, part: &Part, style: Style) {
    let mut kind = |python: &str, net: &str| match style.is_net() {
        true => it.key("$type").str(net),
        false => it.key("content_type").str(python),
    };
    match part {
        Part::ToolCall(call) => {
            kind("function_call", "FunctionCallContent");
            it.key(&style.name("id", "Id")).str(&call.id);
            write_name(it, &call.name, style);
            match style.is_net() {
                true => write_arguments(it.key(&style.name("", "Arguments")), call),
                false => {
                    it.key("arguments").str(call.arguments.text());
                }
            }
        }
        Part::Reasoning(thought) => {
            kind("reasoning", "ReasoningContent");
            it.key(&style.name("text", "Text")).str(&thought.display_text());
        }
        part => match Media::of(part) {
            Some(media) => {
                match media.media_type.split('/').next().unwrap_or_default() {
                    "image" => kind("image", "ImageContent"),
                    "audio" => kind("audio", "AudioContent"),
                    _ => kind("binary", "BinaryContent"),
                };
                match media.data.is_some() {
                    true => it.key(&style.name("data_uri", "DataUri")).str(&media.as_url()),
                    false => it.key(&style.name("uri", "Uri")).str(media.source()),
                };
                it.key(&style.name("mime_type", "MimeType")).str(media.media_type);
            }
            None => {
                kind("text", "TextContent");
                let text = part.as_text().unwrap_or_default();
                it.key(&style.name("text", "Text")).str(text);
            }
        },
    }
}
