//! Wire formats of other providers.

use super::{Foreign, certain_if};
use crate::codec::Likelihood;
use crate::outline::{Item, List, Outline, Record};

pub(super) static TABLE: &[Foreign] = &[
    Foreign::new("a Bedrock Converse document", bedrock),
    Foreign::new("a Gemini document", gemini),
    Foreign::new("a Cohere chat document", cohere),
];

/// Contents with parts that name their kind by their member.
fn gemini(outline: &Outline<'_>) -> Likelihood {
    let is_content = |it: &Record<'_>| it.role == Some("model") || it.parts().any(is_gemini_part);
    let in_contents = |it: &List<'_>| it.records().any(|it| it.is_list("parts") && is_content(it));
    let is_body = outline.list("candidates").is_some()
        || outline.member("contents").is_some() && outline.list("messages").is_none();
    let bare = outline.list("").or_else(|| outline.list("messages")).is_some_and(in_contents);
    certain_if(is_body || bare)
}

fn is_gemini_part(part: &Item<'_>) -> bool {
    const KINDS: [&str; 8] = [
        "text",
        "functionCall",
        "functionResponse",
        "function_call",
        "function_response",
        "inlineData",
        "fileData",
        "executableCode",
    ];
    part.kind.is_none() && !part.has("part_kind") && KINDS.iter().any(|it| part.has(it))
}

/// Messages whose blocks are unions in camel case.
fn bedrock(outline: &Outline<'_>) -> Likelihood {
    const BODY: [&str; 5] =
        ["inferenceConfig", "toolConfig", "modelId", "additionalModelRequestFields", "stopReason"];
    const PARTS: [&str; 5] =
        ["toolUse", "toolResult", "reasoningContent", "guardContent", "cachePoint"];
    let is_block = |it: &Item<'_>| it.kind.is_none() && PARTS.iter().any(|name| it.has(name));
    let has_block = |it: &List<'_>| it.records().any(|it| it.parts().any(is_block));
    let is_conversation = outline.list("messages").is_some() || outline.member("output").is_some();
    let is_body = is_conversation && BODY.iter().any(|it| outline.member(it).is_some());
    certain_if(is_body || is_untyped(outline) || outline.messages().is_some_and(has_block))
}

/// `system` beside messages, and no block says its type: Anthropic's do.
fn is_untyped(outline: &Outline<'_>) -> bool {
    let is_text = |it: &Item<'_>| it.kind.is_none() && it.has("text");
    outline.list("system").is_some_and(|it| it.records().all(|it| it.kind.is_none()))
        && outline.list("messages").is_some_and(|it| it.records().any(|it| it.parts().any(is_text)))
}

/// The older API: a message beside a history.
fn cohere(outline: &Outline<'_>) -> Likelihood {
    certain_if(outline.list("chat_history").is_some() && outline.list("messages").is_none())
}
