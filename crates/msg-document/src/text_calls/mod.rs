//! Calls that stand in the text of an assistant, and results that stand in a text of their own: a conversation of a
//! model that calls tools in markup. Once read they are calls and results like any others; written into their own
//! format they are text again, what nobody changed byte for byte.
//!
//! ```text
//! assistant  "[I add]\n<tool>…<tool_name>sum</tool_name>…</tool>"   text, call
//! tool       "Tool: sum\n8"                                         result of that call
//! ```
//!
//! What markup is a call says `msg-xml`. Other dialects than its own are not read here.

mod read;
mod write;

use std::collections::{HashMap, HashSet};

use msg_core::Text;

/// Where the calls of a document stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Calls {
    /// Where its format has them: `plain` in the text, the others in members.
    #[default]
    Auto,
    /// In members, whatever the text looks like.
    Native,
    /// In the text, as `<tool>` blocks (XT-12), and the results as `Tool: NAME` texts (XT-45); also in members.
    Xml,
}

/// What was text in a document whose calls have been read from it.
#[derive(Debug, Default)]
pub(crate) struct TextCalls {
    /// By the ids that the calls were given.
    calls: HashMap<String, CallSource>,
    /// By the same ids.
    results: HashMap<String, ResultSource>,
    /// The ids that calls and results had in members.
    native: HashSet<String>,
    /// The first line of a result is part of its content, for the format has no member for it.
    headed: bool,
    /// A result of a tool's message was there: otherwise those that are made are messages of the user, for a tool's
    /// message without an id is one that no API takes.
    of_tools: bool,
}

/// A call as it was written.
#[derive(Debug)]
struct CallSource {
    /// Its block.
    text: String,
    /// Blanks before and behind it.
    around: (String, String),
    /// What it was read as, to see whether somebody changed it.
    name: String,
    arguments: String,
    /// The part that it stood in, without its text.
    part: Text,
    /// The part before, or the one behind, is of the same text.
    glued: (bool, bool),
}

/// A result as it was written.
#[derive(Debug)]
struct ResultSource {
    text: String,
    /// What it was read as.
    content: String,
    /// It was a message of the user.
    of_user: bool,
}
