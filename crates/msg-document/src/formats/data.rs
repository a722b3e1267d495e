//! The marks of data sets, messages of frameworks, and traces.

use crate::codec::Likelihood;
use crate::outline::{Item, List, Member, Outline, Record, ValueKind};

/// The list that the document is, its lines, or the object alone.
pub(crate) fn records(outline: &Outline<'_>, of_it: impl Fn(&Record<'_>) -> bool) -> Likelihood {
    let in_list = outline.list("").is_some_and(|it| it.records().any(&of_it));
    Likelihood::certain_if(in_list || outline.entries().any(of_it))
}

/// Rows with turns, whose own members say who speaks and what.
pub(super) fn sharegpt(outline: &Outline<'_>) -> Likelihood {
    records(outline, |it| it.items("conversations").any(|it| it.has("from") && it.has("value")))
        .max(match outline.list("conversations") {
            Some(list) if list.records().any(|it| it.has("from") && it.has("value")) => {
                Likelihood::Certain
            }
            _ => Likelihood::No,
        })
}

/// Messages of LangChain, in a list, in `messages`, or in a state.
pub(super) fn langchain(outline: &Outline<'_>) -> Likelihood {
    const STATES: [&str; 2] = ["values", "channel_values"];
    let is_message =
        |it: &Record<'_>| is_langchain(it.members(), it.role, it.kind, it.object("data"));
    let in_list = |it: &List<'_>| it.records().any(is_message);
    let in_state = |name: &&str| {
        let is_message = |it: &Item<'_>| is_langchain(it.members(), None, it.kind, None);
        outline.object(name).is_some_and(|it| it.items("messages").any(is_message))
    };
    let listed = outline.list("messages").is_some_and(in_list);
    if listed || STATES.iter().any(in_state) {
        return Likelihood::Certain;
    }
    records(outline, is_message)
}

/// A message as a constructor, with its members in `data`, or flat.
fn is_langchain(
    members: &[Member<'_>],
    role: Option<&str>,
    kind: Option<&str>,
    data: Option<&Item<'_>>,
) -> bool {
    let member = |name: &str| members.iter().find(|it| it.0 == name);
    let is_class = |it: &Member<'_>| it.2.ends_with("Message") || it.2.ends_with("MessageChunk");
    if member("lc").is_some() && member("kwargs").is_some() {
        return member("id").is_some_and(is_class);
    }
    let is_kind = kind.is_some_and(|it| {
        let of_it = ["human", "ai", "system", "tool", "function", "remove", "chat"];
        of_it.contains(&it) || it.ends_with("MessageChunk")
    });
    // In an item nothing is known of its `data` but that there is some.
    let says = match (member("data"), data) {
        (Some(_), Some(data)) => data.has("content"),
        (Some(it), None) => it.1 == ValueKind::Object,
        (None, _) => member("content").is_some(),
    };
    role.is_none() && is_kind && says
}

/// Messages of a span, or spans with their names.
pub(super) fn otel(outline: &Outline<'_>) -> Likelihood {
    let is_span = outline.member("resourceSpans").is_some()
        || outline
            .members()
            .any(|it| it.starts_with("gen_ai.") && !it.starts_with("gen_ai.prompt."));
    Likelihood::certain_if(
        is_span || outline.messages().is_some_and(|it| it.records().any(is_otel)),
    )
}

/// A message with parts whose text is `content`, with results that are called responses, or with calls whose
/// arguments are a value.
pub(super) fn is_otel(record: &Record<'_>) -> bool {
    record.is_list("parts")
        && record.parts().any(|it| match it.kind {
            Some("tool_call_response") => true,
            Some("text" | "reasoning") => it.has("content") && !it.has("text"),
            Some("tool_call") => {
                it.has("name") && !matches!(it.member("arguments"), Some(ValueKind::Text))
            }
            _ => false,
        })
}
