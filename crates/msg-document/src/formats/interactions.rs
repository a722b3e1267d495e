//! Steps of the Gemini Interactions API: an array, or a request or response body. Reading and writing are
//! `msg_gemini::interactions`'s.

use msg_codec::Assembled;
use msg_core::{Message, Report, request::RequestHead};
use msg_gemini::interactions::{self, Document, Interaction, InteractionRequest};

use super::api::{Api, names};
use crate::codec::{Likelihood, Side, WriteOptions};
use crate::outline::{List, Outline, Record, ValueKind};
use crate::refusal::Refusal;

pub(crate) struct Interactions;

impl Api for Interactions {
    type Request = InteractionRequest;

    const NAME: &'static str = "interactions";
    const TITLE: &'static str = "Gemini Interactions";
    const ABOUT: &'static str =
        "Steps of the Gemini Interactions API: an array, or a request or response body";
    const LINKS_IDS: bool = true;

    /// What only this API has, in a body or in its steps (GI-25); every step is one (RG-3).
    fn likelihood(outline: &Outline<'_>) -> Likelihood {
        let input = outline.member("input");
        let is_input = matches!(input, Some(ValueKind::Text | ValueKind::List | ValueKind::Object));
        let is_answer = outline.text("object") == Some("interaction");
        let fits = |it: &Record<'_>| it.kind.is_some() || it.has("role") && it.has("content");
        let are_steps = |it: &List<'_>| {
            it.records().any(is_step) && it.records().all(fits) && it.n_others() == 0
        };
        let in_list = |it: &&str| outline.list(it).is_some_and(are_steps);
        let is_ended = outline.text("status").is_some_and(|it| STATUSES.contains(&it));
        let are_contents = |it: &List<'_>| {
            it.records().next().is_some() && it.records().all(is_item) && it.n_others() == 0
        };
        let is_stored = |it: &&str| outline.list(it).is_some_and(are_contents);
        Likelihood::certain_if(
            is_answer
                || is_input && is_request(outline)
                || is_ended && ["steps", "outputs"].iter().any(is_stored)
                || ["", "input", "steps", "outputs"].iter().any(in_list),
        )
    }

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        _: &WriteOptions,
    ) -> Result<(InteractionRequest, Report), Refusal> {
        Ok(InteractionRequest::from_head(head, messages))
    }

    fn options(options: &WriteOptions) -> &msg_gemini::WriteOptions {
        &options.gemini
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        interactions::write(messages, &options.gemini, out)
    }

    fn response(answer: &Assembled) -> Option<(Interaction, Report)> {
        Some((Interaction::of(answer), Report::new()))
    }

    fn describe(response: &Interaction, answer: &mut Assembled) {
        answer.id = response.id();
        answer.model = response.model();
        answer.usage = response.usage();
    }

    fn response_members(response: &Interaction) -> Vec<String> {
        names(response.body.iter())
    }

    fn side(document: &Document) -> Side {
        match document {
            Document::Response(it) if !it.is_conversation() => Side::Answer,
            Document::Request(it) if interactions::is_continued(it) => Side::Continuation,
            _ => Side::Conversation,
        }
    }
}

/// The states of an interaction.
const STATUSES: [&str; 9] = [
    "budget_exceeded",
    "cancelled",
    "completed",
    "failed",
    "in_progress",
    "incomplete",
    "queued",
    "requires_action",
    "requires_continuation",
];

/// What `steps`, or the `outputs` of the older schema, hold beside a status.
fn is_item(record: &Record<'_>) -> bool {
    let is_content = |it: &str| matches!(it, "text" | "image" | "audio" | "video" | "document");
    is_step(record)
        || record
            .kind
            .is_some_and(|it| is_content(it) || it.ends_with("_call") || it.ends_with("_result"))
}

/// What is beside `input` in a request of this API alone.
fn is_request(outline: &Outline<'_>) -> bool {
    const OWN: [&str; 4] =
        ["system_instruction", "generation_config", "agent_config", "previous_interaction_id"];
    // Others have agents too.
    let is_agent = outline.text("agent").is_some()
        && ["background", "store", "stream", "tools"].iter().any(|it| outline.member(it).is_some());
    let is_agent =
        is_agent || outline.text("agent").is_some_and(|it| it.starts_with("deep-research"));
    let model = outline.text("model").unwrap_or_default();
    let model = model.rsplit('/').next().unwrap_or_default();
    let is_gemini = ["gemini", "gemma"].iter().any(|it| model.starts_with(it));
    let is_text = outline.member("input") == Some(ValueKind::Text);
    OWN.iter().any(|it| outline.member(it).is_some()) || is_agent || is_gemini && is_text
}

/// A step that other lists of items do not have, or a turn of the older schema.
fn is_step(record: &Record<'_>) -> bool {
    match record.kind {
        Some("user_input" | "model_output" | "thought" | "function_result") => true,
        Some("function_call") => {
            let is_object = record.member("arguments") == Some(ValueKind::Object);
            is_object || record.has("id") && !record.has("call_id")
        }
        None => record.role == Some("model") && record.has("content"),
        Some(_) => false,
    }
}
