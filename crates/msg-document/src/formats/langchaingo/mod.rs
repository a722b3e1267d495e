//! Chains as langchaingo stores them (LG-1 to LG-4): a list of messages with one text or with parts.
//!
//! ```text
//! [{"role":"system","text":"Be brief."},
//!  {"role":"human","text":"Weather?"},
//!  {"role":"ai","parts":[{"type":"tool_call","tool_call":{"id":"c1","type":"function",
//!     "function":{"name":"weather","arguments":"{}"}}}]},
//!  {"role":"tool","parts":[{"type":"tool_response","tool_response":
//!     {"tool_call_id":"c1","name":"weather","content":"sunny"}}]}]
//! ```

mod read;
mod write;

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use msg_codec::codec::{Context, Losses};
use msg_core::{Message, Origin, Part, RawJson, Report};
use msg_json::Writer;
use msg_session::ShareGptTurns;

use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::outline::{Item, Outline, Record, ValueKind};
use crate::refusal::Refusal;
use crate::verbatim;
use crate::verbatim::Form;

pub(crate) struct Langchaingo;

impl Codec for Langchaingo {
    fn name(&self) -> &'static str {
        "langchaingo"
    }

    fn about(&self) -> &'static str {
        "Chains as langchaingo stores them: an array of `{role, text}` and `{role, parts}`"
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        match outline.messages() {
            Some(list) if list.is_empty() => Likelihood::Possible,
            Some(list) if list.records().next().is_none() => Likelihood::No,
            Some(list) if !list.records().all(could_be_ours) => Likelihood::No,
            Some(list) if list.records().any(is_ours) => Likelihood::Certain,
            Some(list) if list.records().all(is_like_others) => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        verbatim::read(bytes, &Langchaingo, &["messages"])
    }

    fn write(&self, messages: &mut Vec<Message>, _: &WriteOptions, out: &mut Vec<u8>) -> Report {
        name_results(messages);
        verbatim::write(messages, self, out)
    }
}

/// Gives results without a name that of the tool that was called: langchaingo sends Gemini the name that it finds.
fn name_results(messages: &mut [Message]) {
    let mut names: HashMap<String, String> = HashMap::new();
    for part in messages.iter_mut().flat_map(|it| &mut it.parts) {
        match part {
            Part::ToolCall(it) => _ = names.insert(it.id.clone(), it.name.clone()),
            Part::ToolResult(it) if it.name.is_none() => {
                it.name = names.get(&it.call_id).filter(|it| !it.is_empty()).cloned();
            }
            _ => {}
        }
    }
}

impl Form for Langchaingo {
    fn origin(&self) -> Origin {
        origin()
    }

    fn read(
        &self,
        source: &RawJson,
        _: &mut ShareGptTurns,
        _: &mut Context<'_, '_>,
    ) -> Result<Message, &'static str> {
        read::message(source)
    }

    fn write(&self, message: &Message, losses: &mut Losses<'_>, out: &mut Writer<'_>) {
        write::message(message, losses, out);
    }
}

/// Whose unknown members these are.
fn origin() -> Origin {
    Origin::Other("langchaingo".into())
}

/// The roles of langchaingo.
const ROLES: [&str; 6] = ["ai", "function", "generic", "human", "system", "tool"];

/// A message that is one text beside its role, or a part that holds its content under its own type.
fn is_ours(record: &Record<'_>) -> bool {
    let is_text = record.role.is_some_and(|it| ROLES.contains(&it))
        && record.member("text") == Some(ValueKind::Text)
        && !record.has("content")
        && record.kind.is_none();
    let is_nested = |it: &Item<'_>| matches!(it.kind, Some(kind @ ("tool_call" | "tool_response" | "binary")) if it.has(kind));
    is_text || record.is_list("parts") && record.parts().any(is_nested)
}

/// Whether a message has parts as those of other formats too.
fn is_like_others(record: &Record<'_>) -> bool {
    let is_known =
        record.role.is_some_and(|it| ROLES.contains(&it) || it == "user" || it == "assistant");
    is_known && record.is_list("parts") && record.parts().all(|it| it.kind.is_some())
}

fn could_be_ours(record: &Record<'_>) -> bool {
    let is_text = record.member("text") == Some(ValueKind::Text);
    record.role.is_some() && (record.has("parts") || is_text) && !record.has("content")
}

// Signatures of reasoning: bytes in Go, so base64 in JSON. What the provider sent was text, and for
// Gemini base64 already (LG-3).

/// The text that these bytes are; the base64 itself if they are none.
fn text(stored: String) -> String {
    let decoded = STANDARD.decode(&stored).ok().and_then(|it| String::from_utf8(it).ok());
    // What does not come back the same is kept as it is.
    decoded.filter(|it| !it.is_empty() && STANDARD.encode(it) == stored).unwrap_or(stored)
}

/// The bytes of a text as they are stored.
fn stored(text: &str) -> String {
    STANDARD.encode(text)
}
