//! The marks of data sets, messages of frameworks, and traces.

use crate::codec::Likelihood;
use crate::foreign::certain_if;
use crate::outline::{Item, List, Outline, Record, ValueKind};

/// The list that the document is, its lines, or the object alone.
pub(crate) fn records(outline: &Outline<'_>, of_it: impl Fn(&Record<'_>) -> bool) -> Likelihood {
    let in_list = outline.list("").is_some_and(|it| it.records().any(&of_it));
    certain_if(in_list || outline.entries().any(of_it))
}

pub(super) fn sharegpt(outline: &Outline<'_>) -> Likelihood {
    records(outline, |it| it.is_list("conversations"))
}

pub(super) fn langchain(outline: &Outline<'_>) -> Likelihood {
    let is_serialised = |it: &Record<'_>| it.has("lc") && it.has("kwargs");
    let is_dict = |it: &Record<'_>| {
        let is_kind = |it: &str| {
            matches!(
                it,
                "human" | "ai" | "system" | "tool" | "function" | "chat" | "AIMessageChunk"
            )
        };
        it.role.is_none()
            && it.kind.is_some_and(is_kind)
            && (it.member("data") == Some(ValueKind::Object) || it.has("content"))
    };
    let of_it = |it: &Record<'_>| is_serialised(it) || is_dict(it);
    let in_messages = outline.list("messages").is_some_and(|it| it.records().any(of_it));
    if in_messages { Likelihood::Certain } else { records(outline, of_it) }
}

/// Parts whose text is `content`, and results that are called responses; spans with their names.
pub(super) fn otel(outline: &Outline<'_>) -> Likelihood {
    let is_part = |it: &Item<'_>| match it.kind {
        Some("tool_call_response") => true,
        Some("text" | "reasoning") => it.has("content") && !it.has("text"),
        _ => false,
    };
    let has_part = |it: &Record<'_>| it.is_list("parts") && it.parts().any(is_part);
    let in_list = |it: &List<'_>| it.records().any(has_part);
    let is_span = outline.member("resourceSpans").is_some()
        || outline.members().any(|it| it.starts_with("gen_ai."));
    certain_if(is_span || outline.messages().is_some_and(in_list))
}
