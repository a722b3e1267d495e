//! From the blocks of providers to message parts, for the views of sessions.
//!
//! ```text
//! {"type":"tool_use","id":"toolu_1","name":"Bash","input":{…}}   ─ anthropic ─▶   Part::ToolCall
//! ```

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod openai;
pub(crate) mod seals;
pub(crate) mod share_gpt;

use msg_core::{Image, Origin, Part, RawJson, Reasoning, Role, ToolCall, ToolResult};
use msg_xml::{Dialects, ParseOptions, SegmentKind, ToolSet};

use crate::edit::{Kind, Object, Value};
use crate::view::View;

/// What represents a result that was never recorded.
pub(crate) const INTERRUPTED: &str = "[interrupted: no result was recorded]";

/// What a member says: the text of a string, the JSON of any other value, `""` if there is none.
pub(crate) fn text(object: &Object<'_>, name: &str) -> String {
    object.plain(name).unwrap_or_default()
}

/// An image, or those of a result, with the media type that its URL names: sessions say it beside.
pub(crate) fn with_media_types(mut part: Part) -> Part {
    match &mut part {
        Part::Image(it) => name_media_type(it),
        Part::ToolResult(it)
            if it.content.parts().iter().any(|it| matches!(it, Part::Image(_))) =>
        {
            let parts = std::mem::take(&mut it.content).into_parts();
            it.content = parts.into_iter().map(with_media_types).collect::<Vec<_>>().into();
        }
        _ => {}
    }
    part
}

fn name_media_type(image: &mut Image) {
    let url = image.url.as_deref().and_then(|it| it.strip_prefix("data:"));
    let media_type = url.and_then(|it| it.split([';', ',']).next()).filter(|it| !it.is_empty());
    image.media_type = image.media_type.take().or(media_type.map(Into::into));
}

/// Base64 as a URL.
pub(crate) fn data_url(media_type: Option<&str>, base64: &str) -> String {
    format!("data:{};base64,{base64}", media_type.unwrap_or("application/octet-stream"))
}

/// A part that no kind fits, kept as JSON; a string is what it says, and so is the JSON of a number or a word (MS-29).
pub(crate) fn other(value: crate::edit::Value<'_>) -> msg_core::Part {
    if matches!(value.kind(), Kind::String | Kind::Number | Kind::Bool) {
        return Part::text(value.plain());
    }
    let place = Some(msg_core::Place::Content);
    let other = msg_core::Other::new(Origin::Json, value.raw_json());
    msg_core::Part::Other(msg_core::Other { place, ..other })
}

/// A part that is shown, or that the provider ran itself: what only its own dialect has, and never words of the model.
pub(crate) fn own(value: crate::edit::Value<'_>, dialect: &str) -> Part {
    let place = Some(msg_core::Place::Content);
    let other = msg_core::Other::new(Origin::from(dialect), value.raw_json());
    Part::Other(msg_core::Other { place, ..other })
}

// Tool calls in the text of older Cline sessions (SE-67): read by msg-xml, on request only.

/// The tools that Cline and Roo Code write as tags.
const TOOLS: [&str; 18] = [
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "ask_followup_question",
    "attempt_completion",
    "plan_mode_respond",
    "new_task",
    "switch_mode",
];

/// Makes calls of the tags in the texts of answers; each has its message and number as id.
pub(crate) fn read_calls(view: &mut View) {
    let options = Dialects::by_names(["cline"]).map(|it| {
        ParseOptions::new().with_dialects(it).with_tools(TOOLS.into_iter().collect::<ToolSet>())
    });
    let Ok(options) = options else { return };
    for (at, message) in view.messages.iter_mut().enumerate() {
        if message.role != Role::Assistant {
            continue;
        }
        let origins = std::mem::take(&mut view.origins[at]);
        let parts = std::mem::take(&mut message.parts);
        for (part, origin) in parts.into_iter().zip(origins) {
            let found = match &part {
                Part::Text(it) => segments(&it.text, at, &options),
                _ => Vec::new(),
            };
            let found = if found.is_empty() { vec![part] } else { found };
            view.origins[at].extend(vec![origin; found.len()]);
            message.parts.extend(found);
        }
    }
}

/// The parts of a text that has calls; none of one without.
fn segments(text: &str, message: usize, options: &ParseOptions) -> Vec<Part> {
    let parsed = msg_xml::parse(text.as_bytes(), None, options);
    if parsed.calls().next().is_none() {
        return Vec::new();
    }
    let part = |(n, kind): (usize, SegmentKind)| match kind {
        SegmentKind::Text(it) => (!it.trim().is_empty()).then(|| Part::text(it)),
        SegmentKind::Thinking { text, .. } => Some(Part::Reasoning(Reasoning::new(text))),
        SegmentKind::Call(call) => Some(Part::ToolCall(call.to_core(format!("xml_{message}_{n}")))),
        SegmentKind::Partial(call) => Some(Part::text(call.source())),
    };
    parsed.segments.into_iter().map(|it| it.kind).enumerate().filter_map(part).collect()
}

// The parts of OpenTelemetry's GenAI messages (OT-1), for spans and for lists of messages alone.

/// The part that a part of a GenAI message is, with the members that no part knows; none of media and of other
/// kinds.
///
/// ```
/// use msg_core::RawJson;
///
/// let part = RawJson::new(r#"{"type":"tool_call","id":"c1","name":"weather","arguments":{"at":1}}"#)?;
/// let part = msg_session::otel_part(&part).expect("because it is a call");
/// assert_eq!(part.as_tool_call().map(|it| it.arguments.text()), Some(r#"{"at":1}"#));
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub fn otel_part(source: &RawJson) -> Option<Part> {
    let object = Value { source: source.text(), at: 0 }.object()?;
    let (mut part, known): (_, &[&str]) = match &*object.text("type")? {
        "text" => (Part::text(object.text("content")?), &["content"]),
        "reasoning" => (Part::Reasoning(Reasoning::new(object.text("content")?)), &["content"]),
        "tool_call" => (Part::ToolCall(call(&object)?), &["id", "name", "arguments"]),
        "tool_call_response" => {
            let member = ["response", "result"].into_iter().find(|it| object.has(it))?;
            let result = ToolResult::new(text(&object, "id"), plain(&object, member));
            (
                Part::ToolResult(result),
                if member == "result" { &["id", "result"] } else { &["id", "response"] },
            )
        }
        _ => return None,
    };
    let rest = object.iter().filter(|it| it.0 != "type" && !known.contains(&it.0));
    for (name, value) in rest {
        part.extra_mut().insert(Origin::from("otel"), name, value.raw_json());
    }
    Some(part)
}

fn call(object: &Object<'_>) -> Option<ToolCall> {
    let name = object.text("name")?;
    Some(ToolCall::new(text(object, "id"), name, plain(object, "arguments")))
}

/// The text of a member, or its JSON if it is none; `""` of none, and of `null`.
fn plain(object: &Object<'_>, name: &str) -> String {
    let value = object.get(name).filter(|it| !it.is_null());
    value.map(|it| it.plain()).unwrap_or_default()
}
