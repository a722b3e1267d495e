//! What is wrong with one message by itself (MS-18).
//!
//! Whether calls have their results, roles alternate or ids repeat is a matter of the whole chain
//! and checked in `msg-chainast`. Nothing is changed here.

use std::borrow::Cow;

use msg_json::TextState;

use crate::{
    CallKind, Diagnostic, InputRules, Message, Part, Report, Role, ToolCall, with_article,
};

impl Message {
    /// Every problem of this message (MS-18): those of the message first, then those of its parts in
    /// order. Positions name the part; [`check_all`] adds the message.
    ///
    /// ```
    /// use msg_core::{InputRules, Message};
    /// let report = Message::user(" ").check(&InputRules::unlimited());
    /// assert_eq!(report.iter().next().unwrap().code, "message::empty-content");
    /// ```
    pub fn check(&self, rules: &InputRules) -> Report {
        let mut report = Report::default();
        Checker { message: self, at: None, rules, report: &mut report }.run();
        report
    }
}

/// Every problem of messages, in order; positions name message and part (MS-18).
///
/// ```
/// use msg_core::{InputRules, Message, check_all};
/// let report = check_all(&[Message::user("hi"), Message::user("")], &InputRules::unlimited());
/// assert_eq!(report.iter().next().unwrap().at.message, Some(1));
/// ```
pub fn check_all(messages: &[Message], rules: &InputRules) -> Report {
    let mut report = Report::default();
    for (at, message) in messages.iter().enumerate() {
        Checker { message, at: Some(at), rules, report: &mut report }.run();
    }
    report
}

struct Checker<'a> {
    message: &'a Message,
    at: Option<usize>,
    rules: &'a InputRules,
    report: &'a mut Report,
}

impl Checker<'_> {
    fn run(mut self) {
        if let Role::Other(it) = &self.message.role {
            self.error(None, "message::invalid-role", format!("unknown role `{it}`"));
        }
        if !self.message.parts.iter().any(is_content) {
            self.error(None, "message::empty-content", "message has no content");
        }
        self.check_length();
        for (at, part) in self.message.parts.iter().enumerate() {
            self.check_part(at, part);
        }
    }

    fn check_length(&mut self) {
        if self.message.role != Role::User {
            return;
        }
        if let Some(chars) = self.rules.excess(self.message.text().trim()) {
            let max = self.rules.max_chars;
            let text = format!("message has {chars} characters, at most {max} are allowed");
            self.error(None, "message::too-long", text);
        }
    }

    fn check_part(&mut self, at: usize, part: &Part) {
        if !fits(part, &self.message.role) {
            let text = format!(
                "{} part in {} message",
                part.kind(),
                with_article(self.message.role.as_str())
            );
            self.error(Some(at), "message::misplaced-part", text);
        }
        if let Part::ToolCall(call) = part {
            self.check_call(at, call);
        }
    }

    fn check_call(&mut self, at: usize, call: &ToolCall) {
        if call.name.is_empty() {
            self.error(Some(at), "message::empty-tool-name", "tool call without a name");
        }
        if call.kind == CallKind::Custom || call.arguments.text().trim().is_empty() {
            return;
        }
        match call.arguments.state() {
            TextState::Object => {}
            TextState::Value => {
                let text = "arguments are JSON, but no object";
                self.push(at, Diagnostic::warning("message::arguments-not-object".into(), text));
            }
            TextState::Incomplete | TextState::Invalid => {
                let text = "arguments are not JSON";
                self.push(at, Diagnostic::warning("message::invalid-arguments".into(), text));
            }
        }
    }

    fn error(
        &mut self,
        part: Option<usize>,
        code: &'static str,
        text: impl Into<Cow<'static, str>>,
    ) {
        let mut it = Diagnostic::error(code.into(), text);
        it.at.message = self.at;
        it.at.part = part;
        self.report.push(it);
    }

    fn push(&mut self, part: usize, mut it: Diagnostic) {
        it.at.message = self.at;
        it.at.part = Some(part);
        self.report.push(it);
    }
}

/// Whether the part says anything: reasoning and white space do not.
fn is_content(part: &Part) -> bool {
    // A stack of our own, because results may be built to any depth.
    let mut stack = vec![part];
    while let Some(part) = stack.pop() {
        match part {
            Part::Reasoning(_) => {}
            Part::Text(it) | Part::Refusal(it) if it.text.trim().is_empty() => {}
            Part::ToolResult(it) => stack.extend(it.content.parts()),
            _ => return true,
        }
    }
    false
}

/// Whether a message of this role may hold the part.
fn fits(part: &Part, role: &Role) -> bool {
    match part {
        Part::ToolCall(_) | Part::Reasoning(_) => *role == Role::Assistant,
        Part::ToolResult(_) => matches!(role, Role::Tool | Role::User),
        Part::Text(_) | Part::Refusal(_) | Part::Image(_) | Part::Audio(_) | Part::File(_) => {
            *role != Role::Tool
        }
        Part::Other(_) => true,
    }
}
