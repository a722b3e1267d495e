//! OpenAI Responses items: an array, or a request or response body. Reading and writing are
//! `msg_openai::responses`'s.

use msg_core::request::RequestHead;
use msg_core::{Message, Report};
use msg_openai::ResponsesRequest;
use msg_openai::responses::{self, Document};

use super::api::{Api, names};
use crate::codec::{Likelihood, Side, WriteOptions};
use crate::outline::{Outline, Record, ValueKind, is_chat};
use crate::refusal::Refusal;

pub(crate) struct Responses;

impl Api for Responses {
    type Request = ResponsesRequest;

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

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        _: &WriteOptions,
    ) -> Result<(ResponsesRequest, Report), Refusal> {
        Ok(ResponsesRequest::from_head(head, messages))
    }

    fn options(options: &WriteOptions) -> &msg_openai::WriteOptions {
        &options.encode
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        responses::write(messages, &options.encode, out)
    }

    fn response_members(response: &msg_openai::ResponsesResponse) -> Vec<String> {
        names(response.body.iter())
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
