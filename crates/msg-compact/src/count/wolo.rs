//! The estimate of an agent that tells Chinese characters from the rest (CP-52).

use msg_core::{Message, Part, Role, ToolResult};

use super::{ErrorBar, TokenCounter, ToolSpec, media};

/// ⌊(8·han + 3·other) / 12⌋ a text, at least 1; 10 a message, 20 a call (CP-52).
#[derive(Debug, Clone, Copy, Default)]
pub struct Wolo;

const MESSAGE: u64 = 10;
const CALL: u64 = 20;

impl TokenCounter for Wolo {
    fn name(&self) -> &str {
        "wolo"
    }

    fn text(&self, text: &str) -> u64 {
        if text.is_empty() {
            return 0;
        }
        let (han, other) = text.chars().fold((0u64, 0u64), |(han, other), it| match it {
            '\u{4E00}'..='\u{9FFF}' => (han + 1, other),
            _ => (han, other + 1),
        });
        ((8 * han + 3 * other) / 12).max(1)
    }

    fn message(&self, message: &Message) -> u64 {
        let frame = self.frame(&message.role).unwrap_or_default();
        frame + message.parts.iter().map(|it| self.part(it)).sum::<u64>()
    }

    fn tool_output(&self, result: &ToolResult) -> u64 {
        result.content.parts().iter().map(|it| self.part(it)).sum()
    }

    fn frame(&self, role: &Role) -> Option<u64> {
        // A tool message is its texts alone (CP-52).
        Some(if *role == Role::Tool { 0 } else { MESSAGE })
    }

    fn request(&self, _tools: &[ToolSpec]) -> u64 {
        0
    }

    fn error_bar(&self) -> Option<ErrorBar> {
        Some(ErrorBar { mean: 16.0, p95: 39.0 })
    }
}

impl Wolo {
    fn part(&self, part: &Part) -> u64 {
        match part {
            Part::Text(it) | Part::Refusal(it) => self.text(&it.text),
            Part::ToolCall(it) => CALL + self.arguments(it.arguments.text()),
            Part::ToolResult(it) => it.content.parts().iter().map(|it| self.part(it)).sum(),
            _ => media::tokens(&self.media(), part),
        }
    }

    fn arguments(&self, text: &str) -> u64 {
        match text.trim() {
            "" | "{}" => 0,
            _ => self.text(text),
        }
    }
}
