//! Reads and writes Converse streams. `assembler` assembles blocks into one assistant message (BR-15 to BR-22); frames
//! are split before that. This file writes streams (BR-26): one event per line of JSON, or per binary frame.
//!
//! ```text
//! {"messageStart":{"role":"assistant"}}
//! {"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{..}}}}       calls and a few others
//! {"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":".."}}}}
//! {"contentBlockStop":{"contentBlockIndex":0}}
//! {"messageStop":{"stopReason":"tool_use"}}, {"metadata":{"usage":{..}}}
//! ```

use msg_codec::{
    Assembled, EventOptions, Json,
    codec::{Losses, Placed, Purpose},
    stream::{BlockDelta, BlockForm, BlockPart, BlockStart, BlockWriter},
    write_frame,
};
use msg_core::{Extra, FinishReason, Origin, Report, Usage};
use msg_json::{Writer, to_text};

use crate::converse::BEDROCK as ORIGIN;
use crate::write::written;
use crate::{Unsigned, WriteOptions};

pub use assembler::{BEDROCK, Converse, ConverseAssembler};

mod assembler;

/// Writes an assembled result as the events that Bedrock would send, one line of JSON each, and reports what these
/// cannot hold. Linear in the output.
pub fn write_events(res: &Assembled, out: &mut Vec<u8>) -> Report {
    BlockWriter::replay(ConverseEvents::Lines, res, out)
}

/// As [`write_events`], in Bedrock's binary frames.
pub fn write_frames(res: &Assembled, out: &mut Vec<u8>) -> Report {
    BlockWriter::replay(ConverseEvents::Frames, res, out)
}

/// How to write the events of a Converse stream.
///
/// ```
/// use msg_bedrock::ConverseEvents;
/// use msg_codec::{EventOptions, stream::BlockWriter};
/// use msg_core::{FinishReason, StreamEvent};
///
/// let mut writer = BlockWriter::new(ConverseEvents::Lines, EventOptions::default());
/// let mut out = Vec::new();
/// writer.feed(&StreamEvent::TextDelta { choice: 0, text: "Hi".into() }, &mut out);
/// assert!(out.ends_with(b"{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"}}}\n"));
/// writer.feed(&StreamEvent::Finish { choice: 0, reason: FinishReason::Stop }, &mut out);
/// assert!(writer.finish(&mut out).is_empty());
/// assert!(out.ends_with(b"{\"messageStop\":{\"stopReason\":\"end_turn\"}}\n"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConverseEvents {
    /// One line of JSON per event.
    Lines,
    /// One binary frame per event, as Bedrock sends them.
    Frames,
}

impl ConverseEvents {
    fn event(self, name: &str, body: impl FnOnce(&mut Writer<'_>), out: &mut Vec<u8>) {
        match self {
            Self::Lines => {
                Writer::new(out).object(|it| it.key(name).object(body));
                out.push(b'\n');
            }
            Self::Frames => write_frame(name, to_text(|it| it.object(body)).as_bytes(), out),
        }
    }

    /// Writes an event of a block, with this JSON as a member.
    fn of_block(self, block: u64, (name, member): (&str, &str), json: &str, out: &mut Vec<u8>) {
        let body = |it: &mut Writer<'_>| {
            it.key("contentBlockIndex").u64(block);
            it.key(member).raw(json);
        };
        self.event(name, body, out);
    }

    /// Writes the announcement of a block: all members except the one that its delta extends.
    fn announced(self, block: u64, kind: &str, inner: Json<'_>, held: &str, out: &mut Vec<u8>) {
        let start = to_text(|it| {
            it.object(|it| {
                for (name, value) in inner.members().filter(|it| it.0 != held) {
                    it.key(&name).compact(value.source());
                }
            });
        });
        self.of_block(block, START, &object(kind, &start), out);
    }
}

const START: (&str, &str) = ("contentBlockStart", "start");
const DELTA: (&str, &str) = ("contentBlockDelta", "delta");

fn object(name: &str, value: &str) -> String {
    to_text(|it| it.object(|it| it.key(name).raw(value)))
}

fn string(text: &str) -> String {
    to_text(|it| it.str(text))
}

impl BlockForm for ConverseEvents {
    const ORIGIN: Origin = ORIGIN;

    fn begin(&self, _: &EventOptions, out: &mut Vec<u8>) {
        self.event("messageStart", |it| it.key("role").str("assistant"), out);
    }

    /// Only a call is announced.
    fn start(&self, block: u64, start: &BlockStart<'_>, out: &mut Vec<u8>) {
        let BlockStart::Call { id, name } = start else { return };
        let call = to_text(|it| {
            it.object(|it| {
                it.key("toolUseId").str(id);
                it.key("name").str(name);
            });
        });
        self.of_block(block, START, &object("toolUse", &call), out);
    }

    fn delta(&self, block: u64, delta: &BlockDelta<'_>, out: &mut Vec<u8>) {
        let delta = match *delta {
            BlockDelta::Text(it) => object("text", &string(it)),
            BlockDelta::Thought(it) => object("reasoningContent", &object("text", &string(it))),
            BlockDelta::Arguments(it) => object("toolUse", &object("input", &string(it))),
        };
        self.of_block(block, DELTA, &delta, out);
    }

    /// Writes the block of a document in pieces.
    fn part(&self, block: u64, part: &BlockPart<'_>, out: &mut Vec<u8>) -> (bool, Report) {
        let options = WriteOptions { unsigned: Some(Unsigned::Keep), ..WriteOptions::canonical() };
        let (own, arguments) = part.without_arguments();
        let placed = Placed { message: 0, part: 0, it: &own };
        let mut text = Vec::new();
        let mut report = written(&options, Purpose::Convert, |it| it.placed(&placed, &mut text));
        let text = String::from_utf8(text).unwrap_or_default();
        let Some((kind, inner)) = Json::from_valid(&text).members().next() else {
            return (false, report);
        };
        let is_new = part.said.is_none();
        let source = |name: &str| inner.get(name).map_or("", Json::source);
        let deltas = match &*kind {
            "text" => Vec::from_iter(is_new.then(|| text.clone())),
            "toolUse" => {
                let all = || source("input").get(part.said.unwrap_or(0)..).map(str::to_owned);
                let rest = arguments.or_else(all).unwrap_or_default();
                let delta = (!rest.is_empty()).then(|| object("input", &string(&rest)));
                delta.map(|it| object(&kind, &it)).into_iter().collect()
            }
            "toolResult" if is_new => {
                vec![object(
                    &kind,
                    Some(source("content")).filter(|it| !it.is_empty()).unwrap_or("[]"),
                )]
            }
            "image" if is_new => vec![object(&kind, &object("source", source("source")))],
            "reasoningContent" => {
                let inner = inner.get("reasoningText").unwrap_or(inner);
                let unsaid = inner.members().filter(|it| is_new || it.0 != "text");
                unsaid.map(|(name, it)| object(&kind, &object(&name, it.source()))).collect()
            }
            "citationsContent" => {
                let of = |name| inner.get(name).into_iter().flat_map(Json::elements);
                let said = of("content").filter(|_| is_new).map(|it| it.source().to_owned());
                said.chain(of("citations").map(|it| object("citation", it.source()))).collect()
            }
            _ => {
                let mut losses = Losses::new(&mut report);
                match part.said {
                    Some(_) => losses.member(Some(0), &kind),
                    None => losses.part(0, &part.part.kind_of_source()),
                }
                losses.flush();
                return (!is_new, report);
            }
        };
        let held = match &*kind {
            "toolUse" => Some("input"),
            "toolResult" => Some("content"),
            "image" => Some("source"),
            _ => None,
        };
        if let Some(held) = held.filter(|_| is_new) {
            self.announced(block, &kind, inner, held, out);
        }
        deltas.iter().for_each(|it| self.of_block(block, DELTA, it, out));
        (true, report)
    }

    fn stop(&self, block: u64, out: &mut Vec<u8>) {
        self.event("contentBlockStop", |it| it.key("contentBlockIndex").u64(block), out);
    }

    fn end(&self, about: &EventOptions, finish: &FinishReason, extra: &Extra, out: &mut Vec<u8>) {
        let body = |it: &mut Writer<'_>| {
            it.optional("stopReason", stop_reason(finish), |it, word| it.str(word));
            for (name, value) in extra.iter(&ORIGIN) {
                it.key(name).compact(value.text());
            }
        };
        self.event("messageStop", body, out);
        if let Some(usage) = &about.usage {
            self.event("metadata", |it| write_usage(it.key("usage"), usage), out);
        }
    }

    fn error(&self, message: &str, out: &mut Vec<u8>) {
        self.event("modelStreamErrorException", |it| it.key("message").str(message), out);
    }
}

/// Bedrock's word for a finish reason; `None` for an interrupted answer.
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

/// The provider's own object if it is Bedrock's, otherwise one made from the numbers.
pub(crate) fn write_usage(it: &mut Writer<'_>, usage: &Usage) {
    let (cached, stored) = (usage.cached.unwrap_or(0), usage.cache_write.unwrap_or(0));
    let input = usage.input.unwrap_or(0).saturating_sub(cached).saturating_sub(stored);
    let output = usage.output.unwrap_or(0);
    let all =
        [input, output, cached, stored].iter().fold(0, |all: u64, it| all.saturating_add(*it));
    let counts = [
        ("inputTokens", Some(input)),
        ("outputTokens", Some(output)),
        ("totalTokens", usage.total.or(Some(all))),
        ("cacheReadInputTokens", usage.cached),
        ("cacheWriteInputTokens", usage.cache_write),
    ];
    usage.write(it, |name| name == "inputTokens", &counts);
}
