//! A whole message as the stream that the provider would have sent (AN-18).

use msg_codec::{Json, codec::Losses, stream::Brackets};
use msg_core::{
    CallKind, Extra, Message, Origin, Part, RawJson, Reasoning, Report, Severity, Text, ToolCall,
};
use msg_json::Writer;

use super::{EventOptions, EventWriter, finish_of};
use crate::events;
use crate::events::{Block, BlockEnd, Kind, ThoughtText};
use crate::shape::{ANTHROPIC, Thought};

const CITATIONS: &str = "citations";

/// Appends the event stream of a message, and says what it cannot hold (AN-18). Reading it gives the
/// message. Reasoning without a signature goes out without one: to be seen, not to be replayed. A message
/// that was cut by an error or an interruption has no end, but an error where the options say which. Linear in the output.
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
            None => blocks.losses.part(at, part.kind()),
        }
    }
    blocks.losses.flush();
    writer.end(out);
    report
}

/// Makes the blocks of a message.
struct Blocks<'a> {
    losses: Losses<'a>,
}

impl Blocks<'_> {
    /// The block of a part; none if it has no place.
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

    /// The block of a thought; none of one that says nothing.
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
    pub(super) fn sealed(data: &str, extra: &Extra) -> Self {
        Self::new(Kind::Whole(msg_json::to_text(|it| {
            it.object(|it| {
                it.key("type").str("redacted_thinking");
                it.key("data").str(data);
                unknown(it, extra);
            });
        })))
    }
}

pub(super) const TEXT: (&str, &str) = ("text_delta", "text");
pub(super) const THINKING: (&str, &str) = ("thinking_delta", "thinking");
pub(super) const INPUT: (&str, &str) = ("input_json_delta", "partial_json");

pub(super) const SIGNATURE: (&str, &str) = ("signature_delta", "signature");

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

/// The unknown members of a part.
pub(super) fn unknown(out: &mut Writer<'_>, extra: &Extra) {
    for (name, value) in extra.iter(&ANTHROPIC) {
        events::compact(out.key(name), value.text());
    }
}

/// Whether a stream can hold this value as a block.
pub(super) fn is_block(value: &str) -> bool {
    Json::from_valid(value).get("type").is_some_and(Json::is_string)
}
