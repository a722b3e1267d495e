//! Anthropic messages: an array, or a request or response body. Reading and writing are
//! `msg_anthropic`'s.

use msg_anthropic::MessagesRequest;
use msg_anthropic::messages;
use msg_core::request::RequestHead;
use msg_core::{Message, Report};

use super::api::{Api, names};
use crate::codec::{Likelihood, WriteOptions};
use crate::outline::{Item, Outline, Record, ValueKind, is_chat};
use crate::refusal::Refusal;

pub(crate) struct Anthropic;

impl Api for Anthropic {
    type Request = MessagesRequest;

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

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        options: &WriteOptions,
    ) -> Result<(MessagesRequest, Report), Refusal> {
        Ok(MessagesRequest::from_head(head, messages, &options.anthropic)?)
    }

    fn options(options: &WriteOptions) -> &msg_anthropic::WriteOptions {
        &options.anthropic
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        messages::write(messages, &options.anthropic, out)
    }

    fn response_members(response: &msg_anthropic::MessagesResponse) -> Vec<String> {
        names(response.body.iter())
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
