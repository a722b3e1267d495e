//! Wire formats of other providers.

use super::{Foreign, certain_if};
use crate::codec::Likelihood;
use crate::outline::{Item, List, Outline};

pub(super) static TABLE: &[Foreign] = &[
    Foreign::new("a Bedrock Converse document", bedrock),
    Foreign::new("a Cohere chat document", cohere),
];

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
