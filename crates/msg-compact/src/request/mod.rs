//! What a summariser is asked (CP-25): the messages, what they are about, how long the answer may
//! be. It is plain data: who asks whom, and when, is the caller's; how it reads for a model is the
//! prompt's.

mod prompt;

use std::ops::Range;

use msg_core::{Message, Part};

use crate::{
    TokenIndex,
    budget::Unit,
    state::Shared,
    text::{Fnv, truncate_output},
    token_index::Cost,
};

/// A summary that is wanted. It shares the messages of the chain that is compacted, and can go to another
/// thread; its [prompt](SummaryRequest::prompt) goes anywhere.
#[derive(Debug, Clone)]
pub struct SummaryRequest<'a> {
    pub(crate) id: u32,
    pub(crate) policy: &'static str,
    pub(crate) replaces: Range<usize>,
    /// The context, then the source.
    pub(crate) messages: Vec<Shared<'a>>,
    /// How many of them are the context.
    pub(crate) n_context: usize,
    /// What the answer's replacement has to be cheaper than.
    pub(crate) replaced: Cost,
    pub(crate) target: u64,
    pub(crate) max: u64,
    pub(crate) prompt: PromptLimit<'a>,
}

/// What a prompt may cost (CP-25).
#[derive(Debug, Clone, Copy)]
pub(crate) struct PromptLimit<'a> {
    pub(crate) index: &'a TokenIndex,
    pub(crate) unit: Unit,
    pub(crate) most: u64,
}

impl SummaryRequest<'_> {
    /// Its number within its compaction, to answer it by.
    pub fn id(&self) -> u32 {
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
    pub fn context(&self) -> impl Iterator<Item = &Message> + Clone {
        self.messages[..self.n_context].iter().map(|it| &**it)
    }

    /// The messages to summarise.
    pub fn source(&self) -> impl Iterator<Item = &Message> + Clone {
        self.messages[self.n_context..].iter().map(|it| &**it)
    }

    /// Bytes of what the summary will replace.
    pub fn replaced_bytes(&self) -> u64 {
        self.replaced.bytes
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
        source_text(self.source())
    }

    /// FNV-1a with 64 bits of the source text.
    pub fn source_hash(&self) -> u64 {
        let mut hash = Fnv::new();
        write_source(&mut hash, self.source());
        hash.finish()
    }

    /// What tells a request from others: two of one policy with the same source text are the same (CP-26).
    pub(crate) fn key(&self) -> u64 {
        let mut hash = Fnv::new();
        hash.push_str(self.policy);
        hash.push_str("\n");
        write_source(&mut hash, self.source());
        hash.finish()
    }
}

/// Where text goes: into a string, or into a hash of it.
pub(crate) trait Sink {
    fn push_str(&mut self, text: &str);
}

impl Sink for String {
    fn push_str(&mut self, text: &str) {
        self.push_str(text);
    }
}

pub(crate) fn source_text<'m>(messages: impl Iterator<Item = &'m Message>) -> String {
    let mut text = String::new();
    write_source(&mut text, messages);
    text
}

fn write_source<'m>(out: &mut impl Sink, messages: impl Iterator<Item = &'m Message>) {
    for message in messages {
        out.push_str(message.role.as_str());
        out.push_str("\n");
        message.parts.iter().for_each(|it| write_part(out, it, usize::MAX));
    }
}

pub(crate) fn write_part(out: &mut impl Sink, part: &Part, cap: usize) {
    match part {
        Part::Text(it) | Part::Refusal(it) => {
            out.push_str(&it.text);
            out.push_str("\n");
        }
        Part::ToolCall(it) => {
            out.push_str(&it.name);
            out.push_str(" ");
            out.push_str(it.arguments.text());
            out.push_str("\n");
        }
        Part::ToolResult(it) => {
            for part in it.content.parts() {
                match part {
                    Part::Text(it) if it.text.len() > cap => {
                        out.push_str(&truncate_output(&it.text, cap, 50));
                        out.push_str("\n");
                    }
                    other => write_part(out, other, cap),
                }
            }
        }
        _ => {}
    }
}
