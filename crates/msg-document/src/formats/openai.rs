//! OpenAI chat messages: an array, or a request or response body. Reading and writing are
//! `msg_openai::chat`'s.

use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use msg_openai::ChatRequest;
use msg_openai::chat::{self, Choice, Document};

use super::api::{Api, names};
use super::no_limit;
use crate::codec::{Likelihood, Side, WriteOptions};
use crate::outline::{Outline, is_chat};
use crate::refusal::Refusal;

pub(crate) struct Openai;

impl Api for Openai {
    type Document = Document;

    const NAME: &'static str = "openai";
    const ABOUT: &'static str = "OpenAI chat messages: an array, or a request or response body";

    fn likelihood(outline: &Outline<'_>) -> Likelihood {
        if outline.list("choices").is_some() && outline.list("messages").is_none() {
            return Likelihood::Certain;
        }
        match outline.messages() {
            Some(list) if list.records().any(is_chat) => Likelihood::Likely,
            Some(list) if list.is_empty() => Likelihood::Possible,
            // What is no conversation: this reader says what is wrong with it.
            _ if !matches!(outline, Outline::Markdown(_)) => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(json: &[u8]) -> Result<(Document, Report), Refusal> {
        Ok(chat::read(json, &no_limit())?)
    }

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        _: &WriteOptions,
    ) -> Result<(Document, Report), Refusal> {
        let (request, lost) = ChatRequest::from_head(head, messages);
        Ok((Document::Request(request), lost))
    }

    fn list() -> Document {
        Document::Messages(Vec::new())
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        chat::write(messages, &options.encode, out)
    }

    fn write(document: &Document, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        document.write(&options.encode, out)
    }

    fn take_messages(document: &mut Document) -> Vec<Message> {
        match document {
            Document::Messages(it) => std::mem::take(it),
            Document::Request(it) => std::mem::take(&mut it.messages),
            Document::Response(it) => it.messages().cloned().collect(),
        }
    }

    /// The messages of a response are copied: they stay with their choices.
    fn gives_copies(document: &Document) -> bool {
        matches!(document, Document::Response(_))
    }

    /// Other messages than the choices have are a list.
    fn has_room(document: &Document, messages: usize) -> bool {
        !matches!(document, Document::Response(it) if messages != it.messages().count())
    }

    fn set_messages(document: &mut Document, messages: Vec<Message>) {
        if let Document::Response(response) = document {
            let places = response.choices_mut().iter_mut().filter_map(Choice::message_mut);
            return places.zip(messages).for_each(|(place, message)| *place = message);
        }
        document.set_messages(messages);
    }

    fn head(document: &Document) -> Option<RequestHead> {
        if let Document::Request(it) = document { Some(it.head()) } else { None }
    }

    fn response_members(document: &Document) -> Vec<String> {
        if let Document::Response(it) = document { names(it.members()) } else { Vec::new() }
    }

    fn side(document: &Document) -> Side {
        match document {
            Document::Response(_) => Side::Choices,
            _ => Side::Conversation,
        }
    }
}
