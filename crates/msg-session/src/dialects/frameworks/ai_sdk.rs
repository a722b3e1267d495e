//! The Vercel AI SDK's messages for a model: `ModelMessage` of versions 5 to 7, `CoreMessage` of version 4, and the
//! prompt passed to a provider (`LanguageModelV2Prompt` to `LanguageModelV4Prompt`).
//!
//! ```text
//! {"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"f","input":{…}}]}
//! {"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"f","output":{"type":"text","value":"r"}}]}
//! {"type":"file","mediaType":"image","data":{"type":"data","data":"iVBO…"}}                              version 7
//! ```
//!
//! The written list is valid as both: messages for a model, and a prompt. In the style of version 4, members are
//! called `args`, `result` and `mimeType`.

use std::collections::HashSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Content, File, Image, Maker, Message, Part, Report, Role, ToolCall, ToolResult};
use msg_json::{Writer, to_text};

use super::{Closing, Grown, Open, Records, Store, Wrap, each};
use crate::Dialect;
use crate::dialects::frameworks::writing::{Media, Names, entries, role, write_seal};
use crate::dialects::frameworks::{Seal, said};
use crate::edit::{Object, Value, quoted};
use crate::parts::{self, INTERRUPTED};
use crate::view::View;
use crate::write::{
    WriteOptions, object_of, text_of, text_of_result, write_arguments, write_given,
};

pub(crate) static STORE: Store = Store {
    lists: &["messages", "prompt", "response.messages"],
    wrap: Wrap::new(|block, _, _| format!(r#"{{"role":"tool","content":[{block}]}}"#)),
    style: |record| u8::from(record.list("content").iter().any(is_of_v4)),
    ..Store::new(Dialect::AiSdk, read, close, write)
};

/// The version 4 style.
const V4: u8 = 1;

/// The dialect's name, for parts that only it has.
const NAME: &str = "ai-sdk";

/// What the model is told about a call that the user denied without a reason.
pub(super) const DENIED: &str = "Tool call execution denied.";

fn is_of_v4(part: &Value<'_>) -> bool {
    let of_a_call = part.get("toolCallId").is_some();
    of_a_call && (part.get("args").is_some() || part.get("result").is_some())
}

fn read(records: &Records<'_>) -> View {
    let mut hosted = HashSet::new();
    each(records, |view, at, record| {
        let role = Role::from(&*parts::text(record, "role"));
        let mut grown = Grown::new(view, role.clone(), at);
        if let Some(text) = record.text("content") {
            if !text.is_empty() || role.is_system() {
                grown.push(Part::text(text), None);
            }
            return grown.finish();
        }
        for (n, value) in record.blocks("content") {
            grown.push(part(value, &role, &mut hosted), n);
        }
        grown.finish();
    })
}

fn part(value: Value<'_>, role: &Role, hosted: &mut HashSet<String>) -> Part {
    let Some(object) = value.object() else { return parts::other(value) };
    let seal = || {
        let options = object.inner("providerOptions").or_else(|| object.inner("providerMetadata"));
        Seal::by_provider(options)
    };
    match &*object.text("type").unwrap_or_default() {
        "text" => seal().text(parts::text(&object, "text")),
        "reasoning" => {
            let seal = match said(&object, "signature") {
                // Version 4 stores the signature beside the text; only Anthropic had signatures then.
                signature @ Some(_) => {
                    Seal { maker: Some(Maker::Anthropic), signature, ..Seal::default() }
                }
                None => seal(),
            };
            seal.thought(said(&object, "text"))
        }
        "redacted-reasoning" => {
            Seal { redacted: said(&object, "data"), ..Seal::default() }.thought(None)
        }
        "image" => media(&object, "image").unwrap_or_else(|| parts::other(value)),
        "file" => media(&object, "data").unwrap_or_else(|| parts::other(value)),
        "tool-call" if object.is_true("providerExecuted") => {
            hosted.insert(parts::text(&object, "toolCallId"));
            parts::own(value, NAME)
        }
        "tool-call" => {
            let input = object.get("input").or_else(|| object.get("args"));
            let arguments = input.map(|it| it.plain()).unwrap_or_default();
            let (id, name) = (parts::text(&object, "toolCallId"), parts::text(&object, "toolName"));
            let signature = seal().gemini().map(Into::into);
            Part::ToolCall(ToolCall { signature, ..ToolCall::new(id, name, arguments) })
        }
        // The result of a provider-executed call is in the answer itself.
        "tool-result"
            if *role == Role::Assistant || hosted.contains(&parts::text(&object, "toolCallId")) =>
        {
            parts::own(value, NAME)
        }
        "tool-result" => Part::ToolResult(result(&object)),
        // Reasoning files and provider-specific parts.
        kind if kind.starts_with("tool-approval-")
            || matches!(kind, "reasoning-file" | "custom") =>
        {
            parts::own(value, NAME)
        }
        _ => parts::other(value),
    }
}

/// The source of a file or image.
pub(super) enum Source {
    /// A URL, base64, or a data URL.
    Inline(String),
    /// A text document.
    Text(String),
    /// The id of a file stored by a provider.
    Id(String),
}

impl Source {
    /// Reads a member: a bare value, or since version 7 an object with its kind.
    fn of(value: &Value<'_>) -> Option<Self> {
        let Some(object) = value.object() else {
            return value.text().map(|it| Self::Inline(it.into()));
        };
        let own = |name: &str| object.text(name).map(String::from);
        match own("type").as_deref() {
            Some("data") => own("data").map(Self::Inline),
            Some("url") => own("url").map(Self::Inline),
            Some("text") => own("text").map(Self::Text),
            Some("reference") => object.get("reference").and_then(|it| Self::reference(&it)),
            _ => Self::reference(value),
        }
    }

    /// The id of a file by provider; the first one of several.
    pub(super) fn reference(value: &Value<'_>) -> Option<Self> {
        if let Some(id) = value.text() {
            return Some(Self::Id(id.into()));
        }
        let object = value.object()?;
        let ids: Option<Vec<_>> = object.values().map(|it| it.text()).collect();
        Some(Self::Id(ids?.into_iter().next()?.into()))
    }

    /// The part: an image or a file.
    pub(super) fn part(self, is_image: bool, kind: Option<String>, name: Option<String>) -> Part {
        let kind = kind.filter(|it| it.contains('/') && !it.ends_with("/*"));
        match self {
            Self::Id(id) if is_image => {
                Part::Image(Image { file_id: Some(id), media_type: kind, ..Image::default() })
            }
            Self::Id(id) => Part::File(File {
                file_id: Some(id),
                filename: name,
                media_type: kind,
                ..File::default()
            }),
            Self::Text(text) => {
                let kind = kind.unwrap_or_else(|| "text/plain".to_owned());
                let data = Some(parts::data_url(Some(&kind), &BASE64_STANDARD.encode(text)));
                let media_type = Some(kind);
                Part::File(File { data, filename: name, media_type, ..File::default() })
            }
            Self::Inline(source) if is_image => {
                let kind = kind.or_else(|| type_of_data(&source));
                let is_url = source.contains("://") || source.starts_with("data:");
                let url = match is_url {
                    true => source,
                    false => parts::data_url(kind.as_deref().or(Some("image/png")), &source),
                };
                let media_type = kind.or_else(|| inline_type(&url));
                Part::Image(Image { media_type, ..Image::from_url(url) })
            }
            Self::Inline(source) => {
                let media_type = kind.or_else(|| type_of_data(&source));
                let (data, url) = match source.contains("://") {
                    true => (None, Some(source)),
                    false => (Some(source), None),
                };
                Part::File(File { url, data, filename: name, media_type, ..File::default() })
            }
        }
    }
}

/// An image or a file.
fn media(object: &Object<'_>, member: &str) -> Option<Part> {
    let media_type = said(object, "mediaType").or_else(|| said(object, "mimeType"));
    let source = Source::of(&object.get(member)?)?;
    let is_image = member == "image" || media_type.as_deref().is_some_and(is_of_an_image);
    Some(source.part(is_image, media_type, said(object, "filename")))
}

/// Whether a media type is an image type; version 7 allows just `image`.
pub(super) fn is_of_an_image(media_type: &str) -> bool {
    media_type == "image" || media_type.starts_with("image/")
}

/// The media type detected from the data.
fn type_of_data(base64: &str) -> Option<String> {
    msg_codec::DataUrl::type_of_data(base64).map(str::to_owned)
}

fn inline_type(url: &str) -> Option<String> {
    let (kind, _) = url.strip_prefix("data:")?.split_once(';')?;
    Some(kind.to_owned())
}

fn result(object: &Object<'_>) -> ToolResult {
    let output = object.inner("output");
    let kind = output.as_ref().and_then(|it| it.text("type"));
    let value = output.as_ref().and_then(|it| it.get("value"));
    let plain = |it: Option<Value<'_>>| Content::from(it.map(|it| it.plain()).unwrap_or_default());
    let (content, is_error) = match kind.as_deref() {
        Some("text" | "json") => (plain(value), false),
        Some("error-text" | "error-json") => (plain(value), true),
        Some("execution-denied") => {
            let reason = output.as_ref().and_then(|it| said(it, "reason"));
            (Content::from(reason.unwrap_or_else(|| DENIED.to_owned())), true)
        }
        Some("content") => {
            let list = value.and_then(|it| it.array()).unwrap_or_default();
            (Content::from(list.into_iter().map(content).collect::<Vec<_>>()), false)
        }
        // Version 4 has the bare value.
        _ => {
            let value = object.get("result").or_else(|| object.get("output"));
            (plain(value), object.is_true("isError"))
        }
    };
    let name = said(object, "toolName");
    ToolResult { name, is_error, ..ToolResult::new(parts::text(object, "toolCallId"), content) }
}

/// A part of a result.
fn content(value: Value<'_>) -> Part {
    let Some(object) = value.object() else { return parts::other(value) };
    let read = match &*object.text("type").unwrap_or_default() {
        "text" => object.text("text").map(Part::text),
        "image-url" => said(&object, "url").map(|it| Part::Image(Image::from_url(it))),
        "file-url" => {
            said(&object, "url").map(|it| Part::File(File { url: Some(it), ..File::default() }))
        }
        "image-data" => media(&object, "data").map(|it| match it {
            // Only images are marked as such, whatever their media type.
            Part::File(it) => Part::Image(Image::from_url(parts::data_url(
                it.media_type.as_deref(),
                it.data.as_deref().unwrap_or_default(),
            ))),
            it => it,
        }),
        "media" | "file-data" | "file" => media(&object, "data"),
        kind @ ("file-id" | "image-file-id" | "file-reference" | "image-file-reference") => {
            let id = object.get("fileId").or_else(|| object.get("providerReference"));
            let id = id.and_then(|it| Source::reference(&it));
            id.map(|it| it.part(kind.starts_with("image"), None, None))
        }
        _ => None,
    };
    read.unwrap_or_else(|| parts::other(value))
}

fn close(open: &Open<'_>) -> Closing {
    let (id, name, text) = (quoted(open.id), quoted(open.name), quoted(INTERRUPTED));
    let is_v4 = open.block.as_ref().is_some_and(is_of_v4);
    Closing::Result(match is_v4 {
        true => format!(
            r#"{{"type":"tool-result","toolCallId":{id},"toolName":{name},"result":{text},"isError":true}}"#
        ),
        false => format!(
            r#"{{"type":"tool-result","toolCallId":{id},"toolName":{name},"output":{{"type":"error-text","value":{text}}}}}"#
        ),
    })
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let (names, style) = (Names::of(messages), options.style);
    let mut records: Vec<(&Message, Vec<&ToolResult>)> = Vec::new();
    let mut last = None;
    for it in entries(messages) {
        match (it.result, records.last_mut()) {
            (Some(result), Some(open)) if last == Some(it.at) => open.1.push(result),
            (Some(result), _) => {
                records.push((it.message, vec![result]));
                last = Some(it.at);
            }
            (None, _) => records.push((it.message, Vec::new())),
        }
    }
    let text = to_text(|it| {
        it.array(records, |it, (message, results)| {
            it.object(|it| match results.is_empty() {
                true => said_by(it, message, style),
                false => {
                    it.key("role").str("tool");
                    it.key("content").array(results, |it, result| {
                        it.object(|it| write_result(it, result, &names, style));
                    });
                }
            });
        });
    });
    text.into_bytes()
}

fn said_by(it: &mut Writer<'_>, message: &Message, style: u8) {
    let role = role(message);
    it.key("role").str(role);
    if role == "system" {
        return it.key("content").str(&text_of(message));
    }
    let parts = message.parts.iter().filter(|it| it.as_tool_result().is_none());
    it.key("content").array(parts, |it, part| it.object(|it| write_part(it, part, style)));
}

fn write_part(it: &mut Writer<'_>, part: &Part, style: u8) {
    match part {
        Part::ToolCall(call) => {
            it.key("type").str("tool-call");
            it.key("toolCallId").str(&call.id);
            it.key("toolName").str(&call.name);
            write_arguments(it.key(if style == V4 { "args" } else { "input" }), call);
            write_seal(it, "providerOptions", part);
        }
        Part::Reasoning(thought) => {
            it.key("type").str("reasoning");
            it.key("text").str(&thought.display_text());
            write_seal(it, "providerOptions", part);
        }
        part => match Media::of(part) {
            Some(media) => {
                it.key("type").str("file");
                it.key("data").str(media.source());
                it.key(if style == V4 { "mimeType" } else { "mediaType" }).str(media.media_type);
                if let Some(name) = media.filename {
                    it.key("filename").str(name);
                }
            }
            None => {
                it.key("type").str("text");
                it.key("text").str(part.as_text().unwrap_or_default());
                write_seal(it, "providerOptions", part);
            }
        },
    }
}

fn write_result(it: &mut Writer<'_>, result: &ToolResult, names: &Names<'_>, style: u8) {
    it.key("type").str("tool-result");
    it.key("toolCallId").str(&result.call_id);
    it.key("toolName").str(names.of_result(result));
    if style == V4 {
        write_given(it.key("result"), result);
        if result.is_error {
            it.key("isError").bool(true);
        }
        return;
    }
    let is_plain = result.content.parts().iter().all(|it| it.as_text().is_some());
    it.key("output").object(|it| {
        if let Some(object) = object_of(result) {
            it.key("type").str("json");
            return it.key("value").raw(&object);
        }
        if is_plain || result.is_error {
            it.key("type").str(if result.is_error { "error-text" } else { "text" });
            return it.key("value").str(&text_of_result(result));
        }
        it.key("type").str("content");
        it.key("value").array(result.content.parts(), |it, part| {
            it.object(|it| match Media::of(part) {
                Some(media) if media.data.is_some() => {
                    let is_image = matches!(part, Part::Image(_));
                    it.key("type").str(if is_image { "image-data" } else { "file-data" });
                    it.key("data").str(media.source());
                    it.key("mediaType").str(media.media_type);
                }
                Some(media) => {
                    let is_image = matches!(part, Part::Image(_));
                    it.key("type").str(if is_image { "image-url" } else { "file-url" });
                    it.key("url").str(media.source());
                }
                None => {
                    it.key("type").str("text");
                    it.key("text").str(part.as_text().unwrap_or_default());
                }
            });
        });
    });
}
