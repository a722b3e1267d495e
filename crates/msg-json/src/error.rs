//! Why a text is not JSON, and where.

/// A place at which a text stops being JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset}")]
pub struct JsonError {
    /// Byte offset into the text that was given to the reader.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
}

impl JsonError {
    pub(crate) fn new(offset: usize, problem: Problem) -> Self {
        Self { offset, problem }
    }
}

/// What is said of a text that ends where something is still needed.
fn unterminated(expected: &str) -> String {
    match expected.strip_prefix("the end of a ") {
        Some(what) => format!("unterminated {what}"),
        None => format!("unexpected end, expected {expected}"),
    }
}

/// What is wrong with a text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text ends where something is still needed.
    #[error("{}", unterminated(expected))]
    End {
        /// What would have been read next.
        expected: &'static str,
    },
    /// Expected another character here.
    #[error("found {found:?}, expected {expected}")]
    Unexpected {
        /// The character that was found.
        found: char,
        /// What would have been read next.
        expected: &'static str,
    },
    /// Expected a value of another kind here.
    #[error("found {found}, expected {expected}")]
    Kind {
        /// The kind of the value that was found.
        found: &'static str,
        /// The kind that the format has here.
        expected: &'static str,
    },
    /// A control character inside a string.
    #[error("control character U+{0:04X} inside a string, expected its escape")]
    Control(u8),
    /// A backslash that does not begin an escape.
    #[error("invalid escape in a string")]
    Escape,
    /// A number with a spelling that JSON does not have.
    #[error("invalid number")]
    Number,
    /// Known positions nest deeper than allowed.
    #[error("nesting deeper than {0}")]
    Depth(usize),
    /// Something follows the document.
    #[error("text after the end of the document")]
    Trailing,
    /// The bytes are not UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
}

impl Problem {
    /// What a person can do about it, in the imperative; none where the sentence already says it.
    ///
    /// ```
    /// use msg_json::Problem;
    ///
    /// let trailing_comma = Problem::Unexpected { found: ']', expected: "a value" };
    /// assert_eq!(trailing_comma.remedy(), Some("remove the comma before it"));
    /// ```
    pub fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Problem::End { .. } => "the file was cut off: write it again, or close what is open",
            Problem::Unexpected { found: '\'', .. } => {
                "strings have double quotes: from Python, use `json.dumps`"
            }
            Problem::Unexpected { found: 'N' | 'T' | 'F', .. } => {
                "JSON has `null`, `true` and `false`, and no NaN: from Python, use `json.dumps`"
            }
            Problem::Unexpected { found: ']' | '}', expected: "a value" | "a member name" } => {
                "remove the comma before it"
            }
            Problem::Unexpected { found: '/' | '#', .. } => "JSON has no comments: remove them",
            Problem::Control(b'\n' | b'\r') => {
                "write a line break inside a string as `\\n`; if a tool wrapped the line, join it"
            }
            Problem::Escape => "write a backslash inside a string as `\\\\`",
            Problem::Utf8 => "convert the text to UTF-8, for instance with `iconv -t UTF-8`",
            _ => return None,
        })
    }
}
