//! OpenAI Responses items: an array, or a request or response body. Reading and writing are
//! `msg_openai::responses`'s.

use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use msg_openai::ResponsesRequest;
use msg_openai::responses::{self, Document};

use super::no_limit;
use crate::codec::{Around, Codec, Content, Likelihood, Side, WriteOptions};
use crate::outline::{Outline, Record, ValueKind, is_chat};
use crate::refusal::Refusal;

pub(crate) struct Responses;

impl Codec for Responses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn about(&self) -> &'static str {
        "OpenAI Responses items: an array, or a request or response body"
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        let is_body = outline.list("messages").is_none() && outline.list("choices").is_none();
        if is_body && is_a_body(outline) {
            return Likelihood::Certain;
        }
        match outline.messages() {
            Some(list) if list.records().any(is_item) => Likelihood::Certain,
            // Messages of the shortest form are those of chat.
            Some(list) if list.is_empty() || list.records().any(is_chat) => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        let (mut document, report) = responses::read(bytes, &no_limit())?;
        let messages = std::mem::take(items_of(&mut document));
        Ok(Content::new(messages, Body(document), report))
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        report.append(responses::write(messages, &options.encode, out));
    }

    fn write_request(
        &self,
        head: &RequestHead,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        let (request, lost) = ResponsesRequest::from_head(head, std::mem::take(messages));
        report.append(lost);
        let mut document = Document::Request(request);
        report.append(document.write(&options.encode, out));
        *messages = std::mem::take(items_of(&mut document));
        Ok(())
    }
}

fn is_a_body(outline: &Outline<'_>) -> bool {
    outline.text("object") == Some("response")
        || outline.list("output").is_some()
        || matches!(outline.member("input"), Some(ValueKind::Text | ValueKind::List))
}

/// An item of a type that the API has, or a message with parts that only items have. A type that it
/// has not is no evidence: files of others have types too.
fn is_item(record: &Record<'_>) -> bool {
    const PARTS: [&str; 4] = ["input_text", "output_text", "input_image", "input_file"];
    record.kind.is_some_and(|it| is_item_type(it, record))
        || record.parts().any(|it| it.kind.is_some_and(|it| PARTS.contains(&it)))
}

fn is_item_type(kind: &str, record: &Record<'_>) -> bool {
    match kind {
        "message" => record.role.is_some() && record.has("content"),
        "reasoning" => record.has("summary") || record.has("encrypted_content") || record.has("id"),
        "item_reference" | "compaction" | "mcp_list_tools" => true,
        "mcp_approval_request" | "mcp_approval_response" => true,
        _ => kind.ends_with("_call") || kind.ends_with("_output"),
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
        *messages = std::mem::take(items_of(&mut self.0));
    }

    fn head(&self) -> Option<RequestHead> {
        if let Document::Request(it) = &self.0 { Some(it.head()) } else { None }
    }

    fn members(&self) -> Vec<String> {
        match &self.0 {
            Document::Items(_) => Vec::new(),
            Document::Request(it) => it.head().members,
            Document::Response(it) => it.members().map(|it| it.0.to_owned()).collect(),
        }
    }

    fn side(&self) -> Side {
        match &self.0 {
            Document::Response(_) => Side::Answer,
            Document::Request(it) if it.is_continued() => Side::Continuation,
            _ => Side::Conversation,
        }
    }
}

fn items_of(document: &mut Document) -> &mut Vec<Message> {
    match document {
        Document::Items(it) => it,
        Document::Request(it) => &mut it.messages,
        Document::Response(it) => &mut it.messages,
    }
}
