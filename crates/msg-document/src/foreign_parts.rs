//! Parts of another provider: types that the format of a document does not have, and that belong to another
//! one of which msg knows it (MS-9).
//!
//! Judges by the name of the type alone, and only parts that the reader of the format did not understand. A type
//! that nobody is known to own says nothing: providers add types.
//!
//! ```json
//! [{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]
//! ```
//!
//! read as `openai` holds a `tool_result` part, which is Anthropic's.

use std::borrow::Cow;

use msg_core::json::Reader;
use msg_core::{Code, Diagnostic, Message, Origin, Part};

/// The types of Anthropic's blocks that no other format reads.
const OF_ANTHROPIC: [&str; 8] = [
    "tool_use",
    "tool_result",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "web_search_tool_result",
    "redacted_thinking",
    "container_upload",
];

/// The types of parts and items that only Responses has.
const OF_RESPONSES: [&str; 6] = [
    "input_text",
    "output_text",
    "input_image",
    "input_file",
    "function_call",
    "function_call_output",
];

/// The types of parts that only chat messages have.
const OF_OPENAI: [&str; 1] = ["image_url"];

/// What is of another provider in messages of one format, in order. Linear in the parts that the reader did
/// not understand.
pub(crate) fn foreign_parts(messages: &[Message]) -> impl Iterator<Item = Diagnostic> + '_ {
    messages.iter().enumerate().flat_map(|(at, message)| {
        message.parts.iter().enumerate().filter_map(move |(n, part)| {
            let (kind, owner) = foreign_type(part)?;
            let text = format!("the type {kind} is of {owner}, which --from {owner} reads");
            Some(Diagnostic::error(Code::new("message::foreign-part"), text).at_part(at, n))
        })
    })
}

/// The type of a part, and the format that it is of, if that is another one.
fn foreign_type(part: &Part) -> Option<(Cow<'_, str>, &'static str)> {
    let Part::Other(it) = part else { return None };
    if !matches!(it.format, Origin::OpenAi | Origin::Anthropic | Origin::Responses) {
        return None;
    }
    let kind = type_of(it.value.text())?;
    let owner = owner(&kind)?;
    (owner != it.format.as_str()).then_some((kind, owner))
}

fn owner(kind: &str) -> Option<&'static str> {
    let owners =
        [("anthropic", &OF_ANTHROPIC[..]), ("responses", &OF_RESPONSES), ("openai", &OF_OPENAI)];
    owners.into_iter().find(|it| it.1.contains(&kind)).map(|it| it.0)
}

/// The last member `type` (MS-8), if it is a string.
fn type_of(json: &str) -> Option<Cow<'_, str>> {
    let mut reader = Reader::from_text(json);
    reader.begin_object().ok()?;
    let mut found = None;
    while let Some(key) = reader.next_key().ok()? {
        let value = reader.raw().ok()?;
        if key.text == "type" {
            found = Reader::from_text(value).string().ok().map(|it| it.text);
        }
    }
    found
}
