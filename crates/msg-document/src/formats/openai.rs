//! OpenAI chat messages: an array, or a request or response body. Reading and writing are
//! `msg_openai::chat`'s.

use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use msg_openai::ChatRequest;
use msg_openai::chat::{self, Document};

use super::anthropic;
use super::api::{Api, names};
use crate::codec::{Likelihood, Side, WriteOptions};
use crate::outline::{List, Outline, is_chat, is_known_chat};
use crate::refusal::Refusal;

pub(crate) struct Openai;

/// Members of a completion besides its choices.
const OF_COMPLETION: &[&str] = &[
    "choices",
    "created",
    "id",
    "model",
    "service_tier",
    "system_fingerprint",
    "usage",
    "error",
    "provider",
    "prompt_filter_results",
];

/// Whether an object with `choices` is a completion by what else it has: some servers answer without an `object`.
fn is_completion(outline: &Outline<'_>) -> bool {
    match outline.text("object") {
        Some(name) => name == "chat.completion",
        None => outline.members().all(|it| OF_COMPLETION.contains(&it)),
    }
}

impl Api for Openai {
    type Request = ChatRequest;

    const NAME: &'static str = "openai";
    const TITLE: &'static str = "OpenAI chat";
    const ABOUT: &'static str = "OpenAI chat messages: an array, or a request or response body";

    fn likelihood(outline: &Outline<'_>) -> Likelihood {
        if let Some(choices) = outline.list("choices") {
            let is_answer = choices.records().any(|it| it.message().is_some());
            let is_conversation = |it: &List<'_>| {
                let is_foreign = it.records().any(anthropic::is_ours);
                !is_foreign && it.records().all(is_chat) && it.records().any(is_known_chat)
            };
            match outline.list("messages") {
                Some(list) if !choices.is_empty() => {
                    let is_one = choices.len() == 1 && is_answer;
                    return Likelihood::certain_if(is_one && is_conversation(list));
                }
                Some(_) => return of_messages(outline),
                None => {}
            }
            return Likelihood::certain_if(
                is_answer || choices.is_empty() && is_completion(outline),
            );
        }
        of_messages(outline)
    }

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        _: &WriteOptions,
    ) -> Result<(ChatRequest, Report), Refusal> {
        Ok(ChatRequest::from_head(head, messages))
    }

    const FAMILIES: &'static [msg_codec::StreamFamily] = &[msg_openai::CHAT];

    fn response(answer: &msg_codec::Assembled) -> Option<(msg_openai::ChatResponse, Report)> {
        Some((msg_openai::ChatResponse::of(answer), Report::new()))
    }

    fn options(options: &WriteOptions) -> &msg_openai::WriteOptions {
        &options.encode
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        chat::write(messages, &options.encode, out)
    }

    fn response_members(response: &msg_openai::ChatResponse) -> Vec<String> {
        names(response.body.iter())
    }

    fn side(document: &Document) -> Side {
        match document {
            Document::Response(_) => Side::Choices,
            _ => Side::Conversation,
        }
    }
}

/// How much speaks for a list of messages, or a request.
fn of_messages(outline: &Outline<'_>) -> Likelihood {
    match outline.messages() {
        Some(list) if list.is_empty() => Likelihood::Possible,
        Some(list) if !list.records().all(is_chat) => Likelihood::No,
        Some(list) if list.records().any(is_known_chat) => Likelihood::Likely,
        _ => Likelihood::No,
    }
}
