//! What several writers share: Anthropic blocks, arguments as JSON, results as text.

use std::borrow::Cow;

use msg_core::{Image, Message, Origin, Part, Role, ToolCall, ToolResult};
use msg_json::{TextState, Writer, classify, write_compact};

/// Arguments as the JSON object that a format wants; text that is none goes into one.
pub(crate) fn write_arguments(out: &mut Writer<'_>, call: &ToolCall) {
    let text = call.arguments.text();
    match classify(text) {
        TextState::Object => out.raw(&in_a_line(text.trim())),
        _ if text.trim().is_empty() => out.object(|_| {}),
        _ => out.object(|it| it.key("input").str(text)),
    }
}

/// The id of the record with this number: that of the session with the number in the place of its last group.
pub(super) fn record_id(session: &str, number: u64) -> String {
    let head = session.get(..24).filter(|it| session.len() == 36 && it.ends_with('-'));
    format!("{}{number:012x}", head.unwrap_or(NEW_ID))
}

/// What the ids of records begin with that are not of a session with a UUID.
pub(super) const NEW_ID: &str = "00000000-0000-4000-8000-";

/// A JSON text without line ends, which would end the record that it is in.
pub(crate) fn in_a_line(json: &str) -> Cow<'_, str> {
    if !json.contains(['\n', '\r']) {
        return Cow::Borrowed(json);
    }
    let mut line = Vec::new();
    write_compact(&mut line, json);
    Cow::Owned(String::from_utf8(line).expect("because tokens of a text are text"))
}

/// The object that a tool gave, in one line: none of a failure, and of one that a reader would take for a text of Gemini.
pub(crate) fn object_of(result: &ToolResult) -> Option<Cow<'_, str>> {
    let [Part::Other(it)] = result.content.parts() else { return None };
    let is_text = |name: &str| matches!(name, "output" | "result" | "error");
    let members = it.value.members().filter(|_| it.format == Origin::Json && !result.is_error)?;
    (!members.iter().any(|it| is_text(&it.0))).then(|| in_a_line(it.value.text()))
}

/// What a tool gave, where any value may be: an object, or text.
pub(crate) fn write_given(it: &mut Writer<'_>, result: &ToolResult) {
    match object_of(result) {
        Some(object) => it.raw(&object),
        None => it.str(&result.content.text()),
    }
}

/// The results that answer the calls of an answer: those of the messages right after it that hold some.
pub(crate) fn results_after(messages: &[Message], at: usize) -> impl Iterator<Item = &ToolResult> {
    let holds = |it: &&Message| it.role == Role::Tool || it.tool_results().next().is_some();
    let after = messages[at + 1..].iter().take_while(holds);
    after.flat_map(Message::tool_results)
}

/// The parts of a message whose results are with their calls.
pub(crate) fn parts_but_results(message: &Message) -> impl Iterator<Item = &Part> {
    message.parts.iter().filter(|it| it.as_tool_result().is_none())
}

/// The numbers of the messages that say something besides results.
pub(crate) fn spoken(messages: &[Message]) -> impl Iterator<Item = usize> {
    let says = |it: &Message| it.role != Role::Tool && parts_but_results(it).next().is_some();
    (0..messages.len()).filter(move |at| says(&messages[*at]))
}

/// A part as a block of Anthropic's; none has no place there.
pub(crate) fn write_block(out: &mut Writer<'_>, part: &Part) {
    out.object(|it| match part {
        Part::Text(text) | Part::Refusal(text) => write_text(it, &text.text),
        Part::Reasoning(thought) => match &thought.redacted {
            Some(data) => {
                it.key("type").str("redacted_thinking");
                it.key("data").str(data);
            }
            None => {
                it.key("type").str("thinking");
                it.key("thinking").str(&thought.display_text());
                if let Some(signature) = &thought.signature {
                    it.key("signature").str(signature);
                }
            }
        },
        Part::ToolCall(call) => {
            it.key("type").str("tool_use");
            it.key("id").str(&call.id);
            it.key("name").str(&call.name);
            write_arguments(it.key("input"), call);
        }
        Part::ToolResult(result) => write_result(it, result, None),
        Part::Image(image) => write_image(it, image),
        Part::File(file) => {
            it.key("type").str("document");
            it.key("source").object(|it| match (&file.data, &file.url) {
                (Some(data), _) => {
                    it.key("type").str("base64");
                    let kind = file.media_type.as_deref().unwrap_or("application/pdf");
                    it.key("media_type").str(kind);
                    it.key("data").str(data.rsplit(',').next().unwrap_or_default());
                }
                (None, url) => {
                    it.key("type").str("url");
                    it.key("url").str(url.as_deref().unwrap_or_default());
                }
            });
        }
        Part::Audio(_) | Part::Other(_) => write_text(it, "[a part that this format has not]"),
        _ => write_text(it, ""),
    });
}

fn write_text(it: &mut Writer<'_>, text: &str) {
    it.key("type").str("text");
    it.key("text").str(text);
}

/// The members of a result; its tool is named where that is wanted, which Anthropic itself refuses.
pub(super) fn write_result(it: &mut Writer<'_>, result: &ToolResult, name: Option<&str>) {
    it.key("type").str("tool_result");
    it.key("tool_use_id").str(&result.call_id);
    if let Some(name) = name {
        it.key("name").str(name);
    }
    match result.content.as_text() {
        Some(text) => it.key("content").str(text),
        None => it.key("content").array(result.content.parts(), write_block),
    }
    if result.is_error {
        it.key("is_error").bool(true);
    }
}

fn write_image(it: &mut Writer<'_>, image: &Image) {
    it.key("type").str("image");
    it.key("source").object(|it| match data_url(image) {
        Some((media_type, data)) => {
            it.key("type").str("base64");
            it.key("media_type").str(media_type);
            it.key("data").str(data);
        }
        None => {
            it.key("type").str("url");
            it.key("url").str(image.url.as_deref().unwrap_or_default());
        }
    });
}

/// A part of a message whose tool parts are call and result in one (opencode, vercel-ui); `media_type` is the name of
/// that member there.
pub(crate) fn write_ui_part(it: &mut Writer<'_>, part: &Part, media_type: &str) {
    let mut file = |kind: &str, url: Option<&str>| {
        it.key("type").str("file");
        it.key(media_type).str(kind);
        it.key("url").str(url.unwrap_or_default());
    };
    match part {
        Part::Image(image) => {
            file(image.media_type.as_deref().unwrap_or("image/png"), image.url.as_deref());
        }
        Part::File(other) => {
            let kind = other.media_type.as_deref().unwrap_or("application/octet-stream");
            file(kind, other.url.as_deref().or(other.data.as_deref()));
        }
        Part::Reasoning(thought) => {
            it.key("type").str("reasoning");
            it.key("text").str(&thought.display_text());
        }
        part => write_text(it, part.as_text().unwrap_or_default()),
    }
}

/// Media type and base64 of an image that is inline.
pub(crate) fn data_url(image: &Image) -> Option<(&str, &str)> {
    let rest = image.url.as_deref()?.strip_prefix("data:")?;
    rest.split_once(";base64,")
}
