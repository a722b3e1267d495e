//! Stored conversations: turns with identified parts, times and the state of every tool (MS-19).
//!
//! A turn contains more than a message. [`lower`](crate::turns::lower) converts turns to messages,
//! [`from_messages`] messages to turns. Nothing here runs a tool, reads a clock or draws an id.
//!
//! ```text
//! {"id":"m2","role":"assistant","parts":[{"id":"t","type":"text","text":"hi"}],"timestamp":1704067202.0,"finished":true}
//! ```

mod lifecycle;
mod read;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use msg_core::reading::deserialize;
use msg_core::{
    CallKind, Extra, Members, Message, Part, RawJson, Reasoning, Report, Role, ToolCall,
    ToolResult, native,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::losses::Losses;
use crate::turn::read::write_turn;

pub use crate::turn::lifecycle::TurnBuilder;
pub use crate::turn::read::write;
pub use lifecycle::{ToolStatus, TurnError};
pub use read::{read, read_document};

/// An entry of a stored conversation (MS-19).
///
/// ```
/// use msg_forms::{Turn, TurnPart, TurnRole, turns};
/// let mut turn = Turn::new("msg_1", TurnRole::User);
/// turn.parts.push(TurnPart::text("text_1", "Hello"));
/// let mut json = Vec::new();
/// turns::write(&[turn.clone()], &mut json);
/// assert_eq!(turns::read(&json)?.0, [turn]);
/// # Ok::<(), msg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// Unique id; `""` if the source had none.
    pub id: String,
    /// The author.
    pub role: TurnRole,
    /// The parts, in order.
    pub parts: Vec<TurnPart>,
    /// The time of creation in seconds since 1970, by the caller's clock.
    pub timestamp: f64,
    /// Whether it is complete.
    pub finished: bool,
    /// The finish reason: `stop`, `length`, `tool_calls` …; `""` if unknown.
    pub finish_reason: String,
    /// The model's reasoning.
    pub reasoning_content: String,
    /// The application's own members.
    pub metadata: Members,
    /// Members that the source had and this type does not know.
    pub extra: Extra,
}

impl Turn {
    /// A turn without parts.
    pub fn new(id: impl Into<String>, role: impl Into<TurnRole>) -> Self {
        Self { id: id.into(), role: role.into(), ..Self::default() }
    }

    /// The non-empty text parts joined with `separator`, as [`lower`](crate::turns::lower) sends them.
    pub fn text(&self, separator: &str) -> String {
        let mut res = String::new();
        for text in self.texts().filter(|it| !it.is_empty()) {
            if !res.is_empty() {
                res.push_str(separator);
            }
            res.push_str(text);
        }
        res
    }

    /// The texts of the text parts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|it| match it {
            TurnPart::Text(it) => Some(it.text.as_str()),
            _ => None,
        })
    }

    /// The tool parts, in order.
    pub fn tools(&self) -> impl Iterator<Item = &ToolPart> {
        self.parts.iter().filter_map(|it| match it {
            TurnPart::Tool(it) => Some(it),
            _ => None,
        })
    }

    /// The tool parts, in order, to change their state (MS-21).
    pub fn tools_mut(&mut self) -> impl Iterator<Item = &mut ToolPart> {
        self.parts.iter_mut().filter_map(|it| match it {
            TurnPart::Tool(it) => Some(it),
            _ => None,
        })
    }
}

/// The author of a turn (MS-19). The match is exact: case matters, and alternative spellings are
/// not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TurnRole {
    /// Instructions to the model.
    System,
    /// The person.
    #[default]
    User,
    /// The model.
    Assistant,
    /// Any other text. Such turns are kept, but not sent (OA-6).
    Other(Box<str>),
}

impl TurnRole {
    /// The text in JSON.
    pub fn as_str(&self) -> &str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Other(it) => it,
        }
    }
}

impl From<&str> for TurnRole {
    fn from(text: &str) -> Self {
        match text {
            "system" => Self::System,
            "user" => Self::User,
            "assistant" => Self::Assistant,
            _ => Self::Other(text.into()),
        }
    }
}

impl fmt::Display for TurnRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One part of a turn (MS-19).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TurnPart {
    /// Text of the person or the model.
    Text(TextPart),
    /// A tool call and its execution.
    Tool(ToolPart),
    /// A part of another type, verbatim: a JSON object. User turns keep native image, audio and
    /// file parts here.
    Other(RawJson),
}

impl TurnPart {
    /// A text part.
    pub fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextPart { id: id.into(), text: text.into(), extra: Extra::default() })
    }
}

/// Text of a turn (MS-19).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextPart {
    /// Id of the part; `""` if the source had none.
    pub id: String,
    /// The text.
    pub text: String,
    /// Members that the source had and this type does not know.
    pub extra: Extra,
}

/// A tool call of a turn and its execution (MS-19). Change the [`ToolStatus`] only by the lifecycle
/// methods (MS-21).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolPart {
    /// Id of the call; `""` if the source had none.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    /// The arguments as a JSON value; numbers and the order of members are exact.
    pub input: RawJson,
    /// The output so far.
    pub output: String,
    /// The state of the execution.
    pub status: ToolStatus,
    /// When it began to run, in seconds since 1970; 0 if it has not.
    pub start_time: f64,
    /// When it ended; 0 if it has not.
    pub end_time: f64,
    /// The application's own members.
    pub metadata: Members,
    /// The model's exact argument text, if lowering `input` would give another text: different
    /// spacing, or invalid JSON. Takes precedence over `input` (OA-9).
    pub input_text: Option<String>,
    /// The number of this call in the stream that still produces it. Not part of the JSON.
    pub stream_index: Option<u32>,
    /// Members that the source had and this type does not know.
    pub extra: Extra,
}

impl Default for ToolPart {
    fn default() -> Self {
        Self {
            id: String::new(),
            tool: String::new(),
            input: empty_object(),
            output: String::new(),
            status: ToolStatus::Pending,
            start_time: 0.0,
            end_time: 0.0,
            metadata: Members::default(),
            input_text: None,
            stream_index: None,
            extra: Extra::default(),
        }
    }
}

impl ToolPart {
    /// A pending call without arguments.
    pub fn new(id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { id: id.into(), tool: tool.into(), ..Self::default() }
    }

    /// Sets the arguments from the model's exact text. `input` becomes its value, or `{}` if it is
    /// not JSON; `input_text` is set if lowering would spell `input` differently (MS-19).
    ///
    /// ```
    /// use msg_forms::ToolPart;
    /// let mut tool = ToolPart::new("call_1", "read");
    /// tool.set_arguments(r#"{"path": "a"}"#);
    /// assert_eq!((tool.input.text(), &tool.input_text), (r#"{"path": "a"}"#, &None));
    /// tool.set_arguments(r#"{"path":"#);
    /// assert_eq!((tool.input.text(), tool.input_text.as_deref()), ("{}", Some(r#"{"path":"#)));
    /// ```
    pub fn set_arguments(&mut self, text: impl Into<String>) {
        let text = text.into();
        // A stored `input` of null means that it is missing.
        let input = RawJson::new(text.as_str()).ok().filter(|it| it.text() != "null");
        self.input = input.unwrap_or_else(empty_object);
        self.input_text = Some(text).filter(|it| *it != spaced(&self.input));
    }

    /// The argument text for a model (OA-9): `input_text`, else `input` with the spacing `", "` and
    /// `": "`.
    pub fn arguments(&self) -> String {
        match &self.input_text {
            Some(it) => it.clone(),
            None => spaced(&self.input),
        }
    }
}

/// JSON with `", "` and `": "` between its tokens, as in the reference (OA-9).
pub(crate) fn spaced(json: &RawJson) -> String {
    let mut out = Vec::new();
    msg_json::write_spaced(&mut out, json.text());
    String::from_utf8(out).expect("tokens of UTF-8 text are UTF-8")
}

pub(crate) fn empty_object() -> RawJson {
    RawJson::new("{}").expect("because it is JSON")
}

// `Serialize` and `Deserialize` of turns: the stored form (MS-19), for `serde_json`.

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawJson::written(|it| it.value(|out| read::write_turn(self, out)))
            .serialize_members(serializer)
    }
}

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer, read::read_turn)
    }
}

impl Serialize for ToolStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ToolStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|it| Self::from(it.as_str()))
    }
}

// Messages to turns (MS-22): results join their calls, everything gets an id.

/// Converts messages to turns (MS-22): one turn per message, with ids `turn_1` …; the results of
/// tool messages join their calls. Also returns what does not fit (MS-24). Linear.
///
/// ```
/// use msg_core::{Message, Part, ToolCall};
/// use msg_forms::{ToolStatus, turns};
/// let call = ToolCall::new("call_1", "read", r#"{"path": "a"}"#);
/// let messages = vec![
///     Message::assistant("").with_part(Part::ToolCall(call)),
///     Message::tool_result("call_1", "Hello"),
/// ];
/// let (turns, report) = turns::from_messages(messages);
/// let tool = turns[0].tools().next().unwrap();
/// assert_eq!((&*tool.output, &tool.status), ("Hello", &ToolStatus::Completed));
/// assert!(report.is_empty());
/// ```
pub fn from_messages(messages: Vec<Message>) -> (Vec<Turn>, Report) {
    let mut report = Report::default();
    let mut builder = Builder::default();
    for (at, message) in messages.into_iter().enumerate() {
        builder.message(message, &mut Losses::new(&mut report, at));
    }
    (builder.turns.into(), report)
}

/// Writes messages as the list of turns that [`from_messages`] makes of them. Writes each turn as soon as
/// it is complete, so they are never all in memory beside their text.
///
/// ```
/// use msg_core::Message;
/// use msg_forms::turns;
/// let (made, _) = turns::from_messages(vec![Message::user("hi")]);
/// let (mut whole, mut json) = (Vec::new(), Vec::new());
/// turns::write(&made, &mut whole);
/// turns::write_messages(vec![Message::user("hi")], &mut json);
/// assert_eq!(json, whole);
/// ```
pub fn write_messages(messages: Vec<Message>, out: &mut Vec<u8>) -> Report {
    let mut report = Report::default();
    let mut builder = Builder::default();
    out.push(b'[');
    for (at, message) in messages.into_iter().enumerate() {
        builder.message(message, &mut Losses::new(&mut report, at));
        while builder.turns.front().is_some_and(|it| !it.parts.iter().any(is_pending)) {
            builder.write_first(out);
        }
    }
    while !builder.turns.is_empty() {
        builder.write_first(out);
    }
    out.push(b']');
    report
}

#[derive(Default)]
struct Builder {
    /// The turns not written yet.
    turns: VecDeque<Turn>,
    /// The number of written turns.
    written: usize,
    /// Turn and part of the latest call with each id.
    calls: BTreeMap<String, (usize, usize)>,
}

impl Builder {
    fn message(&mut self, message: Message, losses: &mut Losses<'_>) {
        losses.members("turns", &[("name", message.name.is_some())]);
        losses.extra(&message.extra, None);
        if message.role == Role::Tool {
            return self.tool_message(message, losses);
        }
        let n_results = message.tool_results().count();
        let is_results_only = n_results > 0 && n_results == message.parts.len();
        if !is_results_only {
            let id = format!("turn_{}", self.written + self.turns.len() + 1);
            let role = turn_role(&message.role, losses);
            // A growing vector starts with four, which is four times what most turns need.
            let parts = Vec::with_capacity(message.parts.len());
            self.turns.push_back(Turn { finished: true, parts, ..Turn::new(id, role) });
        }
        for (at, part) in message.parts.into_iter().enumerate() {
            losses.at_part(Some(at));
            self.part(part, losses);
        }
        if message.role == Role::Assistant
            && !is_results_only
            && let Some(turn) = self.turns.back_mut()
        {
            let has_calls = turn.tools().next().is_some();
            turn.finish_reason = if has_calls { "tool_calls" } else { "stop" }.to_owned();
        }
    }

    fn tool_message(&mut self, message: Message, losses: &mut Losses<'_>) {
        if message.tool_results().next().is_none() {
            losses.message(&message);
        }
        for (at, part) in message.parts.into_iter().enumerate() {
            losses.at_part(Some(at));
            match part {
                Part::ToolResult(it) => self.result(it, losses),
                _ => losses.part(&part, "turns"),
            }
        }
    }

    fn part(&mut self, part: Part, losses: &mut Losses<'_>) {
        if let Part::ToolResult(it) = part {
            return self.result(it, losses);
        }
        let at = (self.written + self.turns.len()).saturating_sub(1);
        let Some(turn) = self.turns.back_mut() else { return };
        match part {
            Part::Text(it) | Part::Refusal(it) => {
                losses.extra(&it.extra, None);
                turn.push_text_part(it.text);
            }
            Part::Reasoning(it) => push_reasoning(turn, &it, losses),
            Part::ToolCall(it) => {
                self.calls.insert(it.id.clone(), (at, turn.parts.len()));
                turn.parts.push(TurnPart::Tool(tool_part(it, losses)));
            }
            Part::Image(_) | Part::Audio(_) | Part::File(_) => {
                turn.parts.push(TurnPart::Other(native_json(&part)));
            }
            _ => losses.part(&part, "turns"),
        }
    }

    /// Assigns a result to the latest call with its id, if that is pending.
    fn result(&mut self, result: ToolResult, losses: &mut Losses<'_>) {
        let call = self.calls.get(&result.call_id).copied();
        let part = call.and_then(|(turn, part)| {
            self.turns.get_mut(turn.checked_sub(self.written)?)?.parts.get_mut(part)
        });
        let Some(TurnPart::Tool(tool)) = part.filter(|it| is_pending(it)) else {
            let text = format!("no pending call {:?} for this result", result.call_id);
            return losses.warn("convert::orphan-result", text);
        };
        tool.status = if result.is_error { ToolStatus::Failed } else { ToolStatus::Completed };
        let is_special = result.kind != CallKind::Function;
        losses.members("turns", &[("name", result.name.is_some()), ("kind", is_special)]);
        losses.extra(&result.extra, None);
        let parts = result.content.parts();
        let texts: Vec<_> = parts.iter().filter_map(|it| losses.text_of(it, "turns")).collect();
        tool.output = losses.join(&texts).into_owned();
    }

    fn write_first(&mut self, out: &mut Vec<u8>) {
        let Some(turn) = self.turns.pop_front() else { return };
        if self.written > 0 {
            out.push(b',');
        }
        write_turn(&turn, out);
        self.written += 1;
    }
}

fn is_pending(part: &TurnPart) -> bool {
    matches!(part, TurnPart::Tool(it) if it.status == ToolStatus::Pending)
}

fn turn_role(role: &Role, losses: &mut Losses<'_>) -> TurnRole {
    if *role == Role::Developer {
        losses.warn("convert::role-changed", "role `developer` becomes `system`");
        return TurnRole::System;
    }
    TurnRole::from(role.as_str())
}

fn push_reasoning(turn: &mut Turn, it: &Reasoning, losses: &mut Losses<'_>) {
    let text = it.display_text();
    if !turn.reasoning_content.is_empty() && !text.is_empty() {
        turn.reasoning_content.push_str("\n\n");
    }
    turn.reasoning_content.push_str(&text);
    let lost = [
        ("signature", it.signature.is_some()),
        ("redacted", it.redacted.is_some()),
        ("encrypted", it.encrypted.is_some()),
        ("summary", it.text.is_some() && it.summary.as_ref().is_some_and(|it| !it.is_empty())),
    ];
    losses.members("turns", &lost);
    losses.extra(&it.extra, None);
}

fn tool_part(call: ToolCall, losses: &mut Losses<'_>) -> ToolPart {
    let is_special = call.kind != CallKind::Function;
    losses.members("turns", &[("kind", is_special), ("signature", call.signature.is_some())]);
    losses.extra(&call.extra, None);
    let mut res = ToolPart::new(call.id, call.name);
    res.set_arguments(call.arguments.into_text());
    res
}

fn native_json(part: &Part) -> RawJson {
    RawJson::written(|it| it.value(|out| native::write_part(part, out)))
}
