//! Messages in the form of an agent SDK: one role, one content (MS-11).
//!
//! The types are a view for code that matches on them. [`read`] and [`write()`] go between bytes and
//! [`Message`](msg_core::Message) directly, so that the order of members and the spelling of numbers
//! survive. No state is kept and no agent is run here.
//!
//! ```text
//! {"role":"assistant","content":"hi"}
//! {"role":"tool","content":"ok","tool_call_id":"a"}
//! ```

mod body;
mod call;
mod convert;
mod metadata;
mod read;
mod sdk;
mod serde_impl;
mod shape;
mod snapshot;
mod text;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use read::read;
pub use snapshot::AgentStateSnapshot;
pub use write::write;

/// Which shapes the writer uses (MS-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentForm {
    /// The documented one: `{"role":"User","content":{"Text":"Hello"}}`.
    #[default]
    Document,
    /// The released SDK's: `{"role":"User","content":{"type":"Text","value":"Hello"}}`.
    Sdk,
}

/// One message of an agent (MS-11).
///
/// ```
/// use msg_forms::agent::{AgentMessage, MessageContent, MessageRole};
///
/// let message = AgentMessage {
///     role: MessageRole::User,
///     content: MessageContent::Text("Hello".to_string()),
///     name: None,
///     tool_call_id: None,
/// };
///
/// // Serialize
/// let json = serde_json::to_string(&message)?;
/// assert_eq!(json, r#"{"role":"User","content":{"Text":"Hello"}}"#);
///
/// // Deserialize
/// let restored: AgentMessage = serde_json::from_str(&json)?;
/// assert_eq!(restored, message);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentMessage {
    /// Who speaks.
    pub role: MessageRole,
    /// What is said.
    pub content: MessageContent,
    /// Name of the speaker, or of the tool whose result this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Id of the call whose result this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// Who speaks (MS-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum MessageRole {
    /// System instructions.
    System,
    /// User input.
    User,
    /// Agent response.
    Assistant,
    /// Tool execution result.
    Tool,
}

impl MessageRole {
    /// The role that this word names in any case, other spellings included (MS-12).
    ///
    /// ```
    /// use msg_forms::agent::MessageRole;
    /// assert_eq!(MessageRole::from_word("Agent"), Some(MessageRole::Assistant));
    /// assert_eq!(MessageRole::from_word("HUMAN"), Some(MessageRole::User));
    /// assert_eq!(MessageRole::from_word("robot"), None);
    /// ```
    pub fn from_word(word: &str) -> Option<Self> {
        let is = |names: &[&str]| names.iter().any(|it| it.eq_ignore_ascii_case(word));
        if is(&["system"]) {
            Some(Self::System)
        } else if is(&["user", "human"]) {
            Some(Self::User)
        } else if is(&["assistant", "agent", "ai"]) {
            Some(Self::Assistant)
        } else if is(&["tool"]) {
            Some(Self::Tool)
        } else {
            None
        }
    }

    /// The word that is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::User => "User",
            Self::Assistant => "Assistant",
            Self::Tool => "Tool",
        }
    }
}

/// What a message says (MS-11). `Display` shows it to people (MS-15).
///
/// ```
/// use msg_forms::agent::{AgentMessage, MessageContent, MessageRole, ToolInvocation};
/// use serde_json::json;
///
/// let content = MessageContent::ToolCalls(vec![
///     ToolInvocation {
///         id: "call_123".to_string(),
///         name: "search".to_string(),
///         arguments: json!({"query": "Rust programming"}),
///     }
/// ]);
///
/// // Check content type
/// match &content {
///     MessageContent::Text(text) => println!("Text: {}", text),
///     MessageContent::ToolCalls(calls) => {
///         for call in calls {
///             println!("Tool: {} Args: {:?}", call.name, call.arguments);
///         }
///     }
///     MessageContent::ToolResult(result) => {
///         println!("Result: {}", result.content);
///     }
///     MessageContent::MultiPart(parts) => {
///         for part in parts {
///             println!("{part:?}");
///         }
///     }
/// }
/// assert_eq!(content.to_string(), r#"search({"query":"Rust programming"})"#);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum MessageContent {
    /// Text.
    Text(String),
    /// The tools that the agent wants to use.
    ToolCalls(Vec<ToolInvocation>),
    /// What a tool gave back.
    ToolResult(ToolResultContent),
    /// Several of these.
    MultiPart(Vec<ContentPart>),
}

/// One call of a tool (MS-11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolInvocation {
    /// Id of the call; `""` if the source had none.
    #[serde(alias = "tool_call_id", default, deserialize_with = "serde_impl::or_empty")]
    pub id: String,
    /// Name of the tool.
    #[serde(alias = "tool_name")]
    pub name: String,
    /// Its arguments; text that is no JSON is a string.
    #[serde(
        alias = "args",
        default = "serde_impl::empty",
        deserialize_with = "serde_impl::or_empty"
    )]
    pub arguments: Value,
}

/// What a tool gave back (MS-11).
///
/// ```
/// use msg_core::Message;
/// use msg_forms::agent::{AgentMessage, MessageContent, MessageRole, ToolResultContent};
/// let result = AgentMessage {
///     role: MessageRole::Tool,
///     content: MessageContent::ToolResult(ToolResultContent {
///         content: "Found 10 results for 'Rust programming'".to_string(),
///     }),
///     name: Some("search".to_string()),
///     tool_call_id: Some("call_123".to_string()),
/// };
/// let message = Message::from(result);
/// let result = message.tool_results().next().unwrap();
/// assert_eq!((&*result.call_id, result.name.as_deref()), ("call_123", Some("search")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolResultContent {
    /// The result as text.
    pub content: String,
}

/// One part of a [`MessageContent::MultiPart`] (MS-11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Where it is, or a `data:` URL.
        url: String,
        /// How closely the model shall look.
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// A call.
    ToolCall(ToolInvocation),
    /// A result.
    ToolResult(ToolResultContent),
    /// JSON as such.
    Json(Value),
    /// The native JSON of any other part (MS-7).
    Other(Value),
}
