//! One turn to the messages that it becomes (OA-6, OA-8, OA-10).

use std::borrow::Cow;

use super::{ids::Ids, media, options::*, tool};
use crate::{ToolStatus, Turn, TurnPart, TurnRole};
use msg_core::{Diagnostic, Message, Part, Reasoning, Report, Role, ToolCall, ToolResult};

/// Appends the messages of a turn.
pub(super) fn turn(
    turn: &Turn,
    at: usize,
    options: &LowerOptions,
    ids: &mut Ids,
    messages: &mut Vec<Message>,
    report: &mut Report,
) {
    let mut cx = Cx { at, options, ids, messages, report };
    let before = cx.messages.len();
    match &turn.role {
        TurnRole::System if options.profile == LowerRules::Shipped => return cx.skip_role(turn),
        TurnRole::System => cx.text_only(turn, cx.system_role(), Blank::Nothing),
        TurnRole::User => match options.profile {
            LowerRules::Strict => cx.with_media(turn),
            LowerRules::Doc => cx.text_only(turn, Role::User, Blank::Message),
            LowerRules::Shipped => cx.text_only(turn, Role::User, Blank::Nothing),
        },
        TurnRole::Assistant => cx.assistant(turn),
        TurnRole::Other(_) => return cx.skip_role(turn),
    }
    if cx.messages.len() == before {
        cx.report(None, "turn::empty-message", "nothing of the turn is left to send");
    }
}

/// What becomes of a turn without text. The document's filter rules name assistants only (OA-7).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blank {
    Nothing,
    /// A message with an empty text.
    Message,
}

/// Where the messages of a turn go, and what decides about them.
pub(super) struct Cx<'a> {
    at: usize,
    pub(super) options: &'a LowerOptions,
    pub(super) ids: &'a mut Ids,
    messages: &'a mut Vec<Message>,
    report: &'a mut Report,
}

impl Cx<'_> {
    pub(super) fn report(
        &mut self,
        part: Option<usize>,
        code: &'static str,
        text: impl Into<Cow<'static, str>>,
    ) {
        let mut it = Diagnostic::warning(code.into(), text).at_message(self.at);
        it.at.part = part;
        self.report.push(it);
    }

    fn skip_role(&mut self, turn: &Turn) {
        let text = format!("turns of role `{}` are not sent", turn.role);
        self.report(None, "turn::skipped-role", text);
    }

    fn skip_part(&mut self, at: usize, part: &TurnPart) {
        match part {
            TurnPart::Tool(_) => {
                let text = "tool parts are sent of assistant turns only";
                self.report(Some(at), "turn::ignored-tool-part", text);
            }
            _ => self.report(Some(at), "turn::skipped-part", "part of a type that is not sent"),
        }
    }

    fn system_role(&self) -> Role {
        match self.options.system_role {
            SystemRole::System => Role::System,
            SystemRole::Developer => Role::Developer,
        }
    }

    fn text_only(&mut self, turn: &Turn, role: Role, blank: Blank) {
        let mut run = String::new();
        for (at, part) in turn.parts.iter().enumerate() {
            match part {
                TurnPart::Text(it) => self.join(&mut run, &it.text),
                _ => self.skip_part(at, part),
            }
        }
        if !run.is_empty() || blank == Blank::Message {
            self.messages.push(Message::new(role).with_text(run));
        }
    }

    /// A user turn with its images, sounds and files; the texts between them are joined.
    fn with_media(&mut self, turn: &Turn) {
        let mut parts = Vec::new();
        let mut run = String::new();
        for (at, part) in turn.parts.iter().enumerate() {
            match part {
                TurnPart::Text(it) => self.join(&mut run, &it.text),
                TurnPart::Tool(_) => self.skip_part(at, part),
                TurnPart::Other(it) => match media::part(it) {
                    None => self.skip_part(at, part),
                    Some(it) => {
                        flush(&mut run, &mut parts);
                        parts.push(it);
                    }
                },
            }
        }
        flush(&mut run, &mut parts);
        if !parts.is_empty() {
            self.messages.push(Message { parts, ..Message::new(Role::User) });
        }
    }

    fn assistant(&mut self, turn: &Turn) {
        let mut segment = Segment::default();
        let mut reasoning = Some(turn.reasoning_content.as_str()).filter(|it| !it.is_empty());
        for (at, part) in turn.parts.iter().enumerate() {
            match part {
                TurnPart::Text(it) => {
                    let is_behind = !segment.calls.is_empty() && !it.text.is_empty();
                    if self.options.split_interleaved && is_behind {
                        self.emit(std::mem::take(&mut segment), &mut reasoning);
                    }
                    self.join(&mut segment.text, &it.text);
                }
                TurnPart::Tool(it) => {
                    let Some((call, answer)) = tool::lower(it, at, self) else { continue };
                    if let Some(answer) = answer {
                        segment.answers.push(answered(&call.id, answer, &it.status));
                    }
                    segment.calls.push(call);
                }
                TurnPart::Other(_) => self.skip_part(at, part),
            }
        }
        self.emit(segment, &mut reasoning);
    }

    /// Appends an assistant message and the answers to its calls; nothing if it says nothing.
    fn emit(&mut self, segment: Segment, reasoning: &mut Option<&str>) {
        let Segment { text, calls, answers } = segment;
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let mut parts = Vec::with_capacity(calls.len() + 2);
        // Only the first message of a turn has it, whether it is wanted there or not.
        if let Some(it) = reasoning.take().filter(|_| self.wants_reasoning(&calls)) {
            parts.push(Part::Reasoning(Reasoning::new(it)));
        }
        if !text.is_empty() {
            parts.push(Part::text(text));
        }
        parts.extend(calls.into_iter().map(Part::ToolCall));
        self.messages.push(Message { parts, ..Message::new(Role::Assistant) });
        self.messages.extend(answers);
    }

    fn wants_reasoning(&self, calls: &[ToolCall]) -> bool {
        match self.options.reasoning {
            ReasoningPolicy::All => true,
            ReasoningPolicy::WithCalls => !calls.is_empty(),
            ReasoningPolicy::None => false,
        }
    }

    /// Adds a text to those before it; an empty one adds nothing, not even the separator.
    fn join(&self, run: &mut String, text: &str) {
        if !run.is_empty() && !text.is_empty() {
            run.push_str(&self.options.text_separator);
        }
        run.push_str(text);
    }
}

/// What becomes one assistant message and the answers behind it.
#[derive(Default)]
struct Segment {
    text: String,
    calls: Vec<ToolCall>,
    answers: Vec<Message>,
}

/// The answer to a call; one of a tool that failed says so beside its text too (MS-24).
fn answered(id: &str, answer: String, status: &ToolStatus) -> Message {
    let is_error = status.meaning() == Some(ToolStatus::Failed);
    let result = ToolResult { is_error, ..ToolResult::new(id, answer) };
    Message::new(Role::Tool).with_part(Part::ToolResult(result))
}

fn flush(run: &mut String, parts: &mut Vec<Part>) {
    if !run.is_empty() {
        parts.push(Part::text(std::mem::take(run)));
    }
}
