//! Pydantic AI: requests and responses, each with parts.
//!
//! ```text
//! {"kind":"request","parts":[{"part_kind":"user-prompt","content":"hi"}],"instructions":null}
//! {"kind":"response","parts":[{"part_kind":"tool-call","tool_name":"f","args":"{}","tool_call_id":"c1"}]}
//! ```

use msg_core::{
    Content, File, Image, Maker, Message, Part, Report, Role, ToolCall, ToolResult, Usage,
};
use msg_json::{Writer, to_text};

use super::{Closing, Open, Records, Store, Wrap};
use crate::dialects::frameworks::writing::{Media, Names};
use crate::dialects::frameworks::{Seal, said};
use crate::edit::{Object, Value, quoted};
use crate::parts::INTERRUPTED;
use crate::view::{Draft, PartOrigin, View};
use crate::write::{WriteOptions, list_of_result, text_of_result};
use crate::{Dialect, parts};

pub(crate) static STORE: Store = Store {
    members: &["kind", "parts"],
    lists: &["messages", "message_history", "all_messages"],
    blocks: &["parts"],
    wrap: Wrap {
        record: |block, _, _| format!(r#"{{"parts":[{block}],"kind":"request"}}"#),
        takes_results: |record| record.text("kind").is_some_and(|it| it == "request"),
    },
    ..Store::new(Dialect::PydanticAi, read, close, write)
};

fn read(records: &Records<'_>) -> View {
    let objects: Vec<_> = records.values.iter().map(|it| it.object()).collect();
    let mut view = View::default();
    instructions(&mut view, &objects);
    for (at, message) in objects.iter().enumerate() {
        let Some(message) = message else { continue };
        match is_response(message) {
            true => response(&mut view, at, message),
            false => request(&mut view, at, message),
        }
    }
    view
}

/// Whether it is a model response; the parts decide if the kind does not.
fn is_response(message: &Object<'_>) -> bool {
    const SAID: [&str; 4] = ["text", "thinking", "tool-call", "builtin-tool-call"];
    match message.text("kind").as_deref() {
        Some("response") => true,
        Some("request") => false,
        _ => message.blocks("parts").iter().any(|(_, it)| {
            let kind = it.object().and_then(|it| it.text("part_kind"));
            kind.is_some_and(|it| SAID.contains(&&*it))
        }),
    }
}

/// Uses the instructions of the last request as the system text.
fn instructions(view: &mut View, messages: &[Option<Object<'_>>]) {
    let last = messages
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(at, it)| Some((at, it.as_ref()?)))
        .find(|it| it.1.text("kind").is_some_and(|it| it == "request"));
    let Some((at, text)) = last.and_then(|(at, it)| Some((at, it.text("instructions")?))) else {
        return;
    };
    let mut draft = Draft::new(Role::System);
    draft.push(Part::text(text), PartOrigin::record(at));
    view.push(draft);
}

fn request(view: &mut View, at: usize, message: &Object<'_>) {
    // Adjacent parts with the same role form one message.
    let mut draft = Draft::new(Role::Tool);
    for (n, value) in message.blocks("parts") {
        let (role, said) = match value.object() {
            Some(part) => request_part(&part, value),
            None => (Role::User, vec![parts::other(value)]),
        };
        if role != draft.message.role {
            view.push(std::mem::replace(&mut draft, Draft::new(role)));
        }
        let origin = n.map_or(PartOrigin::record(at), |n| PartOrigin::block(at, n));
        said.into_iter().for_each(|it| draft.push(it, origin));
    }
    view.push(draft);
}

/// The role and content of a request part.
fn request_part(part: &Object<'_>, value: Value<'_>) -> (Role, Vec<Part>) {
    match result(part) {
        Some(result) => (Role::Tool, vec![Part::ToolResult(result)]),
        None if part.text("part_kind").is_some_and(|it| it == "system-prompt") => {
            (Role::System, prompt(part))
        }
        None if !part.has("content") => (Role::User, vec![parts::own(value, "pydantic-ai")]),
        None => (Role::User, prompt(part)),
    }
}

/// A tool result; a retry that names no tool becomes user text.
fn result(part: &Object<'_>) -> Option<ToolResult> {
    let is_error = match &*part.text("part_kind")? {
        "tool-return" | "builtin-tool-return" => {
            part.text("outcome").is_some_and(|it| it != "success")
        }
        "retry-prompt" | "retry-feedback" if part.text("tool_name").is_some() => true,
        _ => return None,
    };
    let content = part.get("content").map(given).unwrap_or_default();
    Some(ToolResult {
        name: part.text("tool_name").map(Into::into),
        is_error,
        ..ToolResult::new(parts::text(part, "tool_call_id"), content)
    })
}

/// The content of a result: text, JSON, or a list with media.
fn given(value: Value<'_>) -> Content {
    let is_media = |it: &Value<'_>| {
        let kind = it.object().and_then(|it| said(&it, "kind"));
        kind.is_some_and(|it| it == "binary" || it.ends_with("-url"))
    };
    match value.array() {
        Some(list) if list.iter().any(is_media) => {
            let parts = list.into_iter().map(|it| item(it).unwrap_or_else(|| parts::other(it)));
            Content::from(parts.collect::<Vec<_>>())
        }
        _ => Content::from(value.plain()),
    }
}

fn prompt(part: &Object<'_>) -> Vec<Part> {
    let Some(content) = part.get("content") else { return Vec::new() };
    match content.array() {
        Some(list) if part.text("part_kind").is_some_and(|it| it == "user-prompt") => {
            list.into_iter().map(|it| item(it).unwrap_or_else(|| parts::other(it))).collect()
        }
        _ => vec![Part::text(content.plain())],
    }
}

/// An item of a user prompt: text or media.
fn item(value: Value<'_>) -> Option<Part> {
    if let Some(text) = value.text() {
        return Some(Part::text(text));
    }
    let Some(object) = value.object() else { return Some(parts::other(value)) };
    let media_type: Option<String> = object.text("media_type").map(Into::into);
    let is_image = media_type.as_deref().is_some_and(|it| it.starts_with("image/"));
    Some(match &*object.text("kind").unwrap_or_default() {
        "image-url" => Part::Image(Image { media_type, ..Image::from_url(object.text("url")?) }),
        "binary" if is_image => {
            let url = parts::data_url(media_type.as_deref(), &object.text("data")?);
            Part::Image(Image { media_type, ..Image::from_url(url) })
        }
        "binary" => {
            let data = Some(object.text("data")?.into_owned());
            Part::File(File { data, media_type, ..File::default() })
        }
        kind if kind.ends_with("-url") => {
            let url = Some(object.text("url")?.into_owned());
            Part::File(File { url, media_type, ..File::default() })
        }
        _ => parts::other(value),
    })
}

fn response(view: &mut View, at: usize, message: &Object<'_>) {
    let mut draft = Draft::new(Role::Assistant);
    for (n, value) in message.blocks("parts") {
        let part = match value.object() {
            Some(it) => answer(&it, value, message),
            None => Some(parts::other(value)),
        };
        if let Some(part) = part {
            draft.push(part, n.map_or(PartOrigin::record(at), |n| PartOrigin::block(at, n)));
        }
    }
    draft.made_by(message.text("model_name"), message.text("provider_name"));
    view.push(draft);
    if let Some(usage) = message.get("usage") {
        let usage = Usage::from_raw(usage.raw_json());
        view.usage = crate::dialects::add_usage(std::mem::take(&mut view.usage), usage);
    }
}

fn answer(part: &Object<'_>, value: Value<'_>, message: &Object<'_>) -> Option<Part> {
    let details = part.inner("provider_details");
    let signature = details.and_then(|it| said(&it, "thought_signature"));
    let provider = said(part, "provider_name").or_else(|| said(message, "provider_name"));
    let maker = provider.as_deref().and_then(Maker::of);
    // The seal of an unknown provider stays in the source, because another provider must not get it.
    let is_known = provider.is_none() || maker.is_some();
    let signature = signature.filter(|_| is_known);
    Some(match &*part.text("part_kind").unwrap_or_default() {
        "text" => {
            let text = part.plain("content").filter(|it| !it.is_empty())?;
            Seal { maker, signature, ..Seal::default() }.text(text)
        }
        "thinking" => {
            let sealed = said(part, "signature").or(signature).filter(|_| is_known);
            thought(part, maker, sealed)
        }
        "tool-call" => {
            let arguments = part.get("args").filter(|it| !it.is_null()).map(|it| it.plain());
            let (id, name) = (parts::text(part, "tool_call_id"), parts::text(part, "tool_name"));
            let call = ToolCall::new(id, name, arguments.unwrap_or_default());
            // Only Gemini signs calls.
            let is_signed = matches!(maker, None | Some(Maker::Gemini));
            Part::ToolCall(ToolCall { signature: signature.filter(|_| is_signed), ..call })
        }
        kind if kind.starts_with("builtin-tool-") => parts::own(value, "pydantic-ai"),
        _ => parts::other(value),
    })
}

/// The id of Anthropic's redacted thinking.
const REDACTED: &str = "redacted_thinking";

/// Reasoning: `signature` is the sealed data, whatever the provider calls it.
fn thought(part: &Object<'_>, maker: Option<Maker>, sealed: Option<String>) -> Part {
    let id = said(part, "id");
    let seal = match maker {
        Some(Maker::OpenAi) => {
            let item = id.filter(|it| it.starts_with("rs_"));
            Seal { encrypted: sealed, item, ..Seal::default() }
        }
        _ if id.as_deref() == Some(REDACTED) => Seal { redacted: sealed, ..Seal::default() },
        _ => Seal { signature: sealed, ..Seal::default() },
    };
    Seal { maker, ..seal }.thought(part.text("content").map(Into::into))
}

fn close(open: &Open<'_>) -> Closing {
    let (id, name, text) = (quoted(open.id), quoted(open.name), quoted(INTERRUPTED));
    let time = open.record.get("timestamp").filter(|it| !it.is_null());
    let time = time.map(|it| format!(r#""timestamp":{},"#, it.source)).unwrap_or_default();
    Closing::Result(format!(
        r#"{{"tool_name":{name},"content":{text},"tool_call_id":{id},{time}"outcome":"failed","part_kind":"tool-return"}}"#
    ))
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let names = Names::of(messages);
    // Everything between two answers is one request.
    let mut turns: Vec<(bool, Vec<&Message>)> = Vec::new();
    for message in messages {
        let is_answer = message.role == Role::Assistant;
        match turns.last_mut() {
            Some(last) if !is_answer && !last.0 => last.1.push(message),
            _ => turns.push((is_answer, vec![message])),
        }
    }
    let text = to_text(|it| {
        it.array(turns, |it, (is_answer, messages)| {
            it.object(|it| {
                let parts = messages.iter().flat_map(|it| it.parts.iter().map(|part| (*it, part)));
                it.key("parts").array(parts, |it, (message, part)| {
                    it.object(|it| match is_answer {
                        true => write_answer(it, part),
                        false => write_request(it, message, part, options, &names),
                    });
                });
                it.key("kind").str(if is_answer { "response" } else { "request" });
            });
        });
    });
    text.into_bytes()
}

fn write_request(
    it: &mut Writer<'_>,
    message: &Message,
    part: &Part,
    options: &WriteOptions,
    names: &Names<'_>,
) {
    match part {
        Part::ToolResult(result) => {
            it.key("tool_name").str(names.of_result(result));
            match list_of_result(result) {
                None => it.key("content").str(&text_of_result(result)),
                Some(list) => it.key("content").array(list, |it, part| match part.as_text() {
                    Some(text) => it.str(text),
                    None => write_media(it, part),
                }),
            }
            it.key("tool_call_id").str(&result.call_id);
            it.key("timestamp").str(&options.now);
            it.key("part_kind").str("tool-return");
            if result.is_error {
                it.key("outcome").str("failed");
            }
        }
        Part::Image(_) | Part::File(_) => {
            it.key("content").array([part], write_media);
            it.key("timestamp").str(&options.now);
            it.key("part_kind").str("user-prompt");
        }
        part => {
            it.key("content").str(part.as_text().unwrap_or_default());
            it.key("timestamp").str(&options.now);
            let kind = if message.role.is_system() { "system-prompt" } else { "user-prompt" };
            it.key("part_kind").str(kind);
        }
    }
}

fn write_media(it: &mut Writer<'_>, part: &Part) {
    let Some(media) = Media::of(part) else { return it.null() };
    it.object(|it| match &media.data {
        Some(data) => {
            it.key("data").str(data);
            it.key("media_type").str(media.media_type);
            it.key("kind").str("binary");
        }
        None => {
            let is_image = matches!(part, Part::Image(_));
            it.key("url").str(media.source());
            it.key("kind").str(if is_image { "image-url" } else { "document-url" });
        }
    });
}

fn write_answer(it: &mut Writer<'_>, part: &Part) {
    let seal = Seal::of(part);
    match part {
        Part::ToolCall(call) => {
            it.key("tool_name").str(&call.name);
            it.key("args").str(call.arguments.text());
            it.key("tool_call_id").str(&call.id);
        }
        Part::Reasoning(thought) => {
            it.key("content").str(&thought.display_text());
            it.key("signature").opt_str(seal.sealed());
            let redacted = seal.redacted.as_ref().map(|_| REDACTED);
            it.optional("id", seal.item.as_deref().or(redacted), |it, id| it.str(id));
        }
        part => it.key("content").str(part.as_text().unwrap_or_default()),
    }
    if let Some(maker) = seal.maker {
        it.key("provider_name").str(match maker {
            Maker::Anthropic => "anthropic",
            Maker::Gemini => "google",
            Maker::OpenAi => "openai",
        });
    }
    let signature = seal.gemini().filter(|_| !matches!(part, Part::Reasoning(_)));
    it.optional("provider_details", signature, |it, signature| {
        it.object(|it| it.key("thought_signature").str(signature));
    });
    it.key("part_kind").str(match part {
        Part::ToolCall(_) => "tool-call",
        Part::Reasoning(_) => "thinking",
        _ => "text",
    });
}
