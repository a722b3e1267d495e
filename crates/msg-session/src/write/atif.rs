//! An ATIF 1.8 trajectory (SE-154): a step per message, the results of a step's calls in its observation.
//!
//! Images are written as paths or URLs only. What a thought needs beside its text goes to `extra.reasoning`.

use std::collections::HashSet;

use msg_core::{Image, Message, Part, Reasoning, Report, Role, ToolCall, ToolResult};
use msg_json::{TextState, Writer, classify};

use super::blocks::{in_a_line, parts_but_results, results_after, spoken};
use crate::write::WriteOptions;

pub(super) fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    document(messages, options, &Extras::default())
}

/// What a trajectory may say beside its messages.
#[derive(Default)]
pub(crate) struct Extras<'a> {
    /// Definitions of tools, each as JSON.
    pub(crate) tools: &'a [String],
    /// The messages that were copied from an earlier trajectory.
    pub(crate) copied: &'a [bool],
}

/// A trajectory of these messages.
pub(crate) fn document(
    messages: &[Message],
    options: &WriteOptions,
    extras: &Extras<'_>,
) -> Vec<u8> {
    let mut out = Vec::new();
    let only = only_model(messages);
    Writer::new(&mut out).object(|it| {
        it.key("schema_version").str("ATIF-v1.8");
        it.key("session_id").str(&options.session_id);
        it.key("agent").object(|it| {
            it.key("name").str("msg");
            it.key("version").str(&options.version);
            if let Some(model) = only {
                it.key("model_name").str(model);
            }
            if !extras.tools.is_empty() {
                it.key("tool_definitions").array(extras.tools, |it, tool| it.raw(&in_a_line(tool)));
            }
        });
        it.key("steps").array(spoken(messages).enumerate(), |it, (n, at)| {
            it.object(|it| {
                it.key("step_id").u64(n as u64 + 1);
                step(it, messages, at, only);
                if extras.copied.get(at).is_some_and(|it| *it) {
                    it.key("is_copied_context").bool(true);
                }
            });
        });
    });
    out
}

/// The model that made every answer.
fn only_model(messages: &[Message]) -> Option<&str> {
    let mut models = messages.iter().filter(|it| it.role == Role::Assistant).map(model);
    let first = models.next().flatten()?;
    models.all(|it| it == Some(first)).then_some(first)
}

fn model(message: &Message) -> Option<&str> {
    message.provenance()?.model.as_deref()
}

fn step(it: &mut Writer<'_>, messages: &[Message], at: usize, only: Option<&str>) {
    let message = &messages[at];
    let parts: Vec<_> = parts_but_results(message).filter(|it| is_content(it)).collect();
    if message.role != Role::Assistant {
        it.key("source").str(if message.role.is_system() { "system" } else { "user" });
        return content(it.key("message"), &parts);
    }
    it.key("source").str("agent");
    if let Some(model) = model(message).filter(|it| Some(*it) != only) {
        it.key("model_name").str(model);
    }
    content(it.key("message"), &parts);
    thoughts(it, message);
    let calls: Vec<_> = message.tool_calls().collect();
    if !calls.is_empty() {
        it.key("tool_calls").array(&calls, |it, call| tool_call(it, call));
    }
    let ids: HashSet<_> = calls.iter().map(|it| it.id.as_str()).collect();
    let results: Vec<_> = results_after(messages, at).collect();
    if !results.is_empty() {
        it.key("observation").object(|it| {
            it.key("results").array(results, |it, result| {
                it.object(|it| observed(it, result, ids.contains(&*result.call_id)));
            });
        });
    }
}

/// The thoughts as one text, and all of them where that does not say everything.
fn thoughts(it: &mut Writer<'_>, message: &Message) {
    let thoughts: Vec<_> = message.reasoning().collect();
    let texts: Vec<_> = thoughts.iter().map(|it| it.display_text()).collect();
    let texts: Vec<_> = texts.iter().filter(|it| !it.is_empty()).map(|it| &**it).collect();
    if !texts.is_empty() {
        it.key("reasoning_content").str(&texts.join("\n\n"));
    }
    if thoughts.len() > 1 || thoughts.iter().any(|it| it.is_signed()) {
        it.key("extra").object(|it| {
            it.key("reasoning").array(thoughts, |it, thought| {
                it.object(|it| whole_thought(it, thought));
            });
        });
    }
}

fn whole_thought(it: &mut Writer<'_>, thought: &Reasoning) {
    let text = thought.display_text();
    if !text.is_empty() {
        it.key("text").str(&text);
    }
    for (name, value) in [("signature", &thought.signature), ("redacted", &thought.redacted)] {
        if let Some(value) = value {
            it.key(name).str(value);
        }
    }
}

fn tool_call(it: &mut Writer<'_>, call: &ToolCall) {
    it.object(|it| {
        it.key("tool_call_id").str(&call.id);
        it.key("function_name").str(&call.name);
        let (text, it) = (call.arguments.text().trim(), it.key("arguments"));
        match classify(text) {
            TextState::Object => it.raw(&in_a_line(text)),
            _ if text.is_empty() => it.object(|_| {}),
            // A trajectory has objects only.
            _ => it.object(|it| match serde_json::from_str::<serde_json::Value>(text) {
                Ok(_) => it.key("arguments").raw(&in_a_line(text)),
                Err(_) => it.key("arguments").str(call.arguments.text()),
            }),
        }
    });
}

fn observed(it: &mut Writer<'_>, result: &ToolResult, is_answer: bool) {
    if is_answer {
        it.key("source_call_id").str(&result.call_id);
    }
    let parts: Vec<_> = result.content.parts().iter().filter(|it| is_content(it)).collect();
    content(it.key("content"), &parts);
    if result.is_error {
        it.key("extra").object(|it| it.key("is_error").bool(true));
    }
}

/// The types of images that a trajectory may name.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Path and type of an image that a trajectory may name: one that is not inline.
pub(super) fn image_path(image: &Image) -> Option<(&str, &str)> {
    let path = image.url.as_deref().filter(|it| !it.is_empty() && !it.starts_with("data:"))?;
    let name = path.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let by_name = match name.rsplit('.').next() {
        Some("jpg" | "jpeg") => Some("image/jpeg"),
        Some("gif") => Some("image/gif"),
        Some("webp") => Some("image/webp"),
        Some("png") => Some("image/png"),
        _ => None,
    };
    let media_type = image.media_type.as_deref().or(by_name)?;
    IMAGES.contains(&media_type).then_some((path, media_type))
}

fn is_content(part: &Part) -> bool {
    match part {
        Part::Text(_) | Part::Refusal(_) => true,
        Part::Image(image) => image_path(image).is_some(),
        _ => false,
    }
}

fn content(it: &mut Writer<'_>, parts: &[&Part]) {
    match parts {
        [] => it.str(""),
        [Part::Text(text) | Part::Refusal(text)] => it.str(&text.text),
        parts => it.array(parts, |it, part| {
            it.object(|it| match part {
                Part::Image(image) => {
                    let (path, media_type) = image_path(image).unwrap_or_default();
                    it.key("type").str("image");
                    it.key("source").object(|it| {
                        it.key("media_type").str(media_type);
                        it.key("path").str(path);
                    });
                }
                part => {
                    it.key("type").str("text");
                    it.key("text").str(part.as_text().unwrap_or_default());
                }
            });
        }),
    }
}
