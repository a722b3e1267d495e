//! Showing content to people (MS-15). Nothing can be read back from it.

use std::fmt::{self, Display};

use super::{ContentPart, MessageContent, ToolInvocation};

impl MessageContent {
    /// The text, where the content is nothing else (MS-15): of `Text`, `ToolResult`, and a
    /// `MultiPart` of exactly one text.
    ///
    /// ```
    /// use msg_forms::agent::MessageContent;
    /// let content = MessageContent::Text(String::new());
    ///
    /// // Get as text
    /// let text = content.as_text().unwrap_or_default();
    /// assert_eq!(text, "");
    ///
    /// let content = MessageContent::ToolCalls(vec![]);
    /// let text = content.as_text().unwrap_or_else(|| {
    ///     eprintln!("Empty response from agent");
    ///     "I apologize, but I couldn't generate a response."
    /// });
    /// assert!(text.starts_with("I apologize"));
    /// ```
    ///
    /// And for a log line:
    ///
    /// ```
    /// use msg_core::truncate;
    /// use msg_forms::agent::MessageContent;
    /// let content = MessageContent::Text("a long story ".repeat(100));
    /// let content_preview = truncate(&content.to_string(), 20).into_owned();
    /// assert_eq!(content_preview, "a long story a long…");
    /// ```
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(it) => Some(it),
            Self::ToolResult(it) => Some(&it.content),
            Self::MultiPart(parts) => match parts.as_slice() {
                [ContentPart::Text(it)] => Some(it),
                _ => None,
            },
            Self::ToolCalls(_) => None,
        }
    }
}

impl Display for MessageContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(it) => f.write_str(it),
            Self::ToolCalls(calls) => write_lines(f, calls),
            Self::ToolResult(it) => f.write_str(&it.content),
            Self::MultiPart(parts) => write_lines(f, parts),
        }
    }
}

impl Display for ToolInvocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.arguments)
    }
}

impl Display for ContentPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(it) => f.write_str(it),
            Self::Image { .. } => f.write_str("[image]"),
            Self::ToolCall(it) => it.fmt(f),
            Self::ToolResult(it) => f.write_str(&it.content),
            Self::Json(it) => it.fmt(f),
            Self::Other(it) => {
                let name = it.get("type").and_then(|it| it.as_str()).unwrap_or("other");
                write!(f, "[{name}]")
            }
        }
    }
}

fn write_lines(f: &mut fmt::Formatter<'_>, lines: &[impl Display]) -> fmt::Result {
    for (n, line) in lines.iter().enumerate() {
        if n > 0 {
            f.write_str("\n")?;
        }
        line.fmt(f)?;
    }
    Ok(())
}
