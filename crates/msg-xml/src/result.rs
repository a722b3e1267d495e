//! Tool results as text, both ways (XT-45). Where an API has no tool role, the text goes as a user message.

use crate::error::Error;

/// What a tool gave back.
///
/// ```
/// use msg_xml::ToolResult;
/// let result = ToolResult::parse("Tool: calculator\nError: division by zero");
/// assert_eq!(result.map(|r| (r.name, r.is_error)), Some(("calculator".to_owned(), true)));
/// let quoted = ToolResult::parse("Tool 'calculator' result:\n8");
/// assert_eq!(quoted.map(|r| (r.name, r.content)), Some(("calculator".to_owned(), "8".to_owned())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The tool.
    pub name: String,
    /// What it said; of an error, with its `Error:`.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl ToolResult {
    /// Reads `Tool: NAME` or `Tool 'NAME' result:`, a line break and the content; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, content) = text.split_once('\n')?;
        let head = head.strip_suffix('\r').unwrap_or(head);
        let quoted = || head.strip_prefix("Tool '")?.strip_suffix("' result:");
        let name = head.strip_prefix("Tool: ").or_else(quoted)?;
        if !valid(name) {
            return None;
        }
        Some(ToolResult {
            name: name.to_owned(),
            content: content.to_owned(),
            is_error: content.starts_with("Error:"),
        })
    }

    /// The text of the result.
    ///
    /// # Errors
    /// A name that is empty, has a line break, or white space at its ends.
    ///
    /// ```
    /// let result = msg_xml::ToolResult { name: "ls".into(), content: "none".into(), is_error: true };
    /// assert_eq!(result.render()?, "Tool: ls\nError: none");
    /// # Ok::<(), msg_xml::Error>(())
    /// ```
    pub fn render(&self) -> Result<String, Error> {
        if !valid(&self.name) {
            return Err(Error::InvalidToolName { name: self.name.clone() });
        }
        let mark =
            if self.is_error && !self.content.starts_with("Error:") { "Error: " } else { "" };
        Ok(format!("Tool: {}\n{mark}{}", self.name, self.content))
    }
}

fn valid(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && !name.contains(['\n', '\r'])
}
