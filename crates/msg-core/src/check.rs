//! Checks of one message (MS-18), of ids that name files (MS-25), and of text that a person typed (MS-16).
//!
//! Rules of the whole chain (calls and their results, order of roles, repeated ids) are in `msg-chainast`. Nothing is
//! changed here except that typed text is trimmed.

use std::borrow::Cow;

use msg_json::TextState;

use crate::{CallKind, Diagnostic, Message, Part, Report, Role, ToolCall, with_article};

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

// Ids that can be used as file names (MS-25). Everywhere else the id of a call is opaque text.

/// The most characters of an id that becomes a file name.
const MAX_ID_CHARS: usize = 128;

/// Accepts an id that is safe as the name of a file (MS-25): 1 to 128 characters, no `/`, `\`,
/// control character or `..`, and no dot at the start.
///
/// # Errors
/// [`IdError`], naming the first rule that the text breaks.
///
/// ```
/// use msg_core::{IdError, check_id};
/// assert_eq!(check_id("msg_001"), Ok(()));
/// assert_eq!(check_id("../../evil"), Err(IdError::LeadingDot));
/// assert_eq!(check_id("a/b"), Err(IdError::Character { character: '/', offset: 1 }));
/// ```
pub fn check_id(id: &str) -> Result<(), IdError> {
    if id.is_empty() {
        return Err(IdError::Empty);
    }
    if id.chars().nth(MAX_ID_CHARS).is_some() {
        return Err(IdError::TooLong);
    }
    if id.starts_with('.') {
        return Err(IdError::LeadingDot);
    }
    if let Some((offset, character)) = id.char_indices().find(|(_, it)| is_unsafe(*it)) {
        return Err(IdError::Character { character, offset });
    }
    match id.find("..") {
        Some(offset) => Err(IdError::DotDot { offset }),
        None => Ok(()),
    }
}

fn is_unsafe(c: char) -> bool {
    c == '/' || c == '\\' || c.is_control()
}

/// Why an id cannot be the name of a file (MS-25).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// No character at all.
    #[error("id is empty")]
    Empty,
    /// More than 128 characters.
    #[error("id has more than {MAX_ID_CHARS} characters")]
    TooLong,
    /// A dot at the start would hide the file.
    #[error("id starts with a dot")]
    LeadingDot,
    /// A separator of paths or a control character.
    #[error("id has {character:?} at byte {offset}")]
    Character {
        /// The character.
        character: char,
        /// Its byte offset.
        offset: usize,
    },
    /// Two dots in a row.
    #[error("id has `..` at byte {offset}")]
    DotDot {
        /// The byte offset of the first dot.
        offset: usize,
    },
}

// Text that a person typed, before it becomes a message (MS-16).
//
// Whole messages are checked in `check`; nothing here changes text beyond trimming its ends.

/// The limit that [`validate_message`] applies, in characters.
const DEFAULT_MAX_CHARS: usize = 10_000;

/// Trims white space and refuses empty and over-long input, with the default limit of 10 000
/// characters (MS-16).
///
/// It differs from the function of this name in the reference document in what it counts, characters where
/// that one counts bytes while its sentence says characters, and in its error, a value that is printed as
/// the sentence.
///
/// # Errors
/// [`InputError::Empty`] or [`InputError::TooLong`], after trimming.
///
/// ```
/// use msg_core::{InputError, validate_message};
/// assert_eq!(validate_message("  hi \n"), Ok("hi".to_string()));
/// assert_eq!(validate_message(" \t "), Err(InputError::Empty));
/// ```
pub fn validate_message(input: &str) -> Result<String, InputError> {
    InputRules::default().validate(input)
}

/// What counts as acceptable input (MS-16), also for [`Message::check`](crate::Message::check).
///
/// ```
/// use msg_core::{InputError, InputRules};
/// let rules = InputRules { max_chars: 3 };
/// assert_eq!(rules.validate(" déf "), Ok("déf".to_string()));
/// assert_eq!(rules.validate("abcd"), Err(InputError::TooLong { chars: 4, max: 3 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InputRules {
    /// The most characters (Unicode scalar values, not bytes) of a trimmed text.
    pub max_chars: usize,
}

impl Default for InputRules {
    fn default() -> Self {
        Self { max_chars: DEFAULT_MAX_CHARS }
    }
}

impl InputRules {
    /// Rules without a limit on length: what `msg check --messages` uses unless told otherwise.
    pub fn unlimited() -> Self {
        Self { max_chars: usize::MAX }
    }

    /// Trims `input` and applies these rules (MS-16).
    ///
    /// # Errors
    /// [`InputError::Empty`] or [`InputError::TooLong`], after trimming.
    pub fn validate(&self, input: &str) -> Result<String, InputError> {
        let res = input.trim();
        if res.is_empty() {
            return Err(InputError::Empty);
        }
        match self.excess(res) {
            Some(chars) => Err(InputError::TooLong { chars, max: self.max_chars }),
            None => Ok(res.to_owned()),
        }
    }

    /// The number of characters of `text` if that is too many.
    pub(crate) fn excess(&self, text: &str) -> Option<usize> {
        // Characters are at most bytes, so that short texts need no count.
        if text.len() <= self.max_chars {
            return None;
        }
        let chars = text.chars().count();
        (chars > self.max_chars).then_some(chars)
    }
}

/// Why input was refused (MS-16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Nothing but white space.
    #[error("message cannot be empty")]
    Empty,
    /// More characters than the rules allow.
    #[error("message too long: {chars} characters, at most {max} are allowed")]
    TooLong {
        /// Characters of the trimmed text.
        chars: usize,
        /// Characters that are allowed.
        max: usize,
    },
}
