//! Which provider a part is of, told by the name of its `type`, or by the member that says what it is (MS-9). A name
//! that nobody is known to own says nothing: providers add types.

use msg_json::Reader;

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

/// The members that say what an untyped part is: Gemini's, and those of Bedrock Converse.
const OF_GEMINI: [&str; 6] = [
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
];
const OF_BEDROCK: [&str; 2] = ["toolUse", "toolResult"];

/// What Bedrock Converse is called where a part is of it.
pub const BEDROCK: &str = "bedrock";

/// The format whose parts alone have this type.
#[must_use]
pub fn owner_of_type(kind: &str) -> Option<&'static str> {
    let owners =
        [("anthropic", &OF_ANTHROPIC[..]), ("responses", &OF_RESPONSES), ("openai", &OF_OPENAI)];
    owners.into_iter().find(|it| it.1.contains(&kind)).map(|it| it.0)
}

/// This member and the format whose parts alone are told by it.
#[must_use]
pub fn owner_of_member(name: &str) -> Option<(&'static str, &'static str)> {
    let of =
        |tags: &[&'static str], owner| tags.iter().find(|it| **it == name).map(|it| (*it, owner));
    of(&OF_GEMINI, "gemini").or_else(|| of(&OF_BEDROCK, BEDROCK))
}

/// Whether an object has a member by which another format tells its parts.
pub(super) fn has_owned_member(source: &str) -> bool {
    let mut reader = Reader::from_text(source);
    if reader.begin_object().is_err() {
        return false;
    }
    while let Ok(Some(key)) = reader.next_key() {
        if owner_of_member(&key.text).is_some() {
            return true;
        }
        if reader.raw().is_err() {
            return false;
        }
    }
    false
}
