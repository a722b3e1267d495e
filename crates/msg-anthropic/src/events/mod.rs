//! Writes Anthropic event streams (AN-18): a complete message as the stream that the provider would have sent, and, in
//! `live`, the events of any stream. With it, a proxy speaks Anthropic's API for any model. Nothing is sent from here.
//!
//! ```text
//! StreamEvent text-delta "a"          message_start, content_block_start 0, content_block_delta 0
//!             tool-call-begin 0       content_block_stop 0, content_block_start 1
//!             tool-call-delta 0       content_block_delta 1
//!             finish                  content_block_stop 1, message_delta, message_stop
//! ```

use msg_codec::{EventOptions, Json, codec::Losses, stream::Brackets};
use msg_core::{
    CallKind, Extra, FinishReason, Message, Origin, Part, RawJson, Reasoning, Report, Severity,
    Text, ToolCall, Usage,
};
use msg_json::{Writer, write_compact};

use crate::messages::{ANTHROPIC, Thought};

mod live;

pub use live::EventWriter;

/// The finish reason: as given, or derived from the calls.
fn finish_of<'o>(options: &'o EventOptions, message: &Message) -> &'o FinishReason {
    let calls = message.tool_calls().next().is_some();
    let implied = if calls { &FinishReason::ToolCalls } else { &FinishReason::Stop };
    options.finish.as_ref().unwrap_or(implied)
}

/// The finish reason in Anthropic's word; `None` for a failed or truncated answer, which has no word.
pub(crate) fn stop_reason<'o>(options: &'o EventOptions, message: &Message) -> Option<&'o str> {
    match finish_of(options, message) {
        FinishReason::Error | FinishReason::Interrupted => None,
        // It has not ended.
        _ if options.finish.is_none() && options.error.is_some() => None,
        finish => Some(stop_reason_name(finish)),
    }
}

/// The usage as JSON, in Anthropic's members.
pub(crate) fn usage_text(options: &EventOptions) -> String {
    msg_json::to_text(|it| it.value(|out| write_usage(out, options.usage.as_ref())))
}

// A block of a stream being rewritten: its kind, and what is not written yet.

#[derive(Debug, Clone)]
struct Block {
    kind: Kind,
    /// Whether its start was written.
    begun: bool,
    /// Whether it is complete.
    ended: bool,
    /// Text that is not written yet.
    pending: String,
    /// What follows its last delta.
    end: BlockEnd,
    /// The unknown members at its start.
    extra: Extra,
}

/// Data that a block gets only at its end.
#[derive(Debug, Clone, Default)]
enum BlockEnd {
    #[default]
    Plain,
    Signature(String),
    Citations(RawJson),
}

#[derive(Debug, Clone)]
enum Kind {
    Text,
    Thinking(ThoughtText),
    /// A block in one piece, as JSON.
    Whole(String),
    Call {
        id: String,
        name: String,
        brackets: Brackets,
    },
}

/// A fingerprint of written reasoning, which is not kept: a signature is valid only for this exact text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThoughtText {
    len: usize,
    /// FNV-1a.
    hash: u64,
}

impl ThoughtText {
    const EMPTY: Self = Self { len: 0, hash: 0xcbf2_9ce4_8422_2325 };

    fn of(text: &str) -> Self {
        let mut res = Self::EMPTY;
        res.push(text);
        res
    }

    fn push(&mut self, text: &str) {
        self.len += text.len();
        self.hash = text
            .bytes()
            .fold(self.hash, |hash, it| (hash ^ u64::from(it)).wrapping_mul(0x100_0000_01b3));
    }
}

impl Block {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            begun: false,
            ended: false,
            pending: String::new(),
            end: BlockEnd::Plain,
            extra: Extra::default(),
        }
    }

    /// A block with this text and these unknown members at its start.
    fn of(kind: Kind, text: String, extra: &Extra) -> Self {
        Self { pending: text, extra: extra.clone(), ..Self::new(kind) }
    }

    /// Whether it is open reasoning with this text.
    fn is_thought(&self, text: &str) -> bool {
        let said = match self.kind {
            Kind::Thinking(said) if !self.ended => said,
            _ => return false,
        };
        said.len == text.len() && said == ThoughtText::of(text)
    }

    /// Whether it may end when another block waits.
    fn may_end(&self) -> bool {
        match &self.kind {
            Kind::Text | Kind::Thinking(_) | Kind::Whole(_) => true,
            Kind::Call { brackets, .. } => self.ended || brackets.closed(),
        }
    }

    fn begin(&self, index: u64, out: &mut Vec<u8>) {
        if let Kind::Whole(json) = &self.kind {
            return block_start(out, index, |it| compact(it, json));
        }
        block_start(out, index, |it| {
            it.object(|it| {
                match &self.kind {
                    Kind::Text => text_head(it),
                    Kind::Thinking(_) => thinking_head(it),
                    Kind::Call { id, name, .. } => call_head(it, id, name),
                    Kind::Whole(_) => {}
                }
                unknown(it, &self.extra);
            });
        });
    }

    /// Writes its pending content.
    fn write(&mut self, index: u64, out: &mut Vec<u8>) {
        if !self.begun {
            self.begun = true;
            self.begin(index, out);
        }
        let delta = match self.kind {
            Kind::Text => TEXT,
            Kind::Thinking(_) => THINKING,
            Kind::Call { .. } => INPUT,
            Kind::Whole(_) => return,
        };
        if !self.pending.is_empty() {
            block_delta(out, index, delta, &self.pending);
            self.pending.clear();
        }
        match std::mem::take(&mut self.end) {
            BlockEnd::Plain => {}
            BlockEnd::Signature(text) => block_delta(out, index, SIGNATURE, &text),
            BlockEnd::Citations(list) => {
                let citations = Json::from_valid(list.text()).elements();
                citations.for_each(|it| citation(out, index, it));
            }
        }
    }
}

// The frames of an event stream: one JSON object each, named by its `type`.

/// The members of a message delta beside the stop reason.
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

/// Writes a raw value without white space, because a line break would end the event's line.
fn compact(it: &mut Writer<'_>, raw: &str) {
    it.value(|out| write_compact(out, raw));
}

/// The first event of a message; `extra` are its unknown members.
fn message_start(out: &mut Vec<u8>, options: &EventOptions, extra: &Extra) {
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

/// The last events of a message.
fn message_end(out: &mut Vec<u8>, finish: &FinishReason, usage: Option<&Usage>, extra: &Extra) {
    frame(out, "message_delta", |it| {
        it.key("delta").object(|it| {
            it.key("stop_reason").str(stop_reason_name(finish));
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

/// The event that begins a block; `fill` writes its content.
fn block_start(out: &mut Vec<u8>, index: u64, fill: impl FnOnce(&mut Writer<'_>)) {
    frame(out, "content_block_start", |it| {
        it.key("index").u64(index);
        fill(it.key("content_block"));
    });
}

/// A delta of type `kind` with a string as `member`.
fn block_delta(out: &mut Vec<u8>, index: u64, (kind, member): (&str, &str), text: &str) {
    frame(out, "content_block_delta", |it| {
        it.key("index").u64(index);
        it.key("delta").object(|it| {
            it.key("type").str(kind);
            it.key(member).str(text);
        });
    });
}

/// The event of a citation.
fn citation(out: &mut Vec<u8>, index: u64, citation: Json<'_>) {
    frame(out, "content_block_delta", |it| {
        it.key("index").u64(index);
        it.key("delta").object(|it| {
            it.key("type").str("citations_delta");
            compact(it.key("citation"), citation.source());
        });
    });
}

/// The event of a block that ends.
fn block_stop(out: &mut Vec<u8>, index: u64) {
    frame(out, "content_block_stop", |it| it.key("index").u64(index));
}

/// The event of a failure.
fn error(out: &mut Vec<u8>, message: &str) {
    frame(out, "error", |it| {
        it.key("error").object(|it| {
            it.key("type").str("api_error");
            it.key("message").str(message);
        });
    });
}

/// Whether a model can have stopped for this reason: not if it was interrupted.
fn is_end(finish: &FinishReason) -> bool {
    !matches!(finish, FinishReason::Error | FinishReason::Interrupted)
}

/// Anthropic's word for a finish reason: the reverse of AN-16.
fn stop_reason_name(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Stop => "end_turn",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter => "refusal",
        other => other.as_str(),
    }
}

/// Usage in Anthropic's members; its own object unchanged.
fn write_usage(out: &mut Vec<u8>, usage: Option<&Usage>) {
    write_usage_with(out, usage, usage.and_then(|it| it.output).unwrap_or_default());
}

/// [`write_usage`] before any output.
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

/// Whether a usage object is Anthropic's: other APIs include cached tokens in the input.
fn is_own(raw: Json<'_>) -> bool {
    let foreign =
        ["prompt_tokens", "input_tokens_details", "output_tokens_details", "total_tokens"];
    let has = |name| raw.get(name).is_some();
    (has("input_tokens") || has("output_tokens")) && !foreign.into_iter().any(has)
}

/// The input counts. Tokens read from caches are not part of the input here.
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

const CITATIONS: &str = "citations";

/// Appends the event stream of a message, and reports what it cannot hold (AN-18). Reading the stream gives the
/// message. Reasoning without a signature is written without one, which cannot be replayed. A message that was cut off
/// by an error or an interruption has no end; it has an error if the options contain one. Linear in the output.
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
    let finish = Some(finish_of(options, message).clone());
    let mut writer = EventWriter::of_message(EventOptions { finish, ..options.clone() }, message);
    let mut blocks = Blocks { losses };
    for (at, part) in message.parts.iter().enumerate() {
        match blocks.of(at, part) {
            Some(block) => writer.whole(block, out),
            None => blocks.losses.part(at, &part.kind_of_source()),
        }
    }
    blocks.losses.flush();
    writer.end(out);
    report
}

/// Builds the blocks of a message.
struct Blocks<'a> {
    losses: Losses<'a>,
}

impl Blocks<'_> {
    /// The block of a part; `None` if it cannot be written.
    fn of(&mut self, at: usize, part: &Part) -> Option<Block> {
        Some(match part {
            Part::Text(it) => self.text(at, it),
            Part::Refusal(it) => {
                let text = "a refusal is written as text";
                self.losses.note(Severity::Info, "convert::refusal-as-text", Some(at), text);
                self.text(at, it)
            }
            Part::Reasoning(it) => return self.reasoning(at, it),
            Part::ToolCall(it) => self.call(at, it),
            Part::Other(it) if it.format == ANTHROPIC && is_block(it.value.text()) => {
                Block::new(Kind::Whole(it.value.text().to_owned()))
            }
            Part::Other(it) if it.format == Origin::Json => {
                let text = "a JSON part is written as its text";
                self.losses.warn("convert::json-as-text", Some(at), text);
                self.text(at, &Text::new(it.value.text()))
            }
            _ => return None,
        })
    }

    fn text(&mut self, at: usize, it: &Text) -> Block {
        self.losses.foreign(&it.extra, Some(&ANTHROPIC), Some(at));
        let mut block = Block::of(Kind::Text, it.text.clone(), &it.extra);
        let is_list = |it: &RawJson| Json::from_valid(it.text()).is_array();
        if let Some(list) = it.extra.get(&ANTHROPIC, CITATIONS).filter(|it| is_list(it)) {
            block.end = BlockEnd::Citations(list.clone());
            block.extra.remove(&ANTHROPIC, CITATIONS);
            let none = RawJson::new("[]").expect("an empty list is JSON");
            block.extra.insert(ANTHROPIC, CITATIONS, none);
        }
        block
    }

    /// The block of reasoning; `None` if it is empty.
    fn reasoning(&mut self, at: usize, it: &Reasoning) -> Option<Block> {
        let thought = Thought::of(it);
        if !thought.is_signed() && it.text.is_none() && it.display_text().is_empty() {
            return None;
        }
        self.losses.foreign(&it.extra, Some(&ANTHROPIC), Some(at));
        thought.lost(it).for_each(|name| self.losses.member(Some(at), name));
        let (text, signature) = match thought {
            Thought::Sealed(data) => return Some(Block::sealed(data, &it.extra)),
            Thought::Open { text, signature } => (text.into_owned(), signature),
        };
        let mut block = Block::of(Kind::Thinking(ThoughtText::of(&text)), text, &it.extra);
        block.extra.remove(&ANTHROPIC, "signature");
        block.end = signature.map_or(BlockEnd::Plain, |it| BlockEnd::Signature(it.to_owned()));
        Some(block)
    }

    fn call(&mut self, at: usize, it: &ToolCall) -> Block {
        self.losses.foreign(&it.extra, Some(&ANTHROPIC), Some(at));
        if it.signature.is_some() {
            self.losses.member(Some(at), "signature");
        }
        let is_custom = it.kind == CallKind::Custom;
        if is_custom || matches!(it.kind, CallKind::Other(_)) {
            self.losses.member(Some(at), "kind");
        }
        let text = match it.arguments.text() {
            text if is_custom => {
                msg_json::to_text(|out| out.object(|it| it.key("input").str(text)))
            }
            text => text.to_owned(),
        };
        let (id, name) = (it.id.clone(), it.name.clone());
        let kind = Kind::Call { id, name, brackets: Brackets::default() };
        Block::of(kind, text, &it.extra)
    }
}

impl Block {
    /// Redacted thinking, with its unknown members.
    fn sealed(data: &str, extra: &Extra) -> Self {
        Self::new(Kind::Whole(msg_json::to_text(|it| {
            it.object(|it| {
                it.key("type").str("redacted_thinking");
                it.key("data").str(data);
                unknown(it, extra);
            });
        })))
    }
}

const TEXT: (&str, &str) = ("text_delta", "text");
const THINKING: (&str, &str) = ("thinking_delta", "thinking");
const INPUT: (&str, &str) = ("input_json_delta", "partial_json");

const SIGNATURE: (&str, &str) = ("signature_delta", "signature");

/// Writes the first members of a text.
fn text_head(out: &mut Writer<'_>) {
    out.key("type").str("text");
    out.key("text").str("");
}

/// Writes the first members of thinking.
fn thinking_head(out: &mut Writer<'_>) {
    out.key("type").str("thinking");
    out.key("thinking").str("");
    out.key("signature").str("");
}

/// Writes the first members of a call.
fn call_head(out: &mut Writer<'_>, id: &str, name: &str) {
    out.key("type").str("tool_use");
    out.key("id").str(id);
    out.key("name").str(name);
    out.key("input").object(|_| {});
}

/// The unknown members of a part.
fn unknown(out: &mut Writer<'_>, extra: &Extra) {
    for (name, value) in extra.iter(&ANTHROPIC) {
        compact(out.key(name), value.text());
    }
}

/// Whether a stream can hold this value as a block.
fn is_block(value: &str) -> bool {
    Json::from_valid(value).get("type").is_some_and(Json::is_string)
}
