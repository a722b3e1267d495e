//! Why a model stopped (MS-23).

use std::fmt;

/// Why a model stopped. A text that is not one of these is kept.
///
/// ```
/// use msg_core::FinishReason;
///
/// assert_eq!(FinishReason::from("tool_calls"), FinishReason::ToolCalls);
/// assert_eq!(FinishReason::from("banana").as_str(), "banana");
/// assert!(FinishReason::Length.is_cut());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is whole.
    Stop,
    /// The token limit was reached.
    Length,
    /// The model waits for tool results.
    ToolCalls,
    /// The provider held back the rest.
    ContentFilter,
    /// The provider failed.
    Error,
    /// The caller stopped the stream.
    Interrupted,
    /// Another text.
    Other(Box<str>),
}

impl FinishReason {
    /// The word: `stop`, `length`, `tool_calls`, `content_filter`, `error`, `interrupted`.
    pub fn as_str(&self) -> &str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Error => "error",
            FinishReason::Interrupted => "interrupted",
            FinishReason::Other(text) => text,
        }
    }

    /// Whether the output ends before its end: length, content filter, error or interruption.
    pub fn is_cut(&self) -> bool {
        matches!(
            self,
            FinishReason::Length
                | FinishReason::ContentFilter
                | FinishReason::Error
                | FinishReason::Interrupted
        )
    }
}

impl From<&str> for FinishReason {
    fn from(word: &str) -> Self {
        match word {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "tool_calls" => FinishReason::ToolCalls,
            "content_filter" => FinishReason::ContentFilter,
            "error" => FinishReason::Error,
            "interrupted" => FinishReason::Interrupted,
            other => FinishReason::Other(other.into()),
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
