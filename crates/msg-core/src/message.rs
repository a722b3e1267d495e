//! One message of a conversation (MS-1), its role (MS-2) and who made it. These are plain values: an unknown role is
//! carried as it came, equality ignores provenance, and formats do not write it.

use std::{borrow::Cow, convert::Infallible, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Content, Extra, Origin, Part, RawJson, Reasoning, ToolCall, ToolResult};

/// What a model sees or says: a role, parts in order, an optional name, and what the source had
/// that this model does not know (MS-1, MS-6).
///
/// A message owns its text. Only contents that were made of one list share it ([`Content`]).
///
/// ```
/// use msg_core::{Message, Role};
///
/// let message = Message::user("Hello").with_name("ada");
/// assert_eq!(message.role, Role::User);
/// assert_eq!(message.text(), "Hello");
/// assert_eq!(message.name.as_deref(), Some("ada"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in the order of the model's output or the author's input.
    pub parts: Vec<Part>,
    /// The participant's name, where the source gave one; never empty when read.
    pub name: Option<String>,
    /// Members that the source had and this model does not know, by origin.
    pub extra: Extra,
}

impl Message {
    /// A message without parts.
    pub fn new(role: Role) -> Self {
        Self { role, parts: Vec::new(), name: None, extra: Extra::default() }
    }

    /// Who made the message, where that is known (MS-1). It takes no part in equality.
    pub fn provenance(&self) -> Option<&Provenance> {
        self.extra.provenance()
    }

    /// Says who made the message.
    pub fn set_provenance(&mut self, provenance: Provenance) {
        self.extra.set_provenance(provenance);
    }

    /// Makes who made it, if that is known, a member of its native form, which has it only so (MS-1).
    ///
    /// ```
    /// use msg_core::{Message, Provenance, native};
    /// let mut message = Message::assistant("Hi");
    /// message.set_provenance(Provenance { model: Some("m-1".to_owned()), ..Provenance::default() });
    /// message.show_provenance();
    /// let mut json = Vec::new();
    /// native::write(&[message], &mut json);
    /// assert_eq!(
    ///     String::from_utf8_lossy(&json),
    ///     r#"[{"role":"assistant","parts":[{"type":"text","text":"Hi"}],"provenance":{"model":"m-1"}}]"#,
    /// );
    /// let (read, _) = native::read(&json)?;
    /// assert_eq!(read[0].provenance().and_then(|it| it.model.as_deref()), Some("m-1"));
    /// # Ok::<(), msg_core::Error>(())
    /// ```
    pub fn show_provenance(&mut self) {
        if let Some(maker) = self.provenance().cloned() {
            maker.keep_in(&mut self.extra);
        }
    }

    /// A system message of one text.
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System).with_text(text)
    }

    /// A developer message of one text.
    pub fn developer(text: impl Into<String>) -> Self {
        Self::new(Role::Developer).with_text(text)
    }

    /// A user message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User).with_text(text)
    }

    /// An assistant message of one text; no part at all if the text is empty, so that calls can
    /// be added to it.
    pub fn assistant(text: impl Into<String>) -> Self {
        let text = text.into();
        let message = Self::new(Role::Assistant);
        if text.is_empty() { message } else { message.with_text(text) }
    }

    /// A tool message with one result that names its tool and no call.
    pub fn tool(name: impl Into<String>, result: impl Into<Content>) -> Self {
        let result = ToolResult { name: Some(name.into()), ..ToolResult::new("", result) };
        Self::new(Role::Tool).with_part(Part::ToolResult(result))
    }

    /// A tool message with one result for the call with this id.
    pub fn tool_result(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self::new(Role::Tool).with_part(Part::ToolResult(ToolResult::new(call_id, content)))
    }

    /// Adds a text part.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with_part(Part::text(text))
    }

    /// Adds a part.
    #[must_use]
    pub fn with_part(mut self, part: impl Into<Part>) -> Self {
        // Most messages have one part: room for the four that a vector begins with would quadruple them.
        self.parts.reserve_exact(usize::from(self.parts.is_empty()));
        self.parts.push(part.into());
        self
    }

    /// Forgets the layouts that a reader left on the message and its parts, so that the writer of the
    /// same format writes canonically (MS-6).
    pub fn clear_layout(&mut self) {
        self.extra.clear_layout();
        self.parts.iter_mut().for_each(|it| it.extra_mut().clear_layout());
    }

    /// Sets the participant's name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The text parts joined with nothing between them; borrowed when there is at most one.
    pub fn text(&self) -> Cow<'_, str> {
        join_texts(&self.parts)
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(Part::as_tool_call)
    }

    /// The tool results, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(Part::as_tool_result)
    }

    /// The reasoning parts, in order.
    pub fn reasoning(&self) -> impl Iterator<Item = &Reasoning> {
        self.parts.iter().filter_map(Part::as_reasoning)
    }
}

pub(crate) fn join_texts(parts: &[Part]) -> Cow<'_, str> {
    let mut texts = parts.iter().filter_map(Part::as_text);
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    let Some(second) = texts.next() else { return Cow::Borrowed(first) };
    let mut joined = String::from(first);
    joined.push_str(second);
    texts.for_each(|it| joined.push_str(it));
    Cow::Owned(joined)
}

// Who speaks in a message (MS-2). It does not judge: an unknown role is carried as it came.

/// Who a message is from. Written lower case.
///
/// On input the spellings `human` and `ai` mean [`Role::User`] and [`Role::Assistant`]; any other
/// text is kept in [`Role::Other`] and goes out as it came (MS-2).
///
/// ```
/// use msg_core::Role;
///
/// assert_eq!(Role::from("assistant"), Role::Assistant);
/// assert_eq!(Role::from("human"), Role::User);
/// assert_eq!(Role::from("critic").as_str(), "critic");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// Instructions to the model.
    System,
    /// Instructions to the model, in the newer spelling of some providers.
    Developer,
    /// The person, or the program that speaks for one.
    User,
    /// The model.
    Assistant,
    /// What a tool gave back.
    Tool,
    /// Any other text, exactly as the source had it.
    Other(Box<str>),
}

impl Role {
    /// The word that is written for this role.
    pub fn as_str(&self) -> &str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Other(text) => text,
        }
    }

    /// The role that exactly this word names, the spellings `human` and `ai` not among them.
    pub fn known(word: &str) -> Option<Role> {
        Some(match word {
            "system" => Role::System,
            "developer" => Role::Developer,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => return None,
        })
    }

    /// The role that another accepted spelling means: `human`, `ai`. Readers report
    /// `message::role-spelling` where they take one.
    pub fn spelling(word: &str) -> Option<Role> {
        match word {
            "human" => Some(Role::User),
            "ai" => Some(Role::Assistant),
            _ => None,
        }
    }

    /// Whether this is [`Role::System`] or [`Role::Developer`].
    pub fn is_system(&self) -> bool {
        matches!(self, Role::System | Role::Developer)
    }
}

impl From<&str> for Role {
    fn from(word: &str) -> Self {
        Role::known(word)
            .or_else(|| Role::spelling(word))
            .unwrap_or_else(|| Role::Other(word.into()))
    }
}

impl FromStr for Role {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(Role::from(word))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// Who made a message (MS-1), if the source or the caller says so.

/// The member of a message in native form that says it. It is a member like any that the form does not
/// know: it goes back as it came, and is made only where that is asked for.
const MEMBER: &str = "provenance";

/// Who made a message: what a signature in it may be bound to.
///
/// ```
/// use msg_core::{Message, Provenance};
///
/// let mut message = Message::assistant("Hello.");
/// message.set_provenance(Provenance { model: Some("m-1".to_owned()), ..Provenance::default() });
/// assert_eq!(message.provenance().and_then(|it| it.model.as_deref()), Some("m-1"));
/// assert_eq!(message, Message::assistant("Hello."));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Provenance {
    /// The provider's name, as profiles call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The account or organisation whose key was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl Provenance {
    /// What a message in native form says of its maker; none if it says nothing, or something else.
    pub(crate) fn kept_in(extra: &Extra) -> Option<Self> {
        extra.get(&Origin::Native, MEMBER)?.parse().ok()
    }

    /// Makes it a member of a message in native form.
    pub(crate) fn keep_in(&self, extra: &mut Extra) {
        let value = RawJson::written(|it| {
            it.object(|it| {
                for (name, text) in [
                    ("provider", &self.provider),
                    ("model", &self.model),
                    ("account", &self.account),
                ] {
                    it.optional(name, text.as_ref(), |it, text| it.str(text));
                }
            });
        });
        extra.insert(Origin::Native, MEMBER, value);
    }
}
