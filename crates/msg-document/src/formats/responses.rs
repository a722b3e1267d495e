//! OpenAI Responses items: an array, or a request or response body. Reading and writing are
//! `msg_openai::responses`'s.

use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use msg_openai::ResponsesRequest;
use msg_openai::responses::{self, Document};

use super::api::{Api, names};
use super::no_limit;
use crate::codec::{Likelihood, Side, WriteOptions};
use crate::outline::{Outline, Record, ValueKind, is_chat};
use crate::refusal::Refusal;

pub(crate) struct Responses;

impl Api for Responses {
    type Document = Document;

    const NAME: &'static str = "responses";
    const ABOUT: &'static str = "OpenAI Responses items: an array, or a request or response body";

    fn likelihood(outline: &Outline<'_>) -> Likelihood {
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

    fn read(json: &[u8]) -> Result<(Document, Report), Refusal> {
        Ok(responses::read(json, &no_limit())?)
    }

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        _: &WriteOptions,
    ) -> Result<(Document, Report), Refusal> {
        let (request, lost) = ResponsesRequest::from_head(head, messages);
        Ok((Document::Request(request), lost))
    }

    fn list() -> Document {
        Document::Items(Vec::new())
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        responses::write(messages, &options.encode, out)
    }

    fn write(document: &Document, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        document.write(&options.encode, out)
    }

    fn take_messages(document: &mut Document) -> Vec<Message> {
        std::mem::take(match document {
            Document::Items(it) => it,
            Document::Request(it) => &mut it.messages,
            Document::Response(it) => &mut it.messages,
        })
    }

    fn set_messages(document: &mut Document, messages: Vec<Message>) {
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
            Document::Response(_) => Side::Answer,
            Document::Request(it) if it.is_continued() => Side::Continuation,
            _ => Side::Conversation,
        }
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
