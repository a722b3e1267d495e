//! OpenAI chat messages: an array, or a request or response body. Reading and writing are
//! `msg_openai::chat`'s.

use msg_core::{Message, Report};
use msg_openai::chat::{self, Document};

use super::no_limit;
use crate::codec::{Around, Codec, Content, Likelihood, WriteOptions};
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
            _ if !matches!(outline, Outline::Markdown) => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        let (mut document, report) = chat::read(bytes, &no_limit())?;
        let messages = take_messages(&mut document);
        Ok(Content::new(messages, Body(document), report))
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
}

/// A document whose messages have been taken out.
struct Body(Document);

impl Around for Body {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        self.0.set_messages(std::mem::take(messages));
        report.append(self.0.write(&options.encode, out));
        *messages = take_messages(&mut self.0);
    }

    /// Each message of a response belongs to its choice; other messages are a list.
    fn edited(&mut self) {
        if matches!(self.0, Document::Response(_)) {
            self.0 = Document::Messages(Vec::new());
        }
    }
}

/// The messages of a response are copied: they stay with their choices.
fn take_messages(document: &mut Document) -> Vec<Message> {
    match document {
        Document::Messages(it) => std::mem::take(it),
        Document::Request(it) => std::mem::take(&mut it.messages),
        Document::Response(it) => it.messages().cloned().collect(),
    }
}
