//! Data sets, traces and exports.

use super::{Foreign, certain_if};
use crate::codec::Likelihood;
use crate::formats::records;
use crate::outline::{Item, Outline, Record};

pub(super) static TABLE: &[Foreign] = &[
    Foreign::new("a ChatGPT export", |it| records(it, |it| it.has("mapping"))),
    Foreign::new("a Claude.ai export", |it| records(it, |it| it.has("chat_messages"))),
    Foreign::new(
        "a LLaMA-Factory conversation, whose parts hold their texts as `value`",
        valued_parts,
    ),
    Foreign::new("a list of whole conversations, of which each is a document", conversations),
];

/// `[{"role":"user","content":[{"type":"text","value":"hi"}]}]`: read as chat messages it has no texts, no calls, and
/// results that answer nothing.
fn valued_parts(outline: &Outline<'_>) -> Likelihood {
    let is_valued = |it: &Item<'_>| it.kind == Some("text") && it.has("value") && !it.has("text");
    let of_it = |it: &Record<'_>| it.role.is_some() && it.parts().any(is_valued);
    certain_if(outline.messages().is_some_and(|it| it.records().any(of_it)))
}

/// `[{"messages":[…]}, …]`.
fn conversations(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| it.is_list("messages") && it.role.is_none();
    certain_if(outline.list("").is_some_and(|it| it.records().any(of_it)))
}
