//! What is wrong or was changed (MS-26): a stable code, a severity, a place, a sentence and, where
//! there is one, the edit. How it is shown to people is for the program that shows it.

use std::{borrow::Cow, fmt, ops::Range};

use serde::{Deserialize, Serialize};

/// One finding about a conversation, or one change that was made to it.
///
/// The JSON form is the serde form: members that do not apply are absent.
///
/// ```
/// use msg_core::{Code, Diagnostic};
///
/// let it = Diagnostic::error(Code::new("chain::missing-tool-result"), "call call_1 has no result")
///     .at_part(3, 0)
///     .with_fix("inserted a placeholder result");
/// assert_eq!(it.to_string(), "error[chain::missing-tool-result]: call call_1 has no result");
/// assert_eq!((it.at.message, it.at.part), (Some(3), Some(0)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnostic {
    /// The stable name of the finding.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence for people.
    pub message: String,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Position::is_empty")]
    pub at: Position,
    /// The edit that was made, or that would mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The stable name of a kind of finding: `area::kebab-case`. Codes of a later version survive a
/// round trip.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(Cow<'static, str>);

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Probably not meant, but accepted.
    Warning,
    /// Not well formed, or refused by the provider.
    Error,
}

/// Where a finding is: the members that apply. Indices are 0-based and count in the input; lines
/// and columns are 1-based; `start` and `end` are byte offsets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Position {
    /// Index of the message (or turn) in the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// Index of the part in its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// Index of the section in the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<usize>,
    /// Id of the tool call concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// First byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// The byte behind the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

impl Position {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Diagnostic {
    /// A finding of this severity, without a place.
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        let at = Position::default();
        Self { code, severity, message: message.into(), at, fix: None }
    }

    /// An error.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// An information.
    pub fn info(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, message)
    }

    /// At this message.
    #[must_use]
    pub fn at_message(mut self, message: usize) -> Self {
        self.at.message = Some(message);
        self
    }

    /// At this part of this message.
    #[must_use]
    pub fn at_part(mut self, message: usize, part: usize) -> Self {
        self.at.message = Some(message);
        self.at.part = Some(part);
        self
    }

    /// About the call with this id.
    #[must_use]
    pub fn at_call(mut self, id: impl Into<String>) -> Self {
        self.at.tool_call_id = Some(id.into());
        self
    }

    /// At these bytes of the input.
    #[must_use]
    pub fn at_span(mut self, span: Range<usize>) -> Self {
        self.at.start = Some(span.start);
        self.at.end = Some(span.end);
        self
    }

    /// At this line and column, both from 1.
    #[must_use]
    pub fn at_line(mut self, line: usize, column: usize) -> Self {
        self.at.line = Some(line);
        self.at.column = Some(column);
        self
    }

    /// With the edit that was made, or that would mend it.
    #[must_use]
    pub fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)
    }
}

impl Code {
    /// A code that the program knows: `area::kebab-case`.
    pub const fn new(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before `::`: `chain`, `message` …
    pub fn area(&self) -> &str {
        self.0.split_once("::").map_or("", |it| it.0)
    }
}

impl From<String> for Code {
    fn from(code: String) -> Self {
        Self(Cow::Owned(code))
    }
}

impl From<&'static str> for Code {
    fn from(code: &'static str) -> Self {
        Self::new(code)
    }
}

impl PartialEq<str> for Code {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Severity {
    /// The word: `error`, `warning`, `info`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
