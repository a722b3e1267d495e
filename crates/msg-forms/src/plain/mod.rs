//! Plain messages: a role and a text (MS-10).
//!
//! Markup in the text of an assistant (thinking, tool calls) stays text here: `msg-xml` reads it.

mod read;
mod write;

use serde::{Deserialize, Serialize};

use msg_core::{Message, Part, Report, Role, Text, ToolResult};

pub use read::read;
pub use write::{write, write_previews};

/// A role and a text (MS-10). A view: readers and writers of the form go between bytes and
/// [`Message`] directly, and carry unknown members too.
///
/// ```
/// use msg_core::Message;
/// use msg_forms::plain::PlainMessage;
/// let it = PlainMessage::tool_error("calculator", "division by zero");
/// assert_eq!(it.content, "Tool: calculator\nError: division by zero");
///
/// let message = Message::from(it);
/// let result = message.tool_results().next().unwrap();
/// assert_eq!((result.name.as_deref(), result.is_error), (Some("calculator"), true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said; of a tool `Tool: {name}` and a line break before the result.
    pub content: String,
}

impl PlainMessage {
    /// Instructions to the model.
    #[doc(alias = "message.System")]
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// What the person says.
    #[doc(alias = "message.User")]
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// What the model says.
    #[doc(alias = "message.Assistant")]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }

    /// What the tool of this name gave back.
    #[doc(alias = "message.Tool")]
    pub fn tool(name: &str, result: &str) -> Self {
        Self { role: Role::Tool, content: format!("Tool: {name}\n{result}") }
    }

    /// How the tool of this name failed.
    pub fn tool_error(name: &str, error: &str) -> Self {
        Self { role: Role::Tool, content: format!("Tool: {name}\nError: {error}") }
    }

    /// The plain messages of a message: one, or one for each result beside it; and the report of what
    /// they cannot hold (MS-24), with message 0.
    ///
    /// ```
    /// use msg_core::Message;
    /// use msg_forms::plain::PlainMessage;
    /// let (it, report) = PlainMessage::from_message(&Message::user("Hi").with_name("ada"));
    /// assert_eq!(it, [PlainMessage::user("Hi")]);
    /// assert_eq!(report.iter().next().unwrap().code, "convert::lost-member");
    /// ```
    pub fn from_message(message: &Message) -> (Vec<Self>, Report) {
        let mut report = Report::default();
        let shapes = write::shapes(message, 0, &mut report).into_iter();
        let plain =
            |it: write::Shape<'_>| Self { role: it.role.clone(), content: it.content.into_owned() };
        (shapes.map(plain).collect(), report)
    }
}

impl From<PlainMessage> for Message {
    fn from(plain: PlainMessage) -> Self {
        assemble(plain.role, plain.content).0
    }
}

impl TryFrom<&Message> for PlainMessage {
    type Error = NotPlain;

    /// The one plain message that says the same.
    ///
    /// # Errors
    /// [`NotPlain`], with what would be lost.
    fn try_from(message: &Message) -> Result<Self, NotPlain> {
        let (res, report) = Self::from_message(message);
        match (res.into_iter().next(), report.into_vec().into_iter().next()) {
            (Some(it), None) => Ok(it),
            (_, first) => Err(NotPlain {
                why: first.map_or_else(String::new, |it| it.message().into_owned()),
            }),
        }
    }
}

impl TryFrom<Message> for PlainMessage {
    type Error = NotPlain;

    fn try_from(message: Message) -> Result<Self, NotPlain> {
        Self::try_from(&message)
    }
}

/// A message that has no plain form without a loss.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("message has no plain form: {why}")]
pub struct NotPlain {
    /// The first thing that would be lost.
    pub why: String,
}

/// The line break behind the header of a tool message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineBreak {
    Lf,
    CrLf,
}

/// The message of a role and a text, and how the header of a tool message ended.
fn assemble(role: Role, content: String) -> (Message, LineBreak) {
    if role != Role::Tool {
        let part = Part::Text(Text::new(content));
        return (Message::new(role).with_part(part), LineBreak::Lf);
    }
    let (name, text, line_break) = split_header(&content);
    let result = ToolResult {
        name: name.map(str::to_owned),
        is_error: text.starts_with("Error:"),
        ..ToolResult::new("", text)
    };
    (Message::new(role).with_part(Part::ToolResult(result)), line_break)
}

/// Splits `Tool: NAME` with a line break behind it from the content (MS-10).
fn split_header(content: &str) -> (Option<&str>, &str, LineBreak) {
    let header = content.strip_prefix("Tool: ").and_then(|it| it.split_once('\n'));
    let Some((name, text)) = header else { return (None, content, LineBreak::Lf) };
    let (name, line_break) = match name.strip_suffix('\r') {
        Some(name) => (name, LineBreak::CrLf),
        None => (name, LineBreak::Lf),
    };
    if name.is_empty() || name.trim() != name {
        return (None, content, LineBreak::Lf);
    }
    (Some(name), text, line_break)
}
