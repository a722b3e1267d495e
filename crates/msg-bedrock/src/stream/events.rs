//! Converse streams written (BR-26): one event a line of JSON, or a binary frame each.

use msg_codec::codec::{Losses, Placed, Purpose};
use msg_codec::{Assembled, Json, write_frame};
use msg_core::{FinishReason, Part, Report, Usage};
use msg_json::Writer;

use crate::shape::BEDROCK;
use crate::write::written;
use crate::{Unsigned, WriteOptions};

/// Writes what an assembler read as the events that Bedrock would send, a line of JSON each, and says what that cannot
/// hold. Linear in the output.
pub fn write_events(res: &Assembled, out: &mut Vec<u8>) -> Report {
    events(res, &mut |name, body| {
        Writer::new(out).object(|it| it.key(name).raw(body));
        out.push(b'\n');
    })
}

/// As [`write_events`], in the frames that Bedrock sends.
pub fn write_frames(res: &Assembled, out: &mut Vec<u8>) -> Report {
    events(res, &mut |name, body| write_frame(name, body.as_bytes(), out))
}

fn events(res: &Assembled, event: &mut dyn FnMut(&str, &str)) -> Report {
    let mut report = Report::new();
    let mut losses = Losses::new(&mut report);
    for other in res.choices.iter().skip(1) {
        let text = format!("choice {} has no place in the stream", other.index);
        losses.warn("convert::lost-part", None, text);
    }
    let Some(choice) = res.choices.first() else {
        losses.flush();
        failed(res, event);
        return report;
    };
    losses.foreign(&choice.message.extra, Some(&BEDROCK), None);
    losses.flush();
    event("messageStart", r#"{"role":"assistant"}"#);
    let mut complete = choice.complete.iter();
    let mut index = 0;
    for (at, part) in choice.message.parts.iter().enumerate() {
        let is_whole =
            !matches!(part, Part::ToolCall(_)) || complete.next().copied().unwrap_or(true);
        if block((at, index), part, is_whole, &mut report, event) {
            index += 1;
        }
    }
    failed(res, event);
    let reason = choice.finish.as_ref().filter(|_| res.failure().is_none());
    if let Some(word) = reason.and_then(stop_reason) {
        let body = msg_json::to_text(|it| {
            it.object(|it| {
                it.key("stopReason").str(word);
                for (name, value) in choice.message.extra.iter(&BEDROCK) {
                    it.key(name).compact(value.text());
                }
            });
        });
        event("messageStop", &body);
        if let Some(usage) = &res.usage {
            let write = |it: &mut Writer<'_>| write_usage(it.key("usage"), usage);
            event("metadata", &msg_json::to_text(|it| it.object(write)));
        }
    }
    report
}

fn failed(res: &Assembled, event: &mut dyn FnMut(&str, &str)) {
    if let Some(error) = res.failure() {
        let body = msg_json::to_text(|it| it.object(|it| it.key("message").str(error)));
        event("modelStreamErrorException", &body);
    }
}

/// The events of a part; false if it has none.
fn block(
    (at, index): (usize, u64),
    part: &Part,
    is_whole: bool,
    report: &mut Report,
    event: &mut dyn FnMut(&str, &str),
) -> bool {
    let options = WriteOptions { unsigned: Some(Unsigned::Keep), ..WriteOptions::canonical() };
    let mut own = part.clone();
    let arguments = match &mut own {
        Part::ToolCall(it) => Some(std::mem::replace(&mut it.arguments, "{}".into())),
        _ => None,
    };
    let placed = Placed { message: 0, part: at, it: &own };
    let mut out = Vec::new();
    report.append(written(&options, Purpose::Convert, |it| it.placed(&placed, &mut out)));
    let text = String::from_utf8(out).unwrap_or_default();
    let Some((kind, inner)) = Json::from_valid(&text).members().next() else { return false };
    let mut say = |name: &str, member: &str, value: &str| {
        let body = msg_json::to_text(|it| {
            it.object(|it| {
                it.key("contentBlockIndex").u64(index);
                if !member.is_empty() {
                    it.key(member).raw(value);
                }
            });
        });
        event(name, &body);
    };
    let object =
        |name: &str, value: &str| msg_json::to_text(|it| it.object(|it| it.key(name).raw(value)));
    match &*kind {
        "text" => say("contentBlockDelta", "delta", &text),
        "toolUse" | "toolResult" | "image" => {
            let held = match &*kind {
                "toolUse" => "input",
                "toolResult" => "content",
                _ => "source",
            };
            let start = msg_json::to_text(|it| {
                it.object(|it| {
                    for (name, value) in inner.members().filter(|it| it.0 != held) {
                        it.key(&name).compact(value.source());
                    }
                });
            });
            say("contentBlockStart", "start", &object(&kind, &start));
            let value = inner.get(held).map_or("", Json::source);
            let said = arguments.as_ref().map_or(value, |it| it.text());
            let delta = match &*kind {
                "toolUse" => object("input", &msg_json::to_text(|it| it.str(said))),
                "toolResult" => value.to_owned(),
                _ => object(held, value),
            };
            if !said.is_empty() {
                say("contentBlockDelta", "delta", &object(&kind, &delta));
            }
        }
        "reasoningContent" => {
            let inner = inner.get("reasoningText").unwrap_or(inner);
            for (name, value) in inner.members() {
                let delta = object("reasoningContent", &object(&name, value.source()));
                say("contentBlockDelta", "delta", &delta);
            }
        }
        "citationsContent" => {
            for it in inner.get("content").into_iter().flat_map(Json::elements) {
                say("contentBlockDelta", "delta", it.source());
            }
            for it in inner.get("citations").into_iter().flat_map(Json::elements) {
                say("contentBlockDelta", "delta", &object("citation", it.source()));
            }
        }
        _ => {
            let mut losses = Losses::new(report);
            losses.part(at, part.kind());
            losses.flush();
            return false;
        }
    }
    if is_whole {
        say("contentBlockStop", "", "");
    }
    true
}

/// Bedrock's word for why an answer stopped; none of one that was stopped.
pub(crate) fn stop_reason(finish: &FinishReason) -> Option<&str> {
    Some(match finish {
        FinishReason::Stop => "end_turn",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter => "content_filtered",
        FinishReason::Error => "malformed_model_output",
        FinishReason::Interrupted => return None,
        other => other.as_str(),
    })
}

/// The provider's own object where it is Bedrock's, else one of the numbers.
pub(crate) fn write_usage(it: &mut Writer<'_>, usage: &Usage) {
    let own = usage.raw.as_ref();
    if let Some(own) = own.filter(|it| Json::from_valid(it.text()).get("inputTokens").is_some()) {
        return it.compact(own.text());
    }
    let (cached, stored) = (usage.cached.unwrap_or(0), usage.cache_write.unwrap_or(0));
    let input = usage.input.unwrap_or(0).saturating_sub(cached).saturating_sub(stored);
    let output = usage.output.unwrap_or(0);
    it.object(|it| {
        it.key("inputTokens").u64(input);
        it.key("outputTokens").u64(output);
        it.key("totalTokens").u64(usage.total.unwrap_or(input + output + cached + stored));
        it.optional("cacheReadInputTokens", usage.cached, |it, n| it.u64(n));
        it.optional("cacheWriteInputTokens", usage.cache_write, |it, n| it.u64(n));
    });
}
