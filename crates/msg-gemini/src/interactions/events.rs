//! Interaction streams written (GI-26).
//!
//! ```text
//! interaction.created, interaction.status_update
//! step.start 0, step.delta 0 …, step.stop 0          a step for each part
//! interaction.completed                              status and usage
//! done
//! ```

use msg_codec::codec::{Losses, Purpose};
use msg_codec::{Assembled, Json};
use msg_core::{FinishReason, Message, Part, Report, Role, Usage};
use msg_json::Writer;

use super::shape::INTERACTIONS;
use super::write::written;
use crate::WriteOptions;

/// Writes what an assembler read as the stream that the API would send, and says what that cannot hold. Reading it
/// gives the message. Linear in the output.
///
/// ```
/// use msg_codec::{StreamOptions, StreamReader};
/// use msg_gemini::interactions::{INTERACTIONS, write_events};
///
/// let read = |bytes: &[u8]| {
///     let mut reader = StreamReader::new(&[INTERACTIONS], StreamOptions::default());
///     reader.feed(bytes, &mut |_| {});
///     reader.finish(&mut |_| {})
/// };
/// let res = read(
///     br#"{"object":"interaction","id":"v1_a","status":"completed",
///          "steps":[{"type":"model_output","content":[{"type":"text","text":"Hi"}]}]}"#,
/// );
/// let mut out = Vec::new();
/// assert!(write_events(&res, &mut out).is_empty());
/// assert_eq!(read(&out).choices, res.choices);
/// ```
pub fn write_events(res: &Assembled, out: &mut Vec<u8>) -> Report {
    let mut report = Report::new();
    let mut losses = Losses::new(&mut report);
    for other in res.choices.iter().skip(1) {
        let text = format!("choice {} has no place in the stream", other.index);
        losses.warn("convert::lost-part", None, text);
    }
    let Some(choice) = res.choices.first() else {
        losses.flush();
        if let Some(error) = res.failure() {
            failed(error, out);
        }
        return report;
    };
    losses.foreign(&choice.message.extra, Some(&INTERACTIONS), None);
    losses.flush();
    event(out, "interaction.created", |it| {
        it.key("interaction").object(|it| about(res, "in_progress", it));
    });
    event(out, "interaction.status_update", |it| {
        it.optional("interaction_id", res.id.as_ref(), |it, id| it.str(id));
        it.key("status").str("in_progress");
    });
    let mut complete = choice.complete.iter();
    for (index, part) in choice.message.parts.iter().enumerate() {
        let is_call = matches!(part, Part::ToolCall(_));
        let is_whole = !is_call || complete.next().copied().unwrap_or(true);
        step(index, part, is_whole, &mut report, out);
    }
    if let Some(error) = res.failure() {
        failed(error, out);
    } else if let Some(status) = choice.finish.as_ref().and_then(status) {
        event(out, "interaction.completed", |it| {
            it.key("interaction").object(|it| {
                about(res, status, it);
                for (name, value) in choice.message.extra.iter(&INTERACTIONS) {
                    it.key(name).compact(value.text());
                }
                it.optional("usage", res.usage.as_ref(), usage);
            });
        });
        out.extend_from_slice(b"event: done\ndata: [DONE]\n\n");
    }
    report
}

fn event(out: &mut Vec<u8>, name: &str, fill: impl FnOnce(&mut Writer<'_>)) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    Writer::new(out).object(|it| {
        fill(it);
        it.key("event_type").str(name);
    });
    out.extend_from_slice(b"\n\n");
}

fn about(res: &Assembled, status: &str, it: &mut Writer<'_>) {
    it.optional("id", res.id.as_ref(), |it, id| it.str(id));
    it.key("status").str(status);
    it.key("object").str("interaction");
    it.optional("model", res.model.as_ref(), |it, model| it.str(model));
}

fn failed(message: &str, out: &mut Vec<u8>) {
    event(out, "error", |it| it.key("error").object(|it| it.key("message").str(message)));
}

/// The events of a part: its step is that of a document; a string that a delta may say is taken out of it.
fn step(index: usize, part: &Part, is_whole: bool, report: &mut Report, out: &mut Vec<u8>) {
    let options = WriteOptions::canonical();
    let mut own = part.clone();
    let arguments = match &mut own {
        Part::ToolCall(it) => Some(std::mem::replace(&mut it.arguments, "{}".into())),
        _ => None,
    };
    let message = [Message::new(Role::Assistant).with_part(own)];
    let mut list = Vec::new();
    report.append(written(&options, Purpose::Convert, |it| it.steps(&message, 0, &mut list)));
    let list = String::from_utf8(list).unwrap_or_default();
    for whole in Json::from_valid(&list).elements() {
        let start = Start::of(whole, arguments.is_some());
        event(out, "step.start", |it| {
            it.key("index").u64(index as u64);
            it.key("step").object(|it| {
                start.members.iter().for_each(|(name, value)| it.key(name).compact(value.source()));
            });
        });
        let arguments = arguments.as_ref().map(|it| it.text()).filter(|it| !it.is_empty());
        if let Some(text) = arguments {
            delta(index, "arguments_delta", |it| it.key("arguments").str(text), out);
        }
        if let Some(text) = start.text {
            delta(index, "text", |it| it.key("text").raw(text.source()), out);
        }
        if let Some(content) = start.summary {
            delta(index, "thought_summary", |it| it.key("content").compact(content.source()), out);
        }
        if let Some(signature) = start.signature {
            let say = |it: &mut Writer<'_>| it.key("signature").compact(signature.source());
            delta(index, "thought_signature", say, out);
        }
        if is_whole {
            event(out, "step.stop", |it| it.key("index").u64(index as u64));
        }
    }
}

fn delta(index: usize, kind: &str, fill: impl FnOnce(&mut Writer<'_>), out: &mut Vec<u8>) {
    event(out, "step.delta", |it| {
        it.key("index").u64(index as u64);
        it.key("delta").object(|it| {
            fill(it);
            it.key("type").str(kind);
        });
    });
}

/// What a step starts with, and what its deltas say.
#[derive(Default)]
struct Start<'a> {
    members: Vec<(String, Json<'a>)>,
    text: Option<Json<'a>>,
    summary: Option<Json<'a>>,
    signature: Option<Json<'a>>,
}

impl<'a> Start<'a> {
    fn of(step: Json<'a>, is_call: bool) -> Self {
        let mut res = Self::default();
        let kind = step.get("type").and_then(Json::text).unwrap_or_default();
        for (name, value) in step.members() {
            match (&*kind, &*name) {
                ("model_output", "content") => res.text = only(value).and_then(plain_text),
                ("thought", "summary") => {
                    res.summary = only(value).filter(|it| plain_text(*it).is_some());
                }
                ("thought", "signature") => res.signature = value.filled().map(|_| value),
                _ => {}
            }
            let is_said = match &*name {
                "content" => res.text.is_some(),
                "summary" => res.summary.is_some(),
                "signature" => res.signature.is_some() && !is_call,
                _ => false,
            };
            if !is_said {
                res.members.push((name.into_owned(), value));
            }
        }
        res
    }
}

/// The only element of a list.
fn only(list: Json<'_>) -> Option<Json<'_>> {
    let mut all = list.elements();
    all.next().filter(|_| all.next().is_none())
}

/// The string of a text that has no other members and says something.
fn plain_text(content: Json<'_>) -> Option<Json<'_>> {
    let is_text = content.get("type").and_then(Json::text).is_some_and(|it| it == "text");
    let text = content.get("text").filter(|it| it.filled().is_some())?;
    (is_text && content.members().count() == 2).then_some(text)
}

/// The API's word for why an answer stopped; none of one that was stopped.
pub(super) fn status(finish: &FinishReason) -> Option<&str> {
    Some(match finish {
        FinishReason::Stop => "completed",
        FinishReason::ToolCalls => "requires_action",
        FinishReason::Length => "incomplete",
        FinishReason::Error => "failed",
        FinishReason::Interrupted => return None,
        other => other.as_str(),
    })
}

/// The provider's own object where it is of this API, else one of the numbers.
pub(super) fn usage(it: &mut Writer<'_>, usage: &Usage) {
    let own = usage.raw.as_ref().filter(|raw| {
        let members = msg_codec::codec::object_members(raw).unwrap_or_default();
        members.iter().any(|it| it.name.starts_with("total_") && it.name != "total_tokens")
    });
    if let Some(own) = own {
        return it.compact(own.text());
    }
    let thought = usage.reasoning.unwrap_or_default();
    it.object(|it| {
        for (name, count) in [
            ("total_input_tokens", usage.input),
            ("total_output_tokens", usage.output.map(|it| it.saturating_sub(thought))),
            ("total_thought_tokens", usage.reasoning),
            ("total_cached_tokens", usage.cached),
            ("total_tokens", usage.total),
        ] {
            it.optional(name, count, |it, n| it.u64(n));
        }
    });
}
