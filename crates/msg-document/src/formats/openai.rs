//! OpenAI chat messages: an array, or a request or response body. Reading and writing are
//! `msg_openai::chat`'s.

use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use msg_openai::chat::{self, Choice, Document};
use msg_openai::{ChatRequest, ChatResponse};

use super::no_limit;
use crate::codec::{Around, Codec, Content, Likelihood, Side, WriteOptions};
use crate::outline::{Outline, is_chat};
use crate::refusal::Refusal;

pub(crate) struct Openai;

impl Codec for Openai {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn about(&self) -> &'static str {
        "OpenAI chat messages: an array, or a request or response body"
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
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

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        let (mut document, report) = chat::read(bytes, &no_limit())?;
        let messages = take_messages(&mut document);
        Ok(Content::new(messages, Body { document, edited: false }, report))
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        report.append(chat::write(messages, &options.encode, out));
    }

    fn write_request(
        &self,
        head: &RequestHead,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        let (request, lost) = ChatRequest::from_head(head, std::mem::take(messages));
        report.append(lost);
        let mut document = Document::Request(request);
        report.append(document.write(&options.encode, out));
        *messages = take_messages(&mut document);
        Ok(())
    }
}

/// A document whose messages have been taken out.
struct Body {
    document: Document,
    edited: bool,
}

impl Around for Body {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        if let Document::Response(response) = &mut self.document {
            if !self.edited || set_choices(response, messages) {
                report.append(response.write(&options.encode, out));
            } else {
                // Other messages than the choices have are a list.
                report.append(chat::write(messages, &options.encode, out));
            }
            return;
        }
        self.document.set_messages(std::mem::take(messages));
        report.append(self.document.write(&options.encode, out));
        *messages = take_messages(&mut self.document);
    }

    fn edited(&mut self) {
        self.edited = true;
    }

    fn head(&self) -> Option<RequestHead> {
        if let Document::Request(it) = &self.document { Some(it.head()) } else { None }
    }

    fn members(&self) -> Vec<String> {
        match &self.document {
            Document::Messages(_) => Vec::new(),
            Document::Request(it) => it.head().members,
            Document::Response(it) => it.members().map(|it| it.0.to_owned()).collect(),
        }
    }

    fn side(&self) -> Side {
        match self.document {
            Document::Response(_) => Side::Choices,
            _ => Side::Conversation,
        }
    }
}

/// Puts the messages into their choices. False, and nothing is changed, if they are not as many.
fn set_choices(response: &mut ChatResponse, messages: &[Message]) -> bool {
    if response.messages().count() != messages.len() {
        return false;
    }
    let places = response.choices_mut().iter_mut().filter_map(Choice::message_mut);
    places.zip(messages).for_each(|(place, message)| place.clone_from(message));
    true
}

/// The messages of a response are copied: they stay with their choices.
fn take_messages(document: &mut Document) -> Vec<Message> {
    match document {
        Document::Messages(it) => std::mem::take(it),
        Document::Request(it) => std::mem::take(&mut it.messages),
        Document::Response(it) => it.messages().cloned().collect(),
    }
}
