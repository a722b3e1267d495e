//! The live writer of the two APIs that stream blocks by number: Bedrock Converse and Gemini Interactions.
//!
//! ```text
//! text "Hi"        Bedrock       contentBlockDelta 0 {"text":"Hi"}
//!                  Interactions  step.start 0 {"type":"model_output"}, step.delta 0 {"text":"Hi","type":"text"}
//! the end          Bedrock       contentBlockStop 0, messageStop, metadata
//!                  Interactions  step.stop 0, interaction.completed, done
//! ```
//!
//! Signatures of other APIs have no place in them, and only the first choice has.

use std::collections::HashMap;

use msg_codec::{Assembled, EventOptions, Json, write_frame};
use msg_core::{Code, Diagnostic, FinishReason, Part, Report, StreamEvent, Usage};
use msg_json::Writer;

use crate::api::Api;
use crate::error_body::{object, write_event};

/// A stream that is being written.
#[derive(Debug)]
pub(crate) struct BlockWriter {
    api: Api,
    options: EventOptions,
    is_begun: bool,
    /// The number of the next block.
    next: u64,
    /// The block of text or reasoning that has not ended.
    open: Option<(u64, Kind)>,
    /// The blocks of calls that have not ended.
    calls: HashMap<u32, u64>,
    has_failed: bool,
    report: Report,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

impl BlockWriter {
    pub(crate) fn new(api: Api, options: EventOptions) -> Self {
        BlockWriter {
            api,
            options,
            is_begun: false,
            next: 0,
            open: None,
            calls: HashMap::new(),
            has_failed: false,
            report: Report::new(),
        }
    }

    pub(crate) fn feed(&mut self, event: &StreamEvent<'_>, out: &mut Vec<u8>) {
        if event.choice() > 0 {
            return self.lose("another choice");
        }
        match event {
            StreamEvent::TextDelta { text, .. } | StreamEvent::RefusalDelta { text, .. } => {
                self.say(Kind::Text, text, out);
            }
            StreamEvent::ReasoningDelta { text, .. } => self.say(Kind::Reasoning, text, out),
            StreamEvent::PartEnd { part, .. } => match &**part {
                Part::Text(_) => {}
                Part::Reasoning(it) if it.signature.is_none() && it.encrypted.is_none() => {}
                part => self.lose(part.kind()),
            },
            StreamEvent::ToolCallBegin { index, id, name, .. } => {
                self.begin_call(*index, id.as_deref().unwrap_or_default(), name, out);
            }
            StreamEvent::ToolCallDelta { index, arguments, .. } => {
                if let Some(block) = self.calls.get(index) {
                    self.arguments(*block, arguments, out);
                }
            }
            StreamEvent::ToolCall { index, call, .. } => {
                if !self.calls.contains_key(index) {
                    self.begin_call(*index, &call.id, &call.name, out);
                    self.arguments(self.calls[index], call.arguments.text(), out);
                }
                let block = self.calls.remove(index).unwrap_or_default();
                self.stop(block, out);
            }
            StreamEvent::Usage { usage, .. } => self.options.usage = Some(usage.clone()),
            StreamEvent::Finish { reason, .. } => self.options.finish = Some(reason.clone()),
            StreamEvent::Error { message, .. } => {
                self.begin(out);
                self.has_failed = true;
                write_event(self.api, &msg_codec::ProviderError::new(&**message), out);
            }
            _ => {}
        }
    }

    /// The rest of the stream, and what it could not hold. One that failed, or that says no reason, has no end.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> Report {
        if self.has_failed {
            return self.report;
        }
        self.begin(out);
        self.close(out);
        let mut calls: Vec<u64> = self.calls.drain().map(|it| it.1).collect();
        calls.sort_unstable();
        calls.into_iter().for_each(|it| self.stop(it, out));
        let Some(finish) = self.options.finish.clone() else { return self.report };
        if self.api == Api::Bedrock {
            frame("messageStop", |it| it.key("stopReason").str(stop_reason(&finish)), out);
            if let Some(usage) = &self.options.usage {
                let fill = |it: &mut Writer<'_>| numbers(it, usage, BEDROCK);
                frame("metadata", |it| it.key("usage").object(fill), out);
            }
        } else {
            event("interaction.completed", |it| self.about(status(&finish), it), out);
            out.extend_from_slice(b"event: done\ndata: [DONE]\n\n");
        }
        self.report
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        match self.api {
            Api::Bedrock => frame("messageStart", |it| it.key("role").str("assistant"), out),
            _ => event("interaction.created", |it| self.about("in_progress", it), out),
        }
    }

    fn about(&self, status: &str, it: &mut Writer<'_>) {
        it.key("interaction").object(|it| {
            it.key("id").str(&self.options.id);
            it.key("status").str(status);
            it.key("object").str("interaction");
            it.key("model").str(&self.options.model);
            let usage = self.options.usage.as_ref().filter(|_| status != "in_progress");
            it.optional("usage", usage, |it, usage| {
                it.object(|it| numbers(it, usage, INTERACTIONS));
            });
        });
    }

    fn say(&mut self, kind: Kind, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let block = match self.open {
            Some((block, open)) if open == kind => block,
            _ => {
                let name = if kind == Kind::Text { "model_output" } else { "thought" };
                let block = self.start("", |it| it.key("type").str(name), out);
                self.open = Some((block, kind));
                block
            }
        };
        match (self.api, kind) {
            (Api::Bedrock, Kind::Text) => self.delta(block, |it| it.key("text").str(text), out),
            (Api::Bedrock, Kind::Reasoning) => {
                let fill = |it: &mut Writer<'_>| it.key("text").str(text);
                self.delta(block, |it| it.key("reasoningContent").object(fill), out);
            }
            (_, Kind::Text) => {
                let fill = |it: &mut Writer<'_>| {
                    it.key("text").str(text);
                    it.key("type").str("text");
                };
                self.delta(block, fill, out);
            }
            (_, Kind::Reasoning) => {
                let fill = |it: &mut Writer<'_>| {
                    it.key("content").object(|it| {
                        it.key("type").str("text");
                        it.key("text").str(text);
                    });
                    it.key("type").str("thought_summary");
                };
                self.delta(block, fill, out);
            }
        }
    }

    fn begin_call(&mut self, index: u32, id: &str, name: &str, out: &mut Vec<u8>) {
        let fill = |it: &mut Writer<'_>| match self.api {
            Api::Bedrock => it.key("toolUse").object(|it| {
                it.key("toolUseId").str(id);
                it.key("name").str(name);
            }),
            _ => {
                it.key("type").str("function_call");
                it.key("id").str(id);
                it.key("name").str(name);
                it.key("arguments").raw("{}");
            }
        };
        let text = object(fill);
        let block = self.start(&text, |_| {}, out);
        self.calls.insert(index, block);
    }

    fn arguments(&self, block: u64, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let fill = |it: &mut Writer<'_>| match self.api {
            Api::Bedrock => it.key("toolUse").object(|it| it.key("input").str(text)),
            _ => {
                it.key("arguments").str(text);
                it.key("type").str("arguments_delta");
            }
        };
        self.delta(block, fill, out);
    }

    /// Begins a block with this object, or with these members. Bedrock announces calls only.
    fn start(&mut self, whole: &str, fill: impl FnOnce(&mut Writer<'_>), out: &mut Vec<u8>) -> u64 {
        self.begin(out);
        self.close(out);
        let block = self.next;
        self.next += 1;
        if self.api != Api::Bedrock {
            let own = if whole.is_empty() { object(fill) } else { whole.to_owned() };
            let members = |it: &mut Writer<'_>| {
                it.key("index").u64(block);
                it.key("step").raw(&own);
            };
            event("step.start", members, out);
        } else if !whole.is_empty() {
            let members = |it: &mut Writer<'_>| {
                it.key("contentBlockIndex").u64(block);
                it.key("start").raw(whole);
            };
            frame("contentBlockStart", members, out);
        }
        block
    }

    fn delta(&self, block: u64, fill: impl FnOnce(&mut Writer<'_>), out: &mut Vec<u8>) {
        let members = |it: &mut Writer<'_>, number: &str| {
            it.key(number).u64(block);
            it.key("delta").object(fill);
        };
        match self.api {
            Api::Bedrock => frame("contentBlockDelta", |it| members(it, "contentBlockIndex"), out),
            _ => event("step.delta", |it| members(it, "index"), out),
        }
    }

    /// Ends the block of text or reasoning.
    fn close(&mut self, out: &mut Vec<u8>) {
        if let Some((block, _)) = self.open.take() {
            self.stop(block, out);
        }
    }

    fn stop(&self, block: u64, out: &mut Vec<u8>) {
        match self.api {
            Api::Bedrock => {
                frame("contentBlockStop", |it| it.key("contentBlockIndex").u64(block), out);
            }
            _ => event("step.stop", |it| it.key("index").u64(block), out),
        }
    }

    fn lose(&mut self, what: &str) {
        let code = Code::new("convert::lost-part");
        let text = format!("{what} has no place in the stream");
        if !self.report.iter().any(|it| it.code == code && it.message() == text) {
            self.report.push(Diagnostic::warning(code, text));
        }
    }
}

fn frame(name: &str, fill: impl FnOnce(&mut Writer<'_>), out: &mut Vec<u8>) {
    write_frame(name, object(fill).as_bytes(), out);
}

fn event(name: &str, fill: impl FnOnce(&mut Writer<'_>), out: &mut Vec<u8>) {
    let body = object(|it| {
        fill(it);
        it.key("event_type").str(name);
    });
    out.extend_from_slice(format!("event: {name}\ndata: {body}\n\n").as_bytes());
}

/// An answer that is not streamed, and what it cannot hold.
pub(crate) fn write_whole(api: Api, answer: &Assembled, out: &mut Vec<u8>) -> Report {
    let Some(choice) = answer.choices.first() else { return Report::new() };
    let said = std::slice::from_ref(&choice.message);
    let finish = choice.finish.as_ref().unwrap_or(&FinishReason::Stop);
    let mut written = Vec::new();
    let report = match api {
        Api::Bedrock => msg_bedrock::converse::write(
            said,
            &msg_bedrock::WriteOptions::canonical(),
            &mut written,
        ),
        _ => {
            let options = msg_gemini::WriteOptions::canonical();
            msg_gemini::interactions::write(said, &options, &mut written)
        }
    };
    let written = String::from_utf8_lossy(&written).into_owned();
    let written = Json::from_valid(&written);
    let usage = answer.usage.as_ref();
    let text = object(|it| match api {
        Api::Bedrock => {
            let message = written.get("messages").and_then(|it| it.elements().next());
            it.key("output").object(|it| {
                it.key("message").raw(message.map_or(NOTHING, Json::source));
            });
            it.key("stopReason").str(stop_reason(finish));
            it.optional("usage", usage, |it, of| it.object(|it| numbers(it, of, BEDROCK)));
        }
        _ => {
            it.optional("id", answer.id.as_ref(), |it, id| it.str(id));
            it.key("status").str(status(finish));
            it.key("object").str("interaction");
            it.optional("model", answer.model.as_ref(), |it, model| it.str(model));
            it.key("steps").raw(written.get("input").map_or("[]", Json::source));
            it.optional("usage", usage, |it, of| it.object(|it| numbers(it, of, INTERACTIONS)));
        }
    });
    out.extend_from_slice(text.as_bytes());
    report
}

/// What a model said that said nothing.
const NOTHING: &str = r#"{"role":"assistant","content":[]}"#;

/// The names of the numbers of input, output, both, and what was read from a cache.
type UsageNames = [&'static str; 4];
const BEDROCK: UsageNames = ["inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens"];
const INTERACTIONS: UsageNames =
    ["total_input_tokens", "total_output_tokens", "total_tokens", "total_cached_tokens"];

fn numbers(it: &mut Writer<'_>, usage: &Usage, names: UsageNames) {
    let total = usage.total.or(usage.input.zip(usage.output).map(|(a, b)| a + b));
    let [input, output, both, cached] = names;
    let values = [(input, usage.input), (output, usage.output), (both, total)];
    for (name, value) in values {
        it.key(name).u64(value.unwrap_or_default());
    }
    it.optional(cached, usage.cached, |it, cached| it.u64(cached));
}

/// Bedrock's word for why an answer stopped.
fn stop_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Stop => "end_turn",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter => "content_filtered",
        FinishReason::Error | FinishReason::Interrupted => "malformed_model_output",
        other => other.as_str(),
    }
}

/// The status of an interaction that stopped.
fn status(finish: &FinishReason) -> &'static str {
    match finish {
        FinishReason::ToolCalls => "requires_action",
        FinishReason::Length => "incomplete",
        FinishReason::Error => "failed",
        FinishReason::Interrupted => "cancelled",
        _ => "completed",
    }
}
