//! Messages to turns (MS-22): results join their calls, everything gets an id.

use std::collections::{BTreeMap, VecDeque};

use msg_core::{
    CallKind, Message, Part, RawJson, Reasoning, Report, Role, ToolCall, ToolResult, native,
};

use super::lifecycle::ToolStatus;
use super::{ToolPart, Turn, TurnPart, TurnRole};
use crate::losses::Losses;
use crate::turn::read::write_turn;

/// Makes turns of messages (MS-22): one turn a message, with ids `turn_1` …; the results of tool
/// messages join their calls; and the report of what does not fit (MS-24). Linear.
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

/// Writes messages as the list of the turns that [`from_messages`] makes of them. A turn is written as soon
/// as nothing can come to it any more, so that there are never all of them next to their text.
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
    /// Those that are not written yet.
    turns: VecDeque<Turn>,
    /// How many turns are.
    written: usize,
    /// Turn and part of the latest call of each id.
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
            // A vector grows to four at once, which is four times of what most turns need.
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

    /// Gives a result to the latest call of its id, if that is still pending.
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
