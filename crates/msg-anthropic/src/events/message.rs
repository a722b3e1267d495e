//! A whole message as the stream that the provider would have sent (AN-18).

use msg_core::{
    CallKind, Extra, Message, Origin, Part, Reasoning, Report, Severity, Text, ToolCall,
};
use msg_json::Writer;
use msg_wire::{Json, codec::Losses};

use super::{EventOptions, finish_of, frame};
use crate::{shape::ANTHROPIC, thought::Thought};

const CITATIONS: &str = "citations";

/// Appends the event stream of a message, and says what it cannot hold (AN-18). Reading it gives the
/// message. Reasoning without a signature goes out without one: to be seen, not to be replayed. A message
/// that was cut by an error or an interruption has no end. Linear in the output.
///
/// ```
/// use msg_anthropic::{EventOptions, write_events};
/// use msg_core::Message;
///
/// let options = EventOptions::default().with_id("msg_1").with_model("claude-x");
/// let mut out = Vec::new();
/// let report = write_events(&Message::assistant("Hi"), &options, &mut out);
/// assert!(report.is_empty());
/// let text = String::from_utf8_lossy(&out);
/// assert!(text.starts_with("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","));
/// assert!(text.contains(r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#));
/// assert!(text.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
/// ```
pub fn write_events(message: &Message, options: &EventOptions, out: &mut Vec<u8>) -> Report {
    let mut report = Report::new();
    let mut losses = Losses::new(&mut report);
    losses.foreign(&message.extra, Some(&ANTHROPIC), None);
    if message.name.is_some() {
        losses.member(None, "name");
    }
    frame::message_start(out, options, &message.extra);
    let mut blocks = Blocks { out, losses, next: 0 };
    for (at, part) in message.parts.iter().enumerate() {
        blocks.part(at, part);
    }
    blocks.losses.flush();
    let finish = finish_of(options, message);
    if frame::is_end(finish) {
        frame::message_end(out, finish, options.usage.as_ref(), &message.extra);
    }
    report
}

/// Writes the blocks of a message.
struct Blocks<'a> {
    out: &'a mut Vec<u8>,
    losses: Losses<'a>,
    /// The index of the next block.
    next: u64,
}

impl Blocks<'_> {
    fn part(&mut self, at: usize, part: &Part) {
        match part {
            Part::Text(it) => self.text(at, it),
            Part::Refusal(it) => {
                let text = "a refusal is written as text";
                self.losses.note(Severity::Info, "convert::refusal-as-text", Some(at), text);
                self.text(at, it);
            }
            Part::Reasoning(it) => self.reasoning(at, it),
            Part::ToolCall(it) => self.call(at, it),
            Part::Other(it) if it.format == ANTHROPIC && is_block(it.value.text()) => {
                self.whole(|out| frame::compact(out, it.value.text()));
            }
            Part::Other(it) if it.format == Origin::Json => {
                let text = "a JSON part is written as its text";
                self.losses.warn("convert::json-as-text", Some(at), text);
                self.text(at, &Text::new(it.value.text()));
            }
            _ => self.losses.part(at, part.kind()),
        }
    }

    /// A block of one piece.
    fn whole(&mut self, fill: impl FnOnce(&mut Writer<'_>)) {
        let index = self.begin(fill);
        frame::block_stop(self.out, index);
    }

    fn begin(&mut self, fill: impl FnOnce(&mut Writer<'_>)) -> u64 {
        let index = self.next;
        self.next += 1;
        frame::block_start(self.out, index, fill);
        index
    }

    fn delta(&mut self, index: u64, kind: (&str, &str), text: &str) {
        if !text.is_empty() {
            frame::block_delta(self.out, index, kind, text);
        }
    }

    fn text(&mut self, at: usize, it: &Text) {
        self.losses.foreign(&it.extra, Some(&ANTHROPIC), Some(at));
        let cited = it.extra.get(&ANTHROPIC, CITATIONS).map(|it| Json::from_valid(it.text()));
        let cited = cited.filter(|it| it.is_array());
        let index = self.begin(|out| {
            out.object(|out| {
                text_head(out);
                unknown(out, &it.extra, cited.is_some().then_some(CITATIONS));
                if cited.is_some() {
                    out.key(CITATIONS).raw("[]");
                }
            });
        });
        self.delta(index, TEXT, &it.text);
        for citation in cited.into_iter().flat_map(Json::elements) {
            frame::citation(self.out, index, citation);
        }
        frame::block_stop(self.out, index);
    }

    fn reasoning(&mut self, at: usize, it: &Reasoning) {
        let thought = Thought::of(it);
        if !thought.is_signed() && it.text.is_none() && it.display_text().is_empty() {
            return self.losses.part(at, "reasoning");
        }
        self.losses.foreign(&it.extra, Some(&ANTHROPIC), Some(at));
        thought.lost(it).for_each(|name| self.losses.member(Some(at), name));
        match thought {
            Thought::Sealed(data) => self.sealed(data, &it.extra),
            Thought::Open { text, signature } => {
                let signature = signature.unwrap_or_default();
                let index = self.begin(|out| {
                    out.object(|out| {
                        thinking_head(out);
                        unknown(out, &it.extra, Some("signature"));
                    });
                });
                self.delta(index, THINKING, &text);
                self.delta(index, SIGNATURE, signature);
                frame::block_stop(self.out, index);
            }
        }
    }

    fn sealed(&mut self, data: &str, extra: &Extra) {
        self.whole(|out| out.object(|out| sealed_members(out, data, extra)));
    }

    fn call(&mut self, at: usize, it: &ToolCall) {
        self.losses.foreign(&it.extra, Some(&ANTHROPIC), Some(at));
        if it.signature.is_some() {
            self.losses.member(Some(at), "signature");
        }
        let is_custom = it.kind == CallKind::Custom;
        if is_custom || matches!(it.kind, CallKind::Other(_)) {
            self.losses.member(Some(at), "kind");
        }
        let index = self.begin(|out| {
            out.object(|out| {
                call_head(out, &it.id, &it.name);
                unknown(out, &it.extra, None);
            });
        });
        let text = it.arguments.text();
        if is_custom {
            self.delta(
                index,
                INPUT,
                &msg_json::to_text(|out| out.object(|it| it.key("input").str(text))),
            );
        } else {
            self.delta(index, INPUT, text);
        }
        frame::block_stop(self.out, index);
    }
}

pub(super) const TEXT: (&str, &str) = ("text_delta", "text");
pub(super) const THINKING: (&str, &str) = ("thinking_delta", "thinking");
pub(super) const INPUT: (&str, &str) = ("input_json_delta", "partial_json");

pub(super) const SIGNATURE: (&str, &str) = ("signature_delta", "signature");

/// The members of redacted thinking.
pub(super) fn sealed_members(out: &mut Writer<'_>, data: &str, extra: &Extra) {
    out.key("type").str("redacted_thinking");
    out.key("data").str(data);
    unknown(out, extra, None);
}

/// The members that a text begins with.
pub(super) fn text_head(out: &mut Writer<'_>) {
    out.key("type").str("text");
    out.key("text").str("");
}

/// The members that thinking begins with.
pub(super) fn thinking_head(out: &mut Writer<'_>) {
    out.key("type").str("thinking");
    out.key("thinking").str("");
    out.key("signature").str("");
}

/// The members that a call begins with.
pub(super) fn call_head(out: &mut Writer<'_>, id: &str, name: &str) {
    out.key("type").str("tool_use");
    out.key("id").str(id);
    out.key("name").str(name);
    out.key("input").object(|_| {});
}

/// The unknown members of a part, but one.
fn unknown(out: &mut Writer<'_>, extra: &Extra, skip: Option<&str>) {
    for (name, value) in extra.iter(&ANTHROPIC).filter(|it| Some(it.0) != skip) {
        frame::compact(out.key(name), value.text());
    }
}

/// Whether a stream can hold this value as a block.
pub(super) fn is_block(value: &str) -> bool {
    Json::from_valid(value).get("type").is_some_and(Json::is_string)
}
