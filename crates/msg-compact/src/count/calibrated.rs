//! A counter corrected by what the provider reported (CP-57).

use msg_core::Message;

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
