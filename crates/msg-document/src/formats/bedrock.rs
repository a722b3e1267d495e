//! Messages of Amazon Bedrock Converse: an array, a request or response body, or one message. Reading and writing are
//! `msg_bedrock`'s.

use msg_bedrock::{
    ConverseRequest, ConverseResponse,
    converse::{self, Document},
};
use msg_codec::Assembled;
use msg_core::{FinishReason, Message, Report, request::RequestHead};

use super::api::{Api, names};
use crate::codec::{Likelihood, Side, WriteOptions};
use crate::outline::{Item, List, Outline, Record, ValueKind, is_chat};
use crate::refusal::Refusal;

pub(crate) struct Bedrock;

impl Api for Bedrock {
    type Request = ConverseRequest;

    const NAME: &'static str = "bedrock";
    const TITLE: &'static str = "Bedrock Converse";
    const ABOUT: &'static str = "Amazon Bedrock Converse, and Strands' messages: an array, a request, a response or a message";
    const LINKS_IDS: bool = true;

    /// Blocks without a type that have a member of the union, or a body that only this API has (BR-25).
    fn likelihood(outline: &Outline<'_>) -> Likelihood {
        const BODY: [&str; 6] = [
            "inferenceConfig",
            "toolConfig",
            "modelId",
            "guardrailConfig",
            "additionalModelRequestFields",
            "promptVariables",
        ];
        let is_request = outline.list("messages").is_some();
        let is_answer = outline.object("output").is_some_and(|it| it.object("message").is_some());
        let has_body = is_request && BODY.iter().any(|it| outline.member(it).is_some());
        let has_block = |it: &List<'_>| it.records().any(is_message) && it.records().all(is_chat);
        let is_one = outline.text("role").is_some() && outline.entry().is_some_and(is_message);
        let is_list = outline.messages().is_some_and(has_block);
        Likelihood::certain_if(is_answer || has_body || is_list || is_one)
    }

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        _: &WriteOptions,
    ) -> Result<(ConverseRequest, Report), Refusal> {
        Ok(ConverseRequest::from_head(head, messages))
    }

    fn options(options: &WriteOptions) -> &msg_bedrock::WriteOptions {
        &options.bedrock
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        converse::write(messages, &options.bedrock, out)
    }

    fn response(answer: &Assembled) -> Option<(ConverseResponse, Report)> {
        Some((ConverseResponse::of(answer), Report::new()))
    }

    fn describe(response: &ConverseResponse, answer: &mut Assembled) {
        answer.usage = response.usage();
        let finish = match response.stop_reason().as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
            Some("content_filtered" | "guardrail_intervened") => FinishReason::ContentFilter,
            _ => return,
        };
        answer.choices.iter_mut().for_each(|it| it.finish = Some(finish.clone()));
    }

    fn response_members(response: &ConverseResponse) -> Vec<String> {
        names(response.body.iter())
    }

    fn side(document: &Document) -> Side {
        match document {
            Document::Response(_) => Side::Answer,
            _ => Side::Conversation,
        }
    }
}

/// A message some of whose blocks are unions: they have a member that says their kind, and no type.
pub(super) fn is_message(record: &Record<'_>) -> bool {
    record.role.is_some() && record.is_list("content") && record.parts().any(is_block)
}

fn is_block(part: &Item<'_>) -> bool {
    const OBJECTS: [&str; 9] = [
        "toolUse",
        "toolResult",
        "reasoningContent",
        "cachePoint",
        "guardContent",
        "citationsContent",
        "image",
        "document",
        "video",
    ];
    let is_object = |it: &&str| part.member(it) == Some(ValueKind::Object);
    part.kind.is_none()
        && (OBJECTS.iter().any(is_object) || part.member("text") == Some(ValueKind::Text))
}
