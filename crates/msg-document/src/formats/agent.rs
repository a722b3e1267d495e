//! `AgentMessage` (MS-11): an array, or a snapshot with `messages`. Reading and writing are
//! `msg_core::agent`'s.

use msg_core::{Message, Report, agent};

use super::read_list;
use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::outline::{Outline, Record, ValueKind, is_chat};
use crate::refusal::Refusal;
use crate::wrapper::Wrapper;

pub(crate) struct Agent;

impl Codec for Agent {
    fn name(&self) -> &'static str {
        "agent"
    }

    fn about(&self) -> &'static str {
        "An array of `AgentMessage`, or a snapshot with `messages`"
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        let Some(list) = outline.messages() else { return Likelihood::No };
        if list.records().any(is_agent) {
            Likelihood::Certain
        } else if list.is_empty() || list.records().any(is_chat) {
            Likelihood::Possible
        } else {
            Likelihood::No
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        read_list(bytes, Wrapper::around(bytes, &Agent), agent::read)
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        agent::write(messages, options.agent_form, out)
    }
}

/// A role with a capital, or content that is tagged with its kind.
fn is_agent(record: &Record<'_>) -> bool {
    const TAGS: [&str; 5] = ["Text", "ToolCalls", "ToolResult", "MultiPart", "Json"];
    let tagged = record.content_object().is_some_and(|it| {
        it.kind.is_some_and(|it| it == "Text" || it == "Json") || TAGS.iter().any(|tag| it.has(tag))
    });
    let capital = record.role.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_uppercase()));
    tagged || capital && record.member("role") == Some(ValueKind::Text)
}
