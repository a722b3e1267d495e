//! What compaction asks of each message besides its cost, noted while the message is counted and at
//! hand, so that planning looks at no message that it does not change.

use msg_chainast::{BodyPairKind, constants::SUMMARIZATION_TOOL_NAME};
use msg_core::{Message, Part, ToolResult};

/// Facts about one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    flags: u8,
    /// Bytes of a plain result's message besides the result's content.
    around: u32,
}

const HAS_REASONING: u8 = 1;
const HAS_CALLS: u8 = 2;
const SUMMARIZATION: u8 = 4;
const PLAIN_RESULT: u8 = 8;
const NAMED_RESULT: u8 = 16;

impl Facts {
    pub(crate) fn of(message: &Message) -> Self {
        let mut facts = Self::default();
        for part in &message.parts {
            match part {
                Part::Reasoning(_) => facts.flags |= HAS_REASONING,
                Part::ToolCall(it) => {
                    if facts.flags & HAS_CALLS == 0 && it.name == SUMMARIZATION_TOOL_NAME {
                        facts.flags |= SUMMARIZATION;
                    }
                    facts.flags |= HAS_CALLS;
                    if it.signature.is_some() {
                        facts.flags |= HAS_REASONING;
                    }
                }
                _ => {}
            }
        }
        if let Some(result) = plain_result(message)
            && let Ok(around) = u32::try_from(result.size() - result.content.size())
        {
            facts.flags |= PLAIN_RESULT;
            if result.name.is_some() {
                facts.flags |= NAMED_RESULT;
            }
            facts.around = around;
        }
        facts
    }

    /// What an assistant message asks for.
    pub(crate) fn kind(self) -> BodyPairKind {
        if self.flags & SUMMARIZATION != 0 {
            BodyPairKind::Summarization
        } else if self.flags & HAS_CALLS != 0 {
            BodyPairKind::RequestResponse
        } else {
            BodyPairKind::Completion
        }
    }

    /// Whether there are reasoning parts or call signatures.
    pub(crate) fn has_reasoning(self) -> bool {
        self.flags & HAS_REASONING != 0
    }

    /// The facts once reasoning and call signatures are gone.
    pub(crate) fn without_reasoning(self) -> Self {
        Self { flags: self.flags & !HAS_REASONING, ..self }
    }

    /// Bytes besides the content of the one result that the message consists of; none if it is something
    /// else, or more than one text.
    pub(crate) fn bytes_around_output(self) -> Option<u64> {
        (self.flags & PLAIN_RESULT != 0).then_some(u64::from(self.around))
    }

    /// Whether that result has a name of its own.
    pub(crate) fn is_named_result(self) -> bool {
        self.flags & NAMED_RESULT != 0
    }
}

fn plain_result(message: &Message) -> Option<&ToolResult> {
    let [Part::ToolResult(result)] = message.parts.as_slice() else { return None };
    (message.name.is_none() && result.content.as_text().is_some()).then_some(result)
}
