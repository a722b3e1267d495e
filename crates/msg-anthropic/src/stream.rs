//! Assembles the blocks of Anthropic Messages streams into one assistant message (OA-23).
//!
//! ```text
//! message_start                          id, model, usage
//! content_block_start  index 0           a block: text, tool_use, thinking, redacted_thinking, another
//! content_block_delta  index 0           one string grows: text, partial_json, thinking, signature
//! content_block_stop   index 0
//! message_delta                          stop_reason, usage
//! message_stop
//! ```
//!
//! A block of an unknown kind is carried whole.

use std::borrow::Cow;

use msg_codec::{
    Json, ProviderError, Sink, StreamFamily,
    stream::{
        Block, BlockAssembler, BlockKind, BlockStep, BlockWire, Effects, Grows, Merged, Note,
        Template,
    },
};
use msg_core::{Origin, Other, Part, Place, RawJson, Reasoning, Text};

/// Anthropic Messages streams, for a [`StreamReader`](msg_codec::StreamReader).
///
/// ```
/// use msg_anthropic::ANTHROPIC;
/// use msg_codec::{StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[ANTHROPIC], StreamOptions::default());
/// reader.feed(br#"{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub const ANTHROPIC: StreamFamily = StreamFamily {
    name: "anthropic",
    recognises,
    assembler: Some(|options| Box::new(AnthropicAssembler::new(options))),
};

fn recognises(event: Json<'_>) -> bool {
    event.get("type").and_then(Json::text).is_some_and(|it| {
        matches!(&*it, "message" | "message_start" | "message_delta" | "message_stop")
            || it.starts_with("content_block_")
    })
}

/// A delta that its block does not have.
pub(super) const UNKNOWN_DELTA: Note = Note::warning("stream::unknown-delta");

/// A thinking block without its signature.
pub(super) const SIGNATURE_MISSING: Note = Note::warning("stream::signature-missing");

/// Assembles the events of an Anthropic Messages stream.
///
/// ```
/// use msg_anthropic::AnthropicAssembler;
/// use msg_codec::{Assembler, StreamOptions};
///
/// let mut assembler = AnthropicAssembler::new(&StreamOptions::default());
/// for data in [
///     r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
///     r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#,
///     r#"{"type":"content_block_stop","index":0}"#,
///     r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
///     r#"{"type":"message_stop"}"#,
/// ] {
///     assembler.event(data.into(), &mut |_| {});
/// }
/// let res = assembler.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub type AnthropicAssembler = BlockAssembler<MessageBlocks>;

/// The streaming rules of Anthropic's blocks.
#[derive(Debug, Clone, Default)]
pub struct MessageBlocks {
    usage: Merged,
    has_begun: bool,
    has_said_why: bool,
    message_stop: bool,
    template: Template<Target>,
}

/// The target of a delta's only string: the block's index, and which of its texts.
type Target = (Option<u64>, Grows);

/// The members of a message, of its delta, and of that event, that have places of their own.
const KNOWN: [&str; 9] =
    ["id", "type", "role", "model", "content", "stop_reason", "usage", "delta", "index"];

/// The members of an event.
const EVENT: [&str; 6] = ["type", "index", "message", "content_block", "delta", "error"];

/// Whether events of this kind have no other members. Members around the delta of `message_delta` are kept.
fn of_blocks(kind: &str) -> bool {
    kind.starts_with("content_block_") || matches!(kind, "message_start" | "message_stop")
}

const REDACTED: &str = "redacted_thinking";

impl BlockWire for MessageBlocks {
    const ORIGIN: Origin = crate::messages::ANTHROPIC;
    const REUSED: Option<&'static str> = None;
    const STOP_IS_FINAL: bool = false;

    fn read(of: &mut AnthropicAssembler, data: &str, name: Option<&str>, sink: &mut Sink<'_>) {
        if !short_cut(of, data, sink) {
            read(of, data, name, sink);
        }
    }

    fn begins_another(event: Json<'_>) -> bool {
        let kind = event.get("type").and_then(Json::text);
        kind.is_some_and(|it| it == "message_start" || it == "message")
    }

    fn parts(block: Block) -> Vec<Part> {
        part(block).into_iter().collect()
    }

    fn stop(of: &mut AnthropicAssembler) {
        let is_unsigned = |it: &Block| match &it.kind {
            BlockKind::Thought { signature, .. } => signature.is_empty(),
            _ => false,
        };
        if of.blocks.iter().any(is_unsigned) {
            let text = "a thinking block came without its signature";
            of.head.note(SIGNATURE_MISSING, || text.into());
        }
        let (has_blocks, has_end) = (!of.blocks.is_empty(), of.finish.is_known());
        let missing = [
            ("message_start", !of.wire.has_begun && has_blocks),
            ("message_delta", of.wire.message_stop && !of.wire.has_said_why && !has_end),
        ];
        if let Some((event, _)) = missing.into_iter().find(|it| it.1) {
            of.head.note(Note::MISSING_EVENTS, || format!("the event {event} did not come"));
        }
        of.head.usage = std::mem::take(&mut of.wire.usage).into_json();
        of.is_over = of.wire.message_stop || of.finish.is_known();
    }
}

/// Handles an event that matches the template; returns false if it does not.
fn short_cut(of: &mut AnthropicAssembler, data: &str, sink: &mut Sink<'_>) -> bool {
    let Some(((index, to), text)) = of.wire.template.fit(data) else {
        return false;
    };
    let Some(place) = of.place_of(index) else {
        return false;
    };
    of.at(place, sink).append(to, text)
}

fn read(of: &mut AnthropicAssembler, data: &str, name: Option<&str>, sink: &mut Sink<'_>) {
    let Some((picked, has_others)) = of.head.pick_all(data, EVENT) else { return };
    let [own_kind, index, said, block, growth, error] = picked;
    let whole = Json::from_valid(data.trim_ascii());
    let kind = own_kind.and_then(Json::text).or(name.map(Cow::Borrowed));
    let index = index.and_then(Json::whole_number);
    of.started |= !matches!(kind.as_deref(), None | Some("ping" | "error"));
    if has_others && kind.as_deref().is_some_and(of_blocks) {
        of.head.step(0, sink).unknown_members(whole, &EVENT);
    }
    match kind.as_deref().unwrap_or_default() {
        "message_start" => {
            if let Some(said) = said {
                of.head.begin(said.get("id"));
                message(of, said, sink);
            }
        }
        "message" => message(of, whole, sink),
        "content_block_start" => {
            if let Some(block) = block {
                start(of, index, block, sink);
            }
        }
        "content_block_delta" => {
            if let Some(growth) = growth {
                let mut effects = Effects::default();
                if own_kind.is_none() {
                    // The event's name determines the meaning here, and names may change.
                    effects.other();
                }
                delta(of, index, growth, &mut effects, sink);
                of.wire.template.learn(data, effects);
            }
        }
        "content_block_stop" => stop(of, index, sink),
        "message_delta" => message_delta(of, whole, sink),
        "message_stop" => {
            of.wire.message_stop = true;
            of.head.stopped = true;
        }
        "ping" => {}
        "error" => {
            let error = error.and_then(ProviderError::of_member);
            of.head.fail(error.unwrap_or_else(|| ProviderError::of_object(whole)), sink);
        }
        kind => match ProviderError::of_event(error, whole) {
            Some(error) => of.head.fail(error, sink),
            None => of.head.note(Note::UNKNOWN_EVENT, || format!("unknown event {kind:?}")),
        },
    }
}

/// Handles the message of `message_start`, or a complete one.
fn message(of: &mut AnthropicAssembler, message: Json<'_>, sink: &mut Sink<'_>) {
    of.wire.has_begun = true;
    let [id, model, content, usage, reason] =
        message.pick(["id", "model", "content", "usage", "stop_reason"]);
    of.head.identify(id, model, None);
    let lone = content.filter(|it| it.is_object() || it.filled().is_some());
    if let Some(it) = lone {
        of.head.step(0, sink).wrong_type("content", "a list of blocks", it);
    }
    for block in lone.into_iter().chain(content.into_iter().flat_map(Json::elements)) {
        start(of, None, block, sink);
        stop(of, None, sink);
    }
    of.wire.usage.merge(usage, &mut of.head.step(0, sink).text_gauge());
    of.keep_around(message, is_known, sink);
    stop_reason(of, reason);
}

fn message_delta(of: &mut AnthropicAssembler, whole: Json<'_>, sink: &mut Sink<'_>) {
    of.wire.has_said_why = true;
    let [delta, usage] = whole.pick(["delta", "usage"]);
    of.wire.usage.merge(usage, &mut of.head.step(0, sink).text_gauge());
    of.keep_around(whole, is_known, sink);
    if let Some(odd) = delta.filter(|it| !it.is_object()) {
        of.head.left_out("delta", "an object", odd);
    } else if let Some(delta) = delta {
        of.keep_around(delta, is_known, sink);
        stop_reason(of, delta.get("stop_reason"));
    }
}

fn is_known(name: &str, _: Json<'_>) -> bool {
    KNOWN.contains(&name)
}

fn stop_reason(of: &mut AnthropicAssembler, reason: Option<Json<'_>>) {
    if let Some(odd) = reason.filter(|it| !it.is_string()) {
        of.head.left_out("stop_reason", "a string", odd);
    }
    if let Some(reason) = reason.and_then(Json::text) {
        of.finish.set(reason, of.head.at, &mut of.head.notes);
    }
}

fn stop(of: &mut AnthropicAssembler, index: Option<u64>, sink: &mut Sink<'_>) {
    of.place_of(index).into_iter().for_each(|it| of.end(it, sink));
}

/// Begins the block of `content_block_start`; `None` above a limit, or without a type.
fn start(
    of: &mut AnthropicAssembler,
    index: Option<u64>,
    raw: Json<'_>,
    sink: &mut Sink<'_>,
) -> Option<usize> {
    let mut step = of.head.step(0, sink);
    let text = step.text_as_block("content_block", raw);
    let raw = text.as_deref().map_or(raw, Json::from_valid);
    if !raw.is_object() {
        step.left_out("content_block", "an object", raw);
        of.pass(index);
        return None;
    }
    let Some(kind) = raw.get("type").and_then(Json::text) else {
        of.pass(index);
        return None;
    };
    let kind = match &*kind {
        "text" => BlockKind::text(),
        "thinking" => BlockKind::thought(),
        "tool_use" => BlockKind::call(),
        kind => BlockKind::carried(kind),
    };
    let place = of.open(index, kind, sink)?;
    let mut block = of.at(place, sink);
    for (key, value) in raw.members() {
        // The last of duplicate members counts.
        let last = |it: &str| raw.get(it).unwrap_or(value);
        match (&mut block.block.kind, &*key) {
            (BlockKind::Carried { members, name, .. }, _) if name != REDACTED => {
                members.set(&key, value, &mut block.step.text_gauge());
            }
            (_, "type") => {}
            (BlockKind::Carried { bytes, .. }, "data") => {
                if block.step.text_gauge().take(value.source().len()) {
                    *bytes = value.text().map(|it| it.into_owned().into()).unwrap_or_default();
                }
            }
            (BlockKind::Text(_), "text") => block.say(Grows::Text, &key, value),
            (BlockKind::Thought { .. }, "thinking") => block.say(Grows::Thought, &key, value),
            (BlockKind::Thought { .. }, "signature") => {
                if let Some(text) = value.filled() {
                    block.append(Grows::Signature, text);
                }
            }
            (BlockKind::Call { .. }, "id") => block.call_member("id", &key, last("id")),
            (BlockKind::Call { .. }, "name") => {
                block.call_member("name", &key, last("name"));
            }
            (BlockKind::Call { .. }, "input") => {
                let is_blank = value.is_object() && value.members().next().is_none();
                if !value.is_null() && !is_blank {
                    block.begin_input(value.compact());
                }
            }
            _ => block.keep(&key, value),
        }
    }
    Some(place)
}

/// A start for a delta without one.
fn implied_by(delta: Json<'_>) -> Option<Json<'static>> {
    Some(Json::from_valid(match &*delta.get("type")?.text()? {
        "text_delta" => r#"{"type":"text"}"#,
        "thinking_delta" => r#"{"type":"thinking"}"#,
        "input_json_delta" => r#"{"type":"tool_use"}"#,
        _ => return None,
    }))
}

/// The text that a type of delta appends to, and the member with the string.
fn growing(kind: &str) -> Option<(Grows, &'static str)> {
    Some(match kind {
        "text_delta" => (Grows::Text, "text"),
        "thinking_delta" => (Grows::Thought, "thinking"),
        "signature_delta" => (Grows::Signature, "signature"),
        "input_json_delta" => (Grows::Input, "partial_json"),
        _ => return None,
    })
}

fn delta<'a>(
    of: &mut AnthropicAssembler,
    index: Option<u64>,
    delta: Json<'a>,
    effects: &mut Effects<'a, Target>,
    sink: &mut Sink<'_>,
) {
    let place = of.place_of(index).or_else(|| start(of, index, implied_by(delta)?, sink));
    let Some(place) = place else {
        of.pass(index);
        return of.head.note(UNKNOWN_DELTA, || "a delta of a block that never began".into());
    };
    let mut block = of.at(place, sink);
    let ([kind, text, thinking, signature, input], has_others) =
        delta.pick_all(["type", "text", "thinking", "signature", "partial_json"]);
    let kind = kind.and_then(Json::text);
    let growing =
        kind.as_deref().and_then(growing).filter(|it| block.has(it.0) && !is_sealed(block.block));
    let Some((to, member)) = growing else {
        if !other_delta(&mut block, kind.as_deref().unwrap_or_default(), delta) {
            of.head.note(UNKNOWN_DELTA, || "a delta of an unknown kind".into());
        }
        return;
    };
    let value = match to {
        Grows::Text => text,
        Grows::Thought => thinking,
        Grows::Signature => signature,
        Grows::Input => input,
    };
    if has_others {
        block.step.unknown_members(delta, &["type", member]);
    }
    // An empty delta of a matching type has no effect.
    if let Some(said) = value.and_then(|it| block.step.said(member, it)) {
        block.append(to, said.text());
        effects.said((index, to), value);
    }
}

fn is_sealed(block: &Block) -> bool {
    matches!(&block.kind, BlockKind::Carried { name, .. } if name == REDACTED)
}

/// Handles a delta that does more than append to a known text; returns false if a block of this kind has none of its
/// type.
fn other_delta(it: &mut BlockStep<'_, '_>, kind: &str, delta: Json<'_>) -> bool {
    let is_sealed = is_sealed(it.block);
    match (&mut it.block.kind, kind) {
        (BlockKind::Text(_), "citations_delta") => {
            it.step.unknown_members(delta, &["type", "citation"]);
            if let Some(citation) = delta.get("citation") {
                it.block.unknown.append("citations", citation, &mut it.step.text_gauge());
            }
        }
        (BlockKind::Carried { members, .. }, _) if !is_sealed => {
            for (key, value) in delta.members().filter(|(key, _)| key != "type") {
                members.grow(&key, value, &mut it.step.text_gauge());
            }
        }
        _ => return false,
    }
    true
}

/// The part; `None` for a call, an empty text, and a block without members.
fn part(block: Block) -> Option<Part> {
    let mut part = match block.kind {
        BlockKind::Call { .. } => return None,
        BlockKind::Whole(part) => part,
        BlockKind::Text(text) => Part::Text(Text::new(text.into_text())),
        BlockKind::Thought { mut texts, signature, .. } => {
            let text = texts.pop().map(|it| it.into_text()).unwrap_or_default();
            let signature = Some(signature.into_text()).filter(|it| !it.is_empty());
            Part::Reasoning(Reasoning { signature, ..Reasoning::new(text) })
        }
        BlockKind::Carried { name, bytes, .. } if name == REDACTED => {
            let redacted = String::from_utf8(bytes).ok();
            Part::Reasoning(Reasoning { redacted, ..Reasoning::default() })
        }
        BlockKind::Carried { mut members, input, .. } => {
            if !input.is_empty() {
                members.put_input(input.text());
            }
            if members.is_empty() {
                return None;
            }
            let json = members.into_json();
            let other =
                Other::new(crate::messages::ANTHROPIC, RawJson::written(|it| it.raw(&json)));
            Part::Other(Other { place: Some(Place::Content), ..other })
        }
    };
    block.unknown.into_extra(&crate::messages::ANTHROPIC, part.extra_mut());
    (part.as_text() != Some("") || !part.extra().is_empty()).then_some(part)
}
