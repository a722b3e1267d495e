//! Google's ADK (Agent Development Kit): the events of a session, in the session, in a list or one per line. Members
//! are in camel case, or in snake case if Python dumped them by name.
//!
//! ```text
//! {"author":"user","content":{"role":"user","parts":[{"text":"hi"}]},"invocationId":"i","id":"e1","timestamp":1.5}
//! {"author":"agent","content":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"f","args":{}}}]},…}
//! {"author":"agent","content":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"f","response":{}}}]},…}
//! ```
//!
//! Pieces of a stream (`partial`) are not sent again. The runner itself moves responses after their calls.

use std::borrow::Cow;

use msg_codec::DataUrl;
use msg_core::{File, Image, Maker, Message, Part, Report, Role, ToolCall, ToolResult, Usage};
use msg_json::{Writer, to_text};

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::Dialect;
use crate::dialects::frameworks::writing::{
    Media, Names, entries, is_answer, is_base64, object_in,
};
use crate::dialects::frameworks::{Seal, said};
use crate::edit::{Object, Value, quoted};
use crate::parts::{self, INTERRUPTED};
use crate::view::View;
use crate::write::{WriteOptions, media_of_result, object_of, text_of_result, write_arguments};

pub(crate) static STORE: Store = Store {
    members: &["actions", "author", "content", "id"],
    lists: &["events", "session.events"],
    has_lines: true,
    blocks: &["content.parts"],
    finds_late: false,
    wrap: Wrap::new(wrap),
    style: |event| if event.has("invocation_id") { SNAKE } else { CAMEL },
    ..Store::new(Dialect::Adk, read, close, write)
};

/// Styles of a bare list of events, by the case of their members; otherwise a session is written.
const CAMEL: u8 = 1;
const SNAKE: u8 = 2;

const NAME: &str = "adk";

/// The member under either name.
fn either<'a>(object: &Object<'a>, camel: &str, snake: &str) -> Option<Value<'a>> {
    [camel, snake].iter().find_map(|it| object.get(it)).filter(|it| !it.is_null())
}

fn text_of(object: &Object<'_>, camel: &str, snake: &str) -> Option<String> {
    Some(either(object, camel, snake)?.text()?.into_owned()).filter(|it| !it.is_empty())
}

fn read(records: &Records<'_>) -> View {
    each(records, |view, at, event| {
        let Some(content) = event.inner("content").filter(|_| !event.is_true("partial")) else {
            return;
        };
        let is_user = match content.text("role") {
            Some(role) => role == "user",
            None => event.text("author").is_some_and(|it| it == "user"),
        };
        let role = if is_user { Role::User } else { Role::Assistant };
        let mut grown = Grown::new(view, role, at);
        if !is_user {
            grown
                .draft
                .made_by(text_of(event, "modelVersion", "model_version").map(Into::into), None);
        }
        for (n, value) in content.blocks("parts") {
            let part = match value.object() {
                Some(object) => part(&object, value),
                None => Some(parts::other(value)),
            };
            part.into_iter().for_each(|it| grown.push(it, n));
        }
        grown.finish();
        if let Some(usage) = either(event, "usageMetadata", "usage_metadata") {
            let usage = Usage::from_raw(usage.raw_json());
            view.usage = crate::dialects::add_usage(std::mem::take(&mut view.usage), usage);
        }
    })
}

fn part(object: &Object<'_>, value: Value<'_>) -> Option<Part> {
    let signature = text_of(object, "thoughtSignature", "thought_signature");
    let maker = signature.is_some().then_some(Maker::Gemini);
    let seal = Seal { maker, signature: signature.clone(), ..Seal::default() };
    if let Some(text) = object.plain("text") {
        return Some(match object.is_true("thought") {
            true => seal.thought(Some(text)),
            false if text.is_empty() && signature.is_none() => return None,
            false => seal.text(text),
        });
    }
    if let Some(call) = either(object, "functionCall", "function_call").and_then(|it| it.object()) {
        let arguments = call.get("args").filter(|it| !it.is_null());
        let arguments = arguments.map_or("{}", |it| it.source);
        let call = ToolCall::new(parts::text(&call, "id"), parts::text(&call, "name"), arguments);
        return Some(Part::ToolCall(ToolCall { signature, ..call }));
    }
    let response = either(object, "functionResponse", "function_response");
    if let Some(response) = response.and_then(|it| it.object()) {
        return Some(Part::ToolResult(result(&response)));
    }
    let inline = either(object, "inlineData", "inline_data").and_then(|it| it.object());
    let by_uri = either(object, "fileData", "file_data").and_then(|it| it.object());
    if let Some(media) = inline.or(by_uri) {
        return Some(file(&media).unwrap_or_else(|| parts::other(value)));
    }
    object.iter().any(|it| !it.1.is_null()).then(|| parts::own(value, NAME))
}

/// A response. A lone `output`, `result` or `error` is text; everything else is JSON.
fn result(response: &Object<'_>) -> ToolResult {
    let given = response.get("response");
    let inner = given.and_then(|it| it.object()).filter(|it| it.len() == 1);
    let only = |name: &str| inner.as_ref().and_then(|it| it.get(name));
    let content = only("output").or_else(|| only("result")).or_else(|| only("error")).or(given);
    let is_error = only("error").is_some();
    let name = said(response, "name");
    let text = content.map(|it| it.plain()).unwrap_or_default();
    let media = response.list("parts").into_iter().filter_map(|it| media(&it.object()?));
    let content = parts::content_beside(text, media.collect());
    ToolResult { name, is_error, ..ToolResult::new(parts::text(response, "id"), content) }
}

/// An image or a file, inline or by URL.
fn media(object: &Object<'_>) -> Option<Part> {
    let inline = either(object, "inlineData", "inline_data").and_then(|it| it.object());
    let by_uri = either(object, "fileData", "file_data").and_then(|it| it.object());
    file(&inline.or(by_uri)?)
}

fn file(media: &Object<'_>) -> Option<Part> {
    let media_type = text_of(media, "mimeType", "mime_type");
    let is_image = media_type.as_deref().is_some_and(|it| it.starts_with("image/"));
    let filename = text_of(media, "displayName", "display_name");
    let (data, url) = (said(media, "data"), text_of(media, "fileUri", "file_uri"));
    if is_image {
        let inline = data.map(|it| parts::data_url(media_type.as_deref(), &it));
        return Some(Part::Image(Image { media_type, ..Image::from_url(inline.or(url)?) }));
    }
    (data.is_some() || url.is_some())
        .then(|| Part::File(File { url, data, filename, media_type, ..File::default() }))
}

fn close(open: &Open<'_>) -> Closing {
    let is_snake = open.block.is_some_and(|it| it.get("function_call").is_some());
    let member = if is_snake { "function_response" } else { "functionResponse" };
    let (id, name, text) = (quoted(open.id), quoted(open.name), quoted(INTERRUPTED));
    Closing::Result(format!(
        r#"{{"{member}":{{"id":{id},"name":{name},"response":{{"error":{text}}}}}}}"#
    ))
}

/// A new event next to another one, with its author, invocation and time.
fn wrap(block: &str, beside: &Object<'_>, _: u8) -> String {
    const KEPT: [&str; 6] =
        ["author", "invocationId", "invocation_id", "branch", "timestamp", "actions"];
    let own = beside.text("id").map(|it| quoted(&format!("{it}-result")));
    let mut members: Vec<String> = own.map(|it| format!(r#""id":{it}"#)).into_iter().collect();
    let kept = KEPT.iter().filter_map(|name| Some((name, beside.get(name)?)));
    // Actions belong to the original event only.
    members.extend(kept.map(|(name, it)| match *name {
        "actions" => r#""actions":{}"#.to_owned(),
        name => format!(r#""{name}":{}"#, it.source),
    }));
    members.push(format!(r#""content":{{"role":"user","parts":[{block}]}}"#));
    format!("{{{}}}", members.join(","))
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let names = Names::of(messages);
    let names = &names;
    let is_snake = options.style == SNAKE;
    let mut number = 0;
    let mut events = |it: &mut Writer<'_>| {
        // The agent has its own instructions, so system messages are not written.
        let said = entries(messages).into_iter().filter(|it| !it.message.role.is_system());
        it.array(said, |it, entry| {
            let id = format!("msg-{number}");
            number += 1;
            it.object(|it| {
                let is_answer = is_answer(entry.message) || entry.result.is_some();
                it.key("id").str(&id);
                it.key("author").str(if is_answer { "agent" } else { "user" });
                it.key(if is_snake { "invocation_id" } else { "invocationId" }).str("");
                it.key("content").object(|it| {
                    let is_model = is_answer && entry.result.is_none();
                    it.key("role").str(if is_model { "model" } else { "user" });
                    it.key("parts").array(entry.parts(), |it, part| match part {
                        Part::ToolResult(result) => write_result(it, result, names, is_snake),
                        part => it.object(|it| write_part(it, part, is_snake)),
                    });
                });
                it.key("actions").object(|_| {});
            });
        });
    };
    let text = to_text(|it| match options.style {
        CAMEL | SNAKE => events(it),
        _ => it.object(|it| {
            it.key("id").str(&options.session_id);
            it.key("appName").str("msg");
            it.key("userId").str("user");
            it.key("state").object(|_| {});
            events(it.key("events"));
            it.key("lastUpdateTime").raw("0");
        }),
    });
    text.into_bytes()
}

fn write_result(it: &mut Writer<'_>, result: &ToolResult, names: &Names<'_>, is_snake: bool) {
    let member = if is_snake { "function_response" } else { "functionResponse" };
    it.object(|it| {
        it.key(member).object(|it| {
            it.key("id").str(&result.call_id);
            it.key("name").str(names.of_result(result));
            let text = text_of_result(result);
            let object = object_of(result)
                .or_else(|| object_in(&text).filter(|_| !result.is_error).map(Cow::Owned));
            match object {
                Some(object) => it.key("response").raw(&object),
                None => it.key("response").object(|it| {
                    it.key(if result.is_error { "error" } else { "output" }).str(&text);
                }),
            }
            let media = media_of_result(result);
            if !media.is_empty() {
                it.key("parts")
                    .array(media, |it, part| it.object(|it| write_part(it, part, is_snake)));
            }
        });
    });
}

fn write_part(it: &mut Writer<'_>, part: &Part, is_snake: bool) {
    let name = |camel: &'static str, snake: &'static str| if is_snake { snake } else { camel };
    match part {
        Part::ToolCall(call) => {
            it.key(name("functionCall", "function_call")).object(|it| {
                it.key("id").str(&call.id);
                it.key("name").str(&call.name);
                write_arguments(it.key("args"), call);
            });
            // The loader accepts only bytes, in either base64 alphabet. The placeholder signature for Gemini uses the
            // URL-safe one.
            let is_bytes =
                |it: &&str| is_base64(DataUrl::standard_base64(it).as_deref().unwrap_or(it));
            if let Some(signature) = call.signature.as_deref().filter(is_bytes) {
                it.key(name("thoughtSignature", "thought_signature")).str(signature);
            }
        }
        Part::Reasoning(thought) => {
            it.key("text").str(&thought.display_text());
            it.key("thought").bool(true);
        }
        part => match Media::of(part) {
            Some(media) if media.data.is_some() => {
                it.key(name("inlineData", "inline_data")).object(|it| {
                    it.key(name("mimeType", "mime_type")).str(media.media_type);
                    it.key("data").str(media.source());
                });
            }
            Some(media) => it.key(name("fileData", "file_data")).object(|it| {
                it.key(name("mimeType", "mime_type")).str(media.media_type);
                it.key(name("fileUri", "file_uri")).str(media.source());
            }),
            None => it.key("text").str(part.as_text().unwrap_or_default()),
        },
    }
}
