//! The families of streams that are known, in the order in which they are asked whose an event
//! is (OA-17). What those that are read are, is for their crates to say; the others are known only so that
//! a stream of theirs is refused by its name.

use msg_codec::{Family, Json};

/// All of them; what none recognises and is an error, or nothing at all, is Chat Completions.
pub(super) static ALL: [Family; 11] = [
    msg_openai::RESPONSES,
    msg_anthropic::ANTHROPIC,
    COHERE,
    msg_gemini::GEMINI,
    msg_gemini::interactions::INTERACTIONS,
    msg_bedrock::BEDROCK,
    OLLAMA,
    ASSISTANTS,
    GENERATION,
    UI_MESSAGES,
    msg_openai::CHAT,
];

pub(super) static CHAT: [Family; 1] = [msg_openai::CHAT];
pub(super) static RESPONSES: [Family; 1] = [msg_openai::RESPONSES];
pub(super) static ANTHROPIC: [Family; 1] = [msg_anthropic::ANTHROPIC];
pub(super) static GEMINI: [Family; 1] = [msg_gemini::GEMINI];
pub(super) static BEDROCK: [Family; 1] = [msg_bedrock::BEDROCK];
pub(super) static INTERACTIONS: [Family; 1] = [msg_gemini::interactions::INTERACTIONS];

const COHERE: Family = foreign("Cohere", |it| {
    let kinds =
        ["message-start", "content-delta", "tool-plan-delta", "citation-start", "message-end"];
    is_one_of(it, "type", &kinds)
        || is_one_of(it, "event_type", &["stream-start", "text-generation", "stream-end"])
});
const OLLAMA: Family = foreign("Ollama", |it| {
    let says = it.get("message").is_some_and(Json::is_object) || it.get("response").is_some();
    says && it.get("created_at").is_some()
        && it.get("done").is_some()
        && it.get("choices").is_none()
});
const ASSISTANTS: Family = foreign("OpenAI Assistants", |it| {
    it.get("object").and_then(Json::text).is_some_and(|it| it.starts_with("thread."))
});
const GENERATION: Family = foreign("Hugging Face text generation", |it| {
    it.get("token").is_some_and(Json::is_object) && it.get("choices").is_none()
});
const UI_MESSAGES: Family = foreign("Vercel AI SDK UI messages", |it| {
    is_one_of(it, "type", &["start", "start-step", "text-start", "text-delta", "finish-step"])
});

/// A family that is not read: what people call it, and whether an event is of it.
const fn foreign(name: &'static str, recognises: fn(Json<'_>) -> bool) -> Family {
    Family { name, recognises, assembler: None }
}

fn is_one_of(event: Json<'_>, member: &str, words: &[&str]) -> bool {
    event.get(member).and_then(Json::text).is_some_and(|it| words.contains(&&*it))
}
