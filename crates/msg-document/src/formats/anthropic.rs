//! Anthropic messages: an array, or a request or response body. Reading and writing are
//! `msg_anthropic`'s.

use msg_anthropic::MessagesRequest;
use msg_anthropic::messages::{self, Document};
use msg_core::request::RequestHead;
use msg_core::{Message, Report};

use super::api::{Api, names};
use super::no_limit;
use crate::codec::{Likelihood, Side, WriteOptions};
use crate::outline::{Item, Outline, Record, ValueKind, is_chat};
use crate::refusal::Refusal;

pub(crate) struct Anthropic;

impl Api for Anthropic {
    type Document = Document;

    const NAME: &'static str = "anthropic";
    const ABOUT: &'static str = "Anthropic messages: an array, or a request or response body";

    fn likelihood(outline: &Outline<'_>) -> Likelihood {
        if is_response(outline) {
            return Likelihood::Certain;
        }
        match outline.messages() {
            Some(list) if list.records().any(is_of_openai) => Likelihood::No,
            Some(list) if has_marks(outline) || list.records().any(is_ours) => Likelihood::Certain,
            Some(list) if list.records().all(is_chat) => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(json: &[u8]) -> Result<(Document, Report), Refusal> {
        Ok(messages::read(json, &no_limit())?)
    }

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        options: &WriteOptions,
    ) -> Result<(Document, Report), Refusal> {
        let options = &options.anthropic;
        let (request, lost) = MessagesRequest::from_head(head, messages, options)?;
        Ok((Document::Request(request), lost))
    }

    fn list() -> Document {
        Document::Messages(Vec::new())
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        messages::write(messages, &options.anthropic, out)
    }

    fn write(document: &Document, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        document.write(&options.anthropic, out)
    }

    fn take_messages(document: &mut Document) -> Vec<Message> {
        document.take_messages()
    }

    /// A response is one message: what has become several is a list.
    fn has_room(document: &Document, messages: usize) -> bool {
        !matches!(document, Document::Response(_)) || messages == 1
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
            _ => Side::Conversation,
        }
    }
}

fn is_response(outline: &Outline<'_>) -> bool {
    outline.text("type") == Some("message")
        && outline.list("content").is_some()
        && outline.text("role").is_some()
}

/// Members that only requests of this API have (AN-1).
fn has_marks(outline: &Outline<'_>) -> bool {
    let is_tool = |it: &Record<'_>| it.has("input_schema");
    let tools = outline.list("tools").is_some_and(|it| it.records().any(is_tool));
    let system = matches!(outline.member("system"), Some(ValueKind::Text | ValueKind::List));
    // With a system message among the others it is somebody's own.
    let is_listed = |it: &Record<'_>| it.role == Some("system");
    let listed = outline.messages().is_some_and(|it| it.records().any(is_listed));
    let version = outline.text("anthropic_version").is_some();
    outline.list("").is_none() && (tools || version || (system && !listed))
}

/// A message with blocks of types that chat messages do not have, or a reply among others.
fn is_ours(record: &Record<'_>) -> bool {
    let is_reply = record.kind == Some("message") && record.has("stop_reason");
    is_reply || (record.role.is_some() && record.parts().any(is_block))
}

fn is_block(part: &Item<'_>) -> bool {
    match part.kind {
        Some("tool_use" | "redacted_thinking" | "server_tool_use" | "mcp_tool_use") => true,
        Some("container_upload" | "search_result") => true,
        Some("tool_result") => part.has("tool_use_id"),
        // Mistral's holds a list.
        Some("thinking") => part.member("thinking") == Some(ValueKind::Text),
        Some("image" | "document") => part.member("source") == Some(ValueKind::Object),
        Some(kind) => kind.ends_with("_tool_result"),
        None => false,
    }
}

/// A message that only chat messages look like.
fn is_of_openai(record: &Record<'_>) -> bool {
    const OWN: [&str; 5] =
        ["tool_calls", "tool_call_id", "function_call", "reasoning_content", "thinking_blocks"];
    matches!(record.role, Some("tool" | "function" | "developer"))
        || OWN.iter().any(|it| record.has(it))
}
