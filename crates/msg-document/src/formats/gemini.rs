//! Gemini contents: an array, or a request or response body. Reading and writing are `msg_gemini`'s.

use msg_core::{Message, Report, request::RequestHead};
use msg_gemini::{
    GenerateRequest,
    contents::{self, Document},
};

use super::no_limit;
use crate::codec::{Around, Codec, Content, Likelihood, Side, WriteOptions};
use crate::outline::{Item, List, Outline, Record};
use crate::refusal::Refusal;

pub(crate) struct Gemini;

impl Codec for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn about(&self) -> &'static str {
        "Gemini contents: an array, or a request or response body"
    }

    /// Contents with parts that name their kind by their member (GE-1).
    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        let is_ours = |it: &Record<'_>| it.role == Some("model") || it.parts().any(is_part);
        let in_list = |it: &List<'_>| it.records().any(|it| it.is_list("parts") && is_ours(it));
        let is_body = outline.list("candidates").is_some()
            || outline.member("contents").is_some() && outline.list("messages").is_none();
        if is_body || outline.list("").is_some_and(in_list) {
            Likelihood::Certain
        } else {
            Likelihood::No
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        let (mut document, report) = contents::read(bytes, &no_limit())?;
        let messages = document.take_messages();
        Ok(Content::new(messages, Body(document), report))
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        report.append(contents::write(messages, &options.gemini, out));
    }

    fn write_request(
        &self,
        head: &RequestHead,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        let (request, lost) = GenerateRequest::from_head(head, std::mem::take(messages));
        report.append(lost);
        let mut document = Document::Request(request);
        report.append(document.write(&options.gemini, out));
        *messages = document.take_messages();
        Ok(())
    }

    fn lacks_ids(&self) -> bool {
        true
    }

    fn matches_by_name(&self) -> bool {
        true
    }
}

fn is_part(part: &Item<'_>) -> bool {
    const KINDS: [&str; 11] = [
        "text",
        "functionCall",
        "functionResponse",
        "function_call",
        "function_response",
        "inlineData",
        "inline_data",
        "fileData",
        "file_data",
        "executableCode",
        "toolCall",
    ];
    part.kind.is_none() && !part.has("part_kind") && KINDS.iter().any(|it| part.has(it))
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
        // A response is a message for each candidate: what has become more or less is a list.
        if let Document::Response(it) = &self.0
            && messages.len() != it.candidates()
        {
            self.0 = Document::Contents(Vec::new());
        }
        self.0.set_messages(std::mem::take(messages));
        report.append(self.0.write(&options.gemini, out));
        *messages = self.0.take_messages();
    }

    fn head(&self) -> Option<RequestHead> {
        if let Document::Request(it) = &self.0 { Some(it.head()) } else { None }
    }

    fn members(&self) -> Vec<String> {
        match &self.0 {
            Document::Request(it) => it.head().members,
            Document::Response(it) => it.members().map(|it| it.0.to_owned()).collect(),
            _ => Vec::new(),
        }
    }

    fn side(&self) -> Side {
        match &self.0 {
            Document::Response(it) if it.candidates() > 1 => Side::Choices,
            Document::Response(_) => Side::Answer,
            _ => Side::Conversation,
        }
    }
}
