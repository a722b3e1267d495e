//! The frames of an event stream: one JSON object each, under the name that its `type` says too.

use msg_codec::Json;
use msg_core::{Extra, FinishReason, Usage};
use msg_json::{Writer, write_compact};

use super::EventOptions;
use crate::shape::ANTHROPIC;

/// The members that a message delta has beside the stop reason.
const OF_DELTA: [&str; 3] = ["stop_sequence", "stop_details", "container"];
const CONTEXT_MANAGEMENT: &str = "context_management";

/// Appends one event.
fn frame(out: &mut Vec<u8>, name: &str, fill: impl FnOnce(&mut Writer<'_>)) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    Writer::new(out).object(|it| {
        it.key("type").str(name);
        fill(it);
    });
    out.extend_from_slice(b"\n\n");
}

/// A value that was kept raw: without white space, for a line break would end the event's line.
pub(super) fn compact(it: &mut Writer<'_>, raw: &str) {
    it.value(|out| write_compact(out, raw));
}

/// The event that a message begins with; `extra` are its unknown members.
pub(super) fn message_start(out: &mut Vec<u8>, options: &EventOptions, extra: &Extra) {
    frame(out, "message_start", |it| {
        it.key("message").object(|it| {
            it.key("id").str(&options.id);
            it.key("type").str("message");
            it.key("role").str("assistant");
            it.key("model").str(&options.model);
            it.key("content").array([], |_, _: ()| {});
            it.key("stop_reason").null();
            it.key("stop_sequence").null();
            it.key("usage").value(|out| write_usage_of_start(out, options.usage.as_ref()));
            for (name, value) in extra.iter(&ANTHROPIC) {
                if !OF_DELTA.contains(&name) && name != CONTEXT_MANAGEMENT {
                    compact(it.key(name), value.text());
                }
            }
        });
    });
}

/// The events that a message ends with.
pub(super) fn message_end(
    out: &mut Vec<u8>,
    finish: &FinishReason,
    usage: Option<&Usage>,
    extra: &Extra,
) {
    frame(out, "message_delta", |it| {
        it.key("delta").object(|it| {
            it.key("stop_reason").str(stop_reason(finish));
            for name in OF_DELTA {
                match extra.get(&ANTHROPIC, name) {
                    Some(value) => compact(it.key(name), value.text()),
                    None if name == OF_DELTA[0] => it.key(name).null(),
                    None => {}
                }
            }
        });
        it.key("usage").value(|out| write_usage(out, usage));
        if let Some(value) = extra.get(&ANTHROPIC, CONTEXT_MANAGEMENT) {
            compact(it.key(CONTEXT_MANAGEMENT), value.text());
        }
    });
    frame(out, "message_stop", |_| {});
}

/// The event of a block that begins; `fill` writes what the block is.
pub(super) fn block_start(out: &mut Vec<u8>, index: u64, fill: impl FnOnce(&mut Writer<'_>)) {
    frame(out, "content_block_start", |it| {
        it.key("index").u64(index);
        fill(it.key("content_block"));
    });
}

/// The event of a string that grows: a delta of type `kind` with the string as `member`.
pub(super) fn block_delta(out: &mut Vec<u8>, index: u64, (kind, member): (&str, &str), text: &str) {
    frame(out, "content_block_delta", |it| {
        it.key("index").u64(index);
        it.key("delta").object(|it| {
            it.key("type").str(kind);
            it.key(member).str(text);
        });
    });
}

/// The event of a citation.
pub(super) fn citation(out: &mut Vec<u8>, index: u64, citation: Json<'_>) {
    frame(out, "content_block_delta", |it| {
        it.key("index").u64(index);
        it.key("delta").object(|it| {
            it.key("type").str("citations_delta");
            compact(it.key("citation"), citation.source());
        });
    });
}

/// The event of a block that ends.
pub(super) fn block_stop(out: &mut Vec<u8>, index: u64) {
    frame(out, "content_block_stop", |it| it.key("index").u64(index));
}

/// The event of a failure.
pub(super) fn error(out: &mut Vec<u8>, message: &str) {
    frame(out, "error", |it| {
        it.key("error").object(|it| {
            it.key("type").str("api_error");
            it.key("message").str(message);
        });
    });
}

/// Whether a model can have stopped for this reason: not if it was stopped.
pub(super) fn is_end(finish: &FinishReason) -> bool {
    !matches!(finish, FinishReason::Error | FinishReason::Interrupted)
}

/// Anthropic's word for why a model stopped: the way back of AN-16.
pub(super) fn stop_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Stop => "end_turn",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter => "refusal",
        other => other.as_str(),
    }
}

/// Usage in Anthropic's members; its own object as it came.
pub(super) fn write_usage(out: &mut Vec<u8>, usage: Option<&Usage>) {
    write_usage_with(out, usage, usage.and_then(|it| it.output).unwrap_or_default());
}

/// As [`write_usage`], before there was output.
fn write_usage_of_start(out: &mut Vec<u8>, usage: Option<&Usage>) {
    write_usage_with(out, usage, 0);
}

fn write_usage_with(out: &mut Vec<u8>, usage: Option<&Usage>, output: u64) {
    let own = usage.and_then(|it| it.raw.as_ref()).filter(|it| is_own(Json::from_valid(it.text())));
    match own {
        Some(raw) => raw.write_compact(out),
        None => Writer::new(out).object(|it| {
            tokens(it, usage);
            it.key("output_tokens").u64(output);
            let thoughts = usage.and_then(|it| it.reasoning).filter(|it| *it <= output);
            it.optional("output_tokens_details", thoughts, |it, n| {
                it.object(|it| it.key("thinking_tokens").u64(n));
            });
        }),
    }
}

/// Whether a usage object is Anthropic's: others add caches into the input.
fn is_own(raw: Json<'_>) -> bool {
    let foreign =
        ["prompt_tokens", "input_tokens_details", "output_tokens_details", "total_tokens"];
    let has = |name| raw.get(name).is_some();
    (has("input_tokens") || has("output_tokens")) && !foreign.into_iter().any(has)
}

/// The numbers of the input. What came from caches is not part of it here.
fn tokens(it: &mut Writer<'_>, usage: Option<&Usage>) {
    let (cached, written) = usage.map_or((None, None), |it| (it.cached, it.cache_write));
    let apart = cached.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let input = usage.and_then(|it| it.input).unwrap_or(0).saturating_sub(apart);
    it.key("input_tokens").u64(input);
    for (name, number) in
        [("cache_read_input_tokens", cached), ("cache_creation_input_tokens", written)]
    {
        it.optional(name, number, |it, n| it.u64(n));
    }
}
