//! LangChain: messages as dicts, as constructors, or flat; LangGraph states contain them in a member.
//!
//! ```text
//! {"type":"ai","data":{"content":"","tool_calls":[{"name":"f","args":{"x":1},"id":"t1"}]}}
//! {"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{…}}
//! {"type":"ai","content":"hello","tool_calls":[]}
//! ```

use msg_core::{
    Audio, Content, File, Image, Maker, Message, Part, Reasoning, Report, Role, ToolCall,
    ToolResult,
};
use msg_json::{TextState, Writer, classify};

use super::{Closing, Open, Records, Store, Wrap, each};
use crate::dialects::frameworks;
use crate::dialects::frameworks::writing::{Media, write_records};
use crate::dialects::frameworks::{Seal, said};
use crate::edit::{Object, Value, quoted};
use crate::parts::INTERRUPTED;
use crate::view::{Draft, PartOrigin, View};
use crate::write::{WriteOptions, list_of_result, text_of_result, write_arguments};
use crate::{Dialect, parts};

pub(crate) static STORE: Store = Store {
    members: &["content", "data", "kwargs", "lc", "role", "type"],
    lists: &[
        "messages",
        "values.messages",
        "channel_values.messages",
        "checkpoint.channel_values.messages",
        "kwargs.messages",
    ],
    blocks: &["content", "data.content", "kwargs.content"],
    wrap: Wrap::new(|result, _, _| result.to_owned()),
    style,
    ..Store::new(Dialect::LangChain, read, close, write)
};

/// Styles other than that of `messages_to_dict`: constructors, as written by `dumpd`, and flat messages.
const CONSTRUCTOR: u8 = 1;
const FLAT: u8 = 2;

fn style(record: &Object<'_>) -> u8 {
    match record.has("lc") {
        true => CONSTRUCTOR,
        false if record.has("data") => 0,
        false => FLAT,
    }
}

fn read(records: &Records<'_>) -> View {
    each(records, message)
}

fn message(view: &mut View, at: usize, outer: &Object<'_>) {
    let held = outer.get("data").or_else(|| outer.get("kwargs"));
    let inner = held.and_then(|it| it.object());
    let class = outer.get("id").and_then(|it| it.array()).and_then(|it| it.last()?.text());
    let body = inner.as_ref().unwrap_or(outer);
    let kind = match class {
        Some(class) => class.into_owned(),
        None => said(outer, "type").or_else(|| said(body, "type")).unwrap_or_default(),
    };
    let role = role(&kind, body);
    let mut draft = Draft::new(role.clone());
    draft.message.name = body.text("name").map(Into::into).filter(|it: &String| !it.is_empty());
    // A value other than an object in the place of the message's members is the whole content.
    let is_all = |it: &Value<'_>| it.object().is_none() && !it.is_null() && !outer.has("content");
    if let Some(said) = held.filter(is_all) {
        draft.push(Part::text(said.plain()), PartOrigin::record(at));
    }
    if role == Role::Tool {
        draft.message.name = None;
        draft.push(Part::ToolResult(result(body)), PartOrigin::record(at));
    } else {
        let metadata = body.inner("response_metadata");
        let said = |name: &str| metadata.as_ref().and_then(|it| it.text(name));
        let maker = said("model_provider").and_then(|it| Maker::of(&it));
        thoughts_beside(&mut draft, at, body);
        content(&mut draft, at, body, maker);
        calls(&mut draft, at, body);
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
        _ => said(body, "role").map_or_else(|| Role::from(kind), |it| Role::from(&*it)),
    }
}

fn content(draft: &mut Draft, at: usize, body: &Object<'_>, maker: Option<Maker>) {
    let Some(content) = body.get("content") else { return };
    match content.text() {
        Some(text) if text.is_empty() => {}
        Some(text) => draft.push(Part::text(text), PartOrigin::record(at)),
        None => {
            for (n, it) in body.blocks("content") {
                if let Some(part) = part(it, maker) {
                    draft
                        .push(part, n.map_or(PartOrigin::record(at), |n| PartOrigin::block(at, n)));
                }
            }
        }
    }
}

/// A content part. Calls are repeated here and skipped.
fn part(value: Value<'_>, maker: Option<Maker>) -> Option<Part> {
    if let Some(text) = value.text() {
        return Some(Part::text(text));
    }
    let Some(object) = value.object() else { return Some(parts::other(value)) };
    match &*object.text("type").unwrap_or_default() {
        "tool_use" | "tool_call" | "input_json_delta" => None,
        "image_url" => Some(image_url(&object).map_or_else(|| parts::other(value), Part::Image)),
        "image" | "file" | "audio" | "video" | "text-plain" if is_media(&object) => {
            Some(media(&object).unwrap_or_else(|| parts::other(value)))
        }
        "reasoning" if object.has("summary") => {
            Some(frameworks::item(value.source).unwrap_or_else(|| parts::other(value)))
        }
        "reasoning" => Some(thought(&object, maker)),
        "thinking" if maker == Some(Maker::Gemini) => {
            let signature = said(&object, "signature");
            let seal = Seal { maker, signature, ..Seal::default() };
            Some(seal.thought(said(&object, "thinking")))
        }
        // An object without a part type is application data.
        "" if !object.has("type") && !object.has("text") => Some(parts::other(value)),
        _ => parts::anthropic_part(value),
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

/// Reasoning in LangChain's own form; sealed provider data is beside it or in `extras`.
fn thought(object: &Object<'_>, maker: Option<Maker>) -> Part {
    let extras = object.inner("extras");
    let text =
        |name: &str| said(object, name).or_else(|| extras.as_ref().and_then(|it| said(it, name)));
    let encrypted = text("encrypted_content");
    let item = said(object, "id").filter(|it| it.starts_with("rs_"));
    let is_item = encrypted.is_some() || item.is_some();
    let maker = if is_item { Some(Maker::OpenAi) } else { maker };
    let seal = Seal { maker, signature: text("signature"), redacted: None, encrypted, item };
    let said = object.text("reasoning").or_else(|| object.text("text"));
    seal.thought(said.map(Into::into))
}

/// Reasoning beside the content: that of DeepSeek and similar APIs, and items of older versions.
fn thoughts_beside(draft: &mut Draft, at: usize, body: &Object<'_>) {
    let Some(more) = body.inner("additional_kwargs") else { return };
    let item = more.get("reasoning").and_then(|it| frameworks::item(it.source));
    let text = || Some(Part::Reasoning(Reasoning::new(said(&more, "reasoning_content")?)));
    let is_in_content = body.list("content").iter().any(|it| {
        let kind = it.object().and_then(|it| it.text("type").map(|it| it.into_owned()));
        kind.is_some_and(|it| matches!(&*it, "reasoning" | "thinking"))
    });
    if let Some(part) = item.or_else(text).filter(|_| !is_in_content) {
        draft.push(part, PartOrigin::record(at));
    }
}

/// Whether a block stores its data in LangChain's form instead of a provider's.
fn is_media(object: &Object<'_>) -> bool {
    let names = ["source_type", "base64", "url", "file_id", "data", "text"];
    names.iter().any(|it| object.get(it).is_some_and(|it| it.text().is_some()))
}

/// An image, file, audio or text document; version 0 has `source_type` and `data`, version 1 `base64`.
fn media(object: &Object<'_>) -> Option<Part> {
    let kind = object.text("type")?;
    let media_type = said(object, "mime_type");
    let data = said(object, "base64").or_else(|| said(object, "data"));
    let is_id = object.text("source_type").is_some_and(|it| it == "id");
    let id = said(object, "file_id").or_else(|| said(object, "id").filter(|_| is_id));
    let url = said(object, "url");
    if let Some(text) = said(object, "text").filter(|_| data.is_none() && url.is_none()) {
        return Some(Part::text(text));
    }
    let format = media_type.as_deref().and_then(|it| it.strip_prefix("audio/"));
    Some(match (&*kind, data) {
        ("image", Some(data)) => {
            let url = parts::data_url(media_type.as_deref(), &data);
            Part::Image(Image { media_type, ..Image::from_url(url) })
        }
        ("image", None) if url.is_some() => {
            Part::Image(Image { media_type, ..Image::from_url(url?) })
        }
        ("image", None) => {
            Part::Image(Image { file_id: Some(id?), media_type, ..Image::default() })
        }
        ("audio", Some(data)) if format.is_some() => {
            let format = match format? {
                "mpeg" => "mp3",
                "x-wav" | "wave" => "wav",
                other => other,
            };
            Part::Audio(Audio { data: Some(data), format: Some(format.into()), ..Audio::default() })
        }
        (_, data) => {
            (data.is_some() || url.is_some() || id.is_some()).then_some(())?;
            let beside = ["extras", "metadata"].iter().filter_map(|it| object.inner(it));
            let named = |it: &Object<'_>| said(it, "filename").or_else(|| said(it, "name"));
            let filename = named(object).or_else(|| beside.into_iter().find_map(|it| named(&it)));
            Part::File(File { file_id: id, url, data, filename, media_type, ..File::default() })
        }
    })
}

/// The member with the signatures of Gemini's calls, by call id.
const SIGNATURES: &str = "__gemini_function_call_thought_signatures__";

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
    let signatures = body.inner("additional_kwargs").and_then(|it| it.inner(SIGNATURES));
    for mut it in found {
        it.signature = signatures.as_ref().and_then(|known| said(known, &it.id));
        draft.push(Part::ToolCall(it), PartOrigin::record(at));
    }
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
                let blocks = body.blocks("content").into_iter();
                Content::from(blocks.filter_map(|it| part(it.1, None)).collect::<Vec<_>>())
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

fn close(open: &Open<'_>) -> Closing {
    let (id, name, text) = (quoted(open.id), quoted(open.name), quoted(INTERRUPTED));
    let members = format!(
        r#""content":{text},"name":{name},"tool_call_id":{id},"status":"error","type":"tool""#
    );
    Closing::Result(match open.style {
        CONSTRUCTOR => constructor("ToolMessage", &members),
        FLAT => format!("{{{members}}}"),
        _ => format!(r#"{{"type":"tool","data":{{{members}}}}}"#),
    })
}

fn constructor(class: &str, members: &str) -> String {
    format!(
        r#"{{"lc":1,"type":"constructor","id":["langchain","schema","messages","{class}"],"kwargs":{{{members}}}}}"#
    )
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    write_records(messages, |it, entry| {
        let (message, result) = (entry.message, entry.result);
        match options.style {
            CONSTRUCTOR => {
                it.key("lc").raw("1");
                it.key("type").str("constructor");
                let path = ["langchain", "schema", "messages", class(message, result)];
                it.key("id").array(path, |it, name| it.str(name));
                it.key("kwargs").object(|it| data(it, message, result));
            }
            FLAT => data(it, message, result),
            _ => {
                it.key("type").str(kind(message, result));
                it.key("data").object(|it| data(it, message, result));
            }
        }
    })
}

fn kind(message: &Message, result: Option<&ToolResult>) -> &'static str {
    match &message.role {
        _ if result.is_some() => "tool",
        Role::User => "human",
        Role::Assistant => "ai",
        Role::System | Role::Developer => "system",
        _ => "chat",
    }
}

fn class(message: &Message, result: Option<&ToolResult>) -> &'static str {
    match kind(message, result) {
        "tool" => "ToolMessage",
        "human" => "HumanMessage",
        "ai" => "AIMessage",
        "system" => "SystemMessage",
        _ => "ChatMessage",
    }
}

fn data(it: &mut Writer<'_>, message: &Message, result: Option<&ToolResult>) {
    if let Some(result) = result {
        match list_of_result(result) {
            None => it.key("content").str(&text_of_result(result)),
            Some(list) => it.key("content").array(list, write_content),
        }
        it.key("tool_call_id").str(&result.call_id);
        it.key("name").opt_str(result.name.as_deref());
        it.key("status").str(if result.is_error { "error" } else { "success" });
        it.key("type").str("tool");
        return;
    }
    let parts: Vec<_> = message
        .parts
        .iter()
        .filter(|it| it.as_tool_call().is_none() && it.as_tool_result().is_none())
        .collect();
    match parts.as_slice() {
        [] => it.key("content").str(""),
        [Part::Text(text)] => it.key("content").str(&text.text),
        parts => it.key("content").array(parts, |it, part| write_content(it, part)),
    }
    it.key("type").str(kind(message, None));
    if let Role::Other(role) = &message.role {
        it.key("role").str(role);
    }
    if message.role == Role::Assistant {
        let is_valid = |it: &&ToolCall| classify(it.arguments.text()) == TextState::Object;
        let (valid, invalid): (Vec<_>, Vec<_>) = message.tool_calls().partition(is_valid);
        it.key("tool_calls").array(valid, |it, call| {
            it.object(|it| {
                it.key("name").str(&call.name);
                write_arguments(it.key("args"), call);
                it.key("id").str(&call.id);
                it.key("type").str("tool_call");
            });
        });
        it.key("invalid_tool_calls").array(invalid, |it, call| {
            it.object(|it| {
                it.key("name").str(&call.name);
                it.key("args").str(call.arguments.text());
                it.key("id").str(&call.id);
                it.key("type").str("invalid_tool_call");
            });
        });
        let signed: Vec<_> = message.tool_calls().filter(|it| it.signature.is_some()).collect();
        if !signed.is_empty() {
            it.key("additional_kwargs").object(|it| {
                it.key(SIGNATURES).object(|it| {
                    for call in signed {
                        it.key(&call.id).opt_str(call.signature.as_deref());
                    }
                });
            });
        }
    }
}

/// Writes reasoning; sealed reasoning is in its provider's form. Gemini's form does not name the provider.
fn write_thought(it: &mut Writer<'_>, said: &str, seal: &Seal) {
    match (seal.maker, &seal.redacted) {
        (Some(Maker::Anthropic), Some(data)) if seal.signature.is_none() => {
            it.key("type").str("redacted_thinking");
            it.key("data").str(data);
        }
        (Some(Maker::Anthropic), _) => {
            it.key("type").str("thinking");
            it.key("thinking").str(said);
            it.optional("signature", seal.signature.as_ref(), |it, text| it.str(text));
        }
        (Some(Maker::OpenAi), _) => {
            it.key("type").str("reasoning");
            it.optional("id", seal.item.as_ref(), |it, id| it.str(id));
            let texts = Some(said).filter(|it| !it.is_empty());
            it.key("summary").array(texts, |it, text| {
                it.object(|it| {
                    it.key("type").str("summary_text");
                    it.key("text").str(text);
                });
            });
            it.optional("encrypted_content", seal.encrypted.as_ref(), |it, text| it.str(text));
        }
        _ => {
            it.key("type").str("reasoning");
            it.key("reasoning").str(said);
        }
    }
}

fn write_content(it: &mut Writer<'_>, part: &Part) {
    it.object(|it| match part {
        Part::Image(image) => {
            it.key("type").str("image_url");
            it.key("image_url").object(|it| {
                it.key("url").str(image.url.as_deref().unwrap_or_default());
            });
        }
        Part::Reasoning(thought) => write_thought(it, &thought.display_text(), &Seal::of(part)),
        Part::File(_) => {
            let media = Media::of(part);
            it.key("type").str("file");
            let is_data = media.as_ref().is_some_and(|it| it.data.is_some());
            let source = media.as_ref().map_or("", |it| it.source());
            it.key(if is_data { "base64" } else { "url" }).str(source);
            it.key("mime_type").opt_str(media.as_ref().map(|it| it.media_type));
            if let Some(name) = media.as_ref().and_then(|it| it.filename) {
                it.key("extras").object(|it| it.key("filename").str(name));
            }
        }
        part => {
            it.key("type").str("text");
            it.key("text").str(part.as_text().unwrap_or_default());
        }
    });
}
