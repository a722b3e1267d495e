//! The counters besides `script`: the estimates of two shipped agents (CP-51, CP-52), and a counter corrected by
//! what the provider reported (CP-57). Exact counts are in `bpe`.

use msg_core::{Message, Part, Role, ToolResult};

use super::{ErrorBar, MediaRates, TokenCounter, ToolSpec};

/// How many reported tokens there are to an estimated one, between a half and three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// One to one.
    pub const ONE: Ratio = Ratio { numerator: 1, denominator: 1 };

    /// The ratio of a provider's prompt tokens to the own count of the same messages, clamped to
    /// 1/2..3; one to one if either is 0.
    pub fn new(reported: u64, counted: u64) -> Self {
        match (reported, counted) {
            (0, _) | (_, 0) => Self::ONE,
            _ if u128::from(reported) * 2 < u128::from(counted) => {
                Self { numerator: 1, denominator: 2 }
            }
            _ if u128::from(reported) > u128::from(counted) * 3 => {
                Self { numerator: 3, denominator: 1 }
            }
            _ => Self { numerator: reported, denominator: counted },
        }
    }

    fn apply(self, count: u64) -> u64 {
        let scaled = u128::from(count) * u128::from(self.numerator);
        u64::try_from(scaled.div_ceil(u128::from(self.denominator))).unwrap_or(u64::MAX)
    }
}

/// Another counter with every message, text and base multiplied by a ratio and rounded up (CP-57). An
/// output is the sum of its texts, each rounded by itself.
///
/// ```
/// use msg_compact::{TokenCounter, count::{Calibrated, Script}};
/// use msg_core::{Message, ToolResult};
///
/// let sent = [Message::user("What is the capital of France?")];
/// let counter = Calibrated::from_usage(Box::new(Script::new()), &sent, &[], 28);
/// assert_eq!(Script::new().message(&sent[0]) + Script::new().request(&[]), 14);
/// assert_eq!(counter.message(&sent[0]) + counter.request(&[]), 28);
/// ```
pub struct Calibrated {
    counter: Box<dyn TokenCounter>,
    ratio: Ratio,
}

impl Calibrated {
    /// A counter with this ratio.
    pub fn new(counter: Box<dyn TokenCounter>, ratio: Ratio) -> Self {
        Self { counter, ratio }
    }

    /// A counter calibrated by the prompt tokens that the provider reported last, for exactly these
    /// messages and tools. 0 calibrates nothing.
    pub fn from_usage(
        counter: Box<dyn TokenCounter>,
        sent: &[Message],
        tools: &[ToolSpec],
        prompt_tokens: u64,
    ) -> Self {
        let messages: u64 = sent.iter().map(|it| counter.message(it)).sum();
        let ratio = Ratio::new(prompt_tokens, messages + counter.request(tools));
        Self::new(counter, ratio)
    }

    /// The ratio in use.
    pub fn ratio(&self) -> Ratio {
        self.ratio
    }
}

impl std::fmt::Debug for Calibrated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Calibrated").field(&self.name()).field(&self.ratio).finish()
    }
}

impl TokenCounter for Calibrated {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn text(&self, text: &str) -> u64 {
        self.ratio.apply(self.counter.text(text))
    }

    fn message(&self, message: &Message) -> u64 {
        self.ratio.apply(self.counter.message(message))
    }

    fn request(&self, tools: &[ToolSpec]) -> u64 {
        self.ratio.apply(self.counter.request(tools))
    }

    fn tool_overhead(&self) -> u64 {
        self.counter.tool_overhead()
    }

    fn media(&self) -> MediaRates {
        self.counter.media()
    }

    fn error_bar(&self) -> Option<ErrorBar> {
        self.counter.error_bar()
    }
}

// The estimate of an agent that counts bytes (CP-51): a quarter of them, and a fixed price a
// message.

/// ⌊bytes / 4⌋ + 4 a message, 10 a tool message; 10 more where a message holds tool calls (CP-51).
#[derive(Debug, Clone, Copy, Default)]
pub struct Forge;

const FORGE_MESSAGE: u64 = 4;
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
        let frame = if message.role == Role::Tool { TOOL_MESSAGE } else { FORGE_MESSAGE };
        let calls = if sums.has_calls { HAS_CALLS } else { 0 };
        sums.bytes as u64 / 4 + frame + calls + sums.media
    }

    fn tool_output(&self, result: &ToolResult) -> u64 {
        let parts = result.content.parts().iter();
        parts
            .map(|it| match it {
                Part::Text(it) => self.text(&it.text),
                other => self.media().tokens(other),
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
            _ => sums.media += self.media().tokens(part),
        }
    }
}

// The estimate of an agent that tells Chinese characters from the rest (CP-52).

/// ⌊(8·han + 3·other) / 12⌋ a text, at least 1; 10 a message, 20 a call (CP-52).
#[derive(Debug, Clone, Copy, Default)]
pub struct Wolo;

const WOLO_MESSAGE: u64 = 10;
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
        Some(if *role == Role::Tool { 0 } else { WOLO_MESSAGE })
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
            _ => self.media().tokens(part),
        }
    }

    fn arguments(&self, text: &str) -> u64 {
        match text.trim() {
            "" | "{}" => 0,
            _ => self.text(text),
        }
    }
}
