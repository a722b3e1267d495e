//! The estimate of an agent that counts bytes (CP-51): a quarter of them, and a fixed price a
//! message.

use msg_core::{Message, Part, Role, ToolResult};

use super::{ErrorBar, TokenCounter, ToolSpec, media};

/// ⌊bytes / 4⌋ + 4 a message, 10 a tool message; 10 more where a message holds tool calls (CP-51).
#[derive(Debug, Clone, Copy, Default)]
pub struct Forge;

const MESSAGE: u64 = 4;
const TOOL_MESSAGE: u64 = 10;
const HAS_CALLS: u64 = 10;

/// The opening tag of a call in markup; compared with its case.
const CALL_TAG: &str = "<tool>";

/// What [`TokenCounter::message`] adds up before it divides.
#[derive(Default)]
struct Sums {
    bytes: usize,
    has_calls: bool,
    media: u64,
}

impl TokenCounter for Forge {
    fn name(&self) -> &str {
        "forge"
    }

    fn text(&self, text: &str) -> u64 {
        text.len() as u64 / 4
    }

    fn message(&self, message: &Message) -> u64 {
        let mut sums = Sums::default();
        message.parts.iter().for_each(|it| self.add(&mut sums, it));
        let frame = if message.role == Role::Tool { TOOL_MESSAGE } else { MESSAGE };
        let calls = if sums.has_calls { HAS_CALLS } else { 0 };
        sums.bytes as u64 / 4 + frame + calls + sums.media
    }

    fn tool_output(&self, result: &ToolResult) -> u64 {
        let parts = result.content.parts().iter();
        parts
            .map(|it| match it {
                Part::Text(it) => self.text(&it.text),
                other => media::tokens(&self.media(), other),
            })
            .sum()
    }

    fn request(&self, _tools: &[ToolSpec]) -> u64 {
        0
    }

    fn error_bar(&self) -> Option<ErrorBar> {
        Some(ErrorBar { mean: 16.0, p95: 39.0 })
    }
}

impl Forge {
    fn add(&self, sums: &mut Sums, part: &Part) {
        match part {
            Part::Text(it) | Part::Refusal(it) => {
                sums.bytes += it.text.len();
                sums.has_calls = sums.has_calls || it.text.contains(CALL_TAG);
            }
            Part::ToolCall(it) => {
                sums.bytes += it.name.len() + it.arguments.text().len();
                sums.has_calls = true;
            }
            Part::ToolResult(it) => it.content.parts().iter().for_each(|it| self.add(sums, it)),
            _ => sums.media += media::tokens(&self.media(), part),
        }
    }
}
