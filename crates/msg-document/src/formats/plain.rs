//! Plain messages (MS-10): an array of `{role, content}`. Reading and writing are
//! `msg_core::plain`'s.

use msg_core::{Message, Report, plain};

use super::read_list;
use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::outline::{List, Outline, Record, ValueKind, is_chat};
use crate::refusal::Refusal;
use crate::wrapper::Wrapper;

pub(crate) struct Plain;

/// Whether results say by their first line whose they are, and no message has members for calls: those stand in the
/// text.
fn has_headed_results(list: &List<'_>) -> bool {
    const OF_CALLS: [&str; 3] = ["tool_calls", "tool_call_id", "function_call"];
    let is_result = |it: &Record<'_>| it.role == Some("tool") && it.is_headed();
    let is_plain = |it: &Record<'_>| {
        is_chat(it)
            && it.member("content") == Some(ValueKind::Text)
            && !OF_CALLS.iter().any(|name| it.has(name))
    };
    list.records().any(is_result) && list.records().all(is_plain)
}

impl Codec for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn about(&self) -> &'static str {
        "An array of `{role, content}`"
    }

    fn has_text_calls(&self) -> bool {
        true
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        if outline.list("").is_some_and(has_headed_results) {
            return Likelihood::Certain;
        }
        match outline.messages() {
            Some(list) if list.is_empty() || list.records().any(is_chat) => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        read_list(bytes, Wrapper::none(bytes, &Plain), plain::read)
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        if let Some(max_chars) = options.preview {
            plain::write_previews(messages, max_chars, out);
            return Report::new();
        }
        if !options.encode.keeps_layout() {
            messages.iter_mut().for_each(Message::clear_layout);
        }
        plain::write(messages, out)
    }
}
