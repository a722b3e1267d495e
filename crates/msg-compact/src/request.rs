//! What a summariser is asked (CP-25): the messages, what they are about, how long the answer may
//! be. It is plain data: who asks whom, and when, is the caller's; how it reads for a model is the
//! prompt's.

use std::ops::Range;

use msg_core::{Message, Part};

use crate::{
    error::PromptTooLong,
    text::{fnv1a, truncate_output},
};

/// The number of a request within its compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub(crate) u32);

impl RequestId {
    /// The number itself.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A summary that is wanted. Owns its messages, so that it can go to another thread.
#[derive(Debug, Clone)]
pub struct SummaryRequest {
    pub(crate) id: RequestId,
    pub(crate) policy: &'static str,
    pub(crate) replaces: Range<usize>,
    pub(crate) context: Vec<Message>,
    pub(crate) source: Vec<Message>,
    pub(crate) replaced_bytes: u64,
    pub(crate) target: u64,
    pub(crate) max: u64,
    /// Bytes that the texts of its prompt may have (CP-25).
    pub(crate) prompt_room: usize,
    /// Why there is no prompt.
    pub(crate) prompt_too_long: Option<PromptTooLong>,
}

impl SummaryRequest {
    /// Its number, to answer it by.
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// The policy that asks.
    pub fn policy(&self) -> &'static str {
        self.policy
    }

    /// The input messages that the summary will stand for.
    pub fn replaces(&self) -> Range<usize> {
        self.replaces.clone()
    }

    /// User messages that tell what the work is about; for understanding only.
    pub fn context(&self) -> &[Message] {
        &self.context
    }

    /// The messages to summarise.
    pub fn source(&self) -> &[Message] {
        &self.source
    }

    /// Bytes of what the summary will replace.
    pub fn replaced_bytes(&self) -> u64 {
        self.replaced_bytes
    }

    /// How long the answer should be, in the budget's unit.
    pub fn target(&self) -> u64 {
        self.target
    }

    /// The longest answer that can be used, in the budget's unit.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The source as one text: for each message its role, texts, and calls, a line each (CP-66).
    ///
    /// Two requests of one policy with the same source text are the same request (CP-26).
    pub fn source_text(&self) -> String {
        source_text(&self.source)
    }

    /// FNV-1a with 64 bits of the source text.
    pub fn source_hash(&self) -> u64 {
        fnv1a(&[&self.source_text()])
    }
}

pub(crate) fn source_text(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        text.push_str(message.role.as_str());
        text.push('\n');
        message.parts.iter().for_each(|it| write_part(&mut text, it, usize::MAX));
    }
    text
}

pub(crate) fn write_part(out: &mut String, part: &Part, cap: usize) {
    match part {
        Part::Text(it) | Part::Refusal(it) => {
            out.push_str(&it.text);
            out.push('\n');
        }
        Part::ToolCall(it) => {
            out.push_str(&it.name);
            out.push(' ');
            out.push_str(it.arguments.text());
            out.push('\n');
        }
        Part::ToolResult(it) => {
            for part in it.content.parts() {
                match part {
                    Part::Text(it) if it.text.len() > cap => {
                        out.push_str(&truncate_output(&it.text, cap, 50));
                        out.push('\n');
                    }
                    other => write_part(out, other, cap),
                }
            }
        }
        _ => {}
    }
}
