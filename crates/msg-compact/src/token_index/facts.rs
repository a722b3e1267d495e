//! What compaction asks of each message besides its cost, noted while the message is counted and at
//! hand, so that planning looks at no message that it does not change.

use msg_chainast::{BodyPairKind, constants::SUMMARIZATION_TOOL_NAME};
use msg_core::{Message, Part};

/// Facts about one message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// What an assistant message asks for.
    pub(crate) kind: BodyPairKind,
    /// Whether there are reasoning parts or call signatures.
    pub(crate) has_reasoning: bool,
    /// Of a message that is one result of one text: what is around the text.
    pub(crate) around_output: Option<AroundOutput>,
}

/// What a message of one plain result has besides the result's content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AroundOutput {
    pub(crate) bytes: u32,
    /// Whether the result has a name of its own.
    pub(crate) is_named: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Facts { kind: BodyPairKind::Completion, has_reasoning: false, around_output: None }
    }
}

impl Facts {
    pub(crate) fn of(message: &Message) -> Self {
        let kind = match message.tool_calls().next() {
            None => BodyPairKind::Completion,
            Some(it) if it.name == SUMMARIZATION_TOOL_NAME => BodyPairKind::Summarization,
            Some(_) => BodyPairKind::RequestResponse,
        };
        let has_reasoning = message.parts.iter().any(|it| match it {
            Part::Reasoning(_) => true,
            Part::ToolCall(it) => it.signature.is_some(),
            _ => false,
        });
        Facts { kind, has_reasoning, around_output: around_output(message) }
    }

    /// The facts once reasoning and call signatures are gone.
    pub(crate) fn without_reasoning(self) -> Self {
        Facts { has_reasoning: false, ..self }
    }
}

fn around_output(message: &Message) -> Option<AroundOutput> {
    let [Part::ToolResult(result)] = message.parts.as_slice() else { return None };
    let is_plain = message.name.is_none() && result.content.as_text().is_some();
    let bytes = u32::try_from(result.size() - result.content.size()).ok();
    let bytes = bytes.filter(|_| is_plain)?;
    Some(AroundOutput { bytes, is_named: result.name.is_some() })
}
