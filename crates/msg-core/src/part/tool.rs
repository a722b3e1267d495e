//! Tool calls and their results (MS-3, MS-4, MS-5). Whether a call has its result is for
//! `msg-chainast` to say.

use std::fmt;

use crate::{Arguments, Content, Extra};

/// A call that a model wants made.
///
/// ```
/// use msg_core::ToolCall;
/// use msg_json::TextState;
///
/// let call = ToolCall::new("call_1", "read", r#"{"path": "a"#);
/// assert_eq!(call.arguments.text(), r#"{"path": "a"#);
/// assert_eq!(call.arguments.state(), TextState::Incomplete);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    /// Opaque id that the result names; `""` if the source gave none.
    pub id: String,
    /// Function call or free text.
    pub kind: CallKind,
    /// The tool's name.
    pub name: String,
    /// The exact text that the model produced.
    pub arguments: Arguments,
    /// The provider's signature of the thought behind this call.
    pub signature: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl ToolCall {
    /// A function call.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<Arguments>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), ..Self::default() }
    }
}

/// What a call gave back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The id of the call that this answers; `""` if the source gave none.
    pub call_id: String,
    /// The kind of the call that this answers.
    pub kind: CallKind,
    /// The tool's name, where the source gives it.
    pub name: Option<String>,
    /// What came back, never re-encoded: a JSON output stays the text that it was (MS-5).
    pub content: Content,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl ToolResult {
    /// A result for the call with this id.
    pub fn new(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self { call_id: call_id.into(), content: content.into(), ..Self::default() }
    }
}

/// The kind of a tool call (MS-3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CallKind {
    /// A function with JSON arguments.
    #[default]
    Function,
    /// A tool that takes free text.
    Custom,
    /// The source gave no kind; native `""`.
    Unspecified,
    /// Another kind, as the source spelled it.
    Other(Box<str>),
}

impl CallKind {
    /// The word for this kind: `function`, `custom`, `""` for an unspecified one.
    pub fn as_str(&self) -> &str {
        match self {
            CallKind::Function => "function",
            CallKind::Custom => "custom",
            CallKind::Unspecified => "",
            CallKind::Other(text) => text,
        }
    }
}

impl From<&str> for CallKind {
    fn from(word: &str) -> Self {
        match word {
            "function" => CallKind::Function,
            "custom" => CallKind::Custom,
            "" => CallKind::Unspecified,
            other => CallKind::Other(other.into()),
        }
    }
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
