//! What a counter is (CP-50), and a count that grows with its text.

use msg_core::{Message, Role, ToolResult};

use super::{MediaRates, ToolSpec, chat, tools};

/// Says how many tokens texts, messages and requests cost (CP-50).
///
/// A total is `request` + the sum over the messages; it is the number that every limit, trigger and
/// report of this crate uses.
///
/// ```
/// use msg_compact::{TokenCounter, count};
/// use msg_core::{Message, Role, ToolResult};
///
/// assert_eq!(count::Forge.message(&Message::user("Hello")), 5);
/// assert_eq!(count::Script::new().text("the quick brown fox"), 4);
/// ```
pub trait TokenCounter: Send + Sync {
    /// Its name, as the program takes it: `script`, `forge`, `wolo`, `o200k` …
    fn name(&self) -> &str;

    /// Tokens of a text. Linear in it.
    fn text(&self, text: &str) -> u64;

    /// Tokens of a message with what a message costs besides its text; the chat rule of CP-53 unless
    /// a counter has its own.
    fn message(&self, message: &Message) -> u64 {
        chat::message(self, message)
    }

    /// Tokens of a result's content, without the message around it.
    fn tool_output(&self, result: &ToolResult) -> u64 {
        result.content.parts().iter().map(|it| chat::part(self, it)).sum()
    }

    /// What a message of this role without a name costs besides its parts, for a counter that adds the
    /// costs of parts up: a message whose parts change needs no counting of those that stay then. None
    /// where a message is more or less than the sum of its parts, or its parts are not known to add up.
    fn frame(&self, role: &Role) -> Option<u64> {
        let _ = role;
        None
    }

    /// What a request costs besides its messages: priming the reply, and the tool definitions
    /// (CP-50, CP-56).
    fn request(&self, tools: &[ToolSpec]) -> u64 {
        chat::REPLY_PRIMING + tools::tokens(self, tools)
    }

    /// What one tool definition costs besides its texts (CP-56).
    fn tool_overhead(&self) -> u64 {
        7
    }

    /// What images, sound and files cost (CP-55).
    fn media(&self) -> MediaRates {
        MediaRates::default()
    }

    /// How far off the counts are; none for an exact counter.
    fn error_bar(&self) -> Option<ErrorBar>;

    /// A count of this message that grows with its last text. The default keeps a copy of the
    /// message and counts it anew at each step; counters that can go on do better.
    fn growing(&self, message: &Message) -> Box<dyn Growing> {
        Box::new(Recounted { message: message.clone() })
    }
}

/// How far a counter's numbers are from the tokenizers of the providers, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBar {
    /// Mean error of a text.
    pub mean: f32,
    /// Nineteen of twenty texts are within this.
    pub p95: f32,
}

/// The count of a message whose last text grows, as while a stream arrives.
pub trait Growing: Send + Sync {
    /// Adds to the last text; gives the tokens of the whole message. `counter` is the one that made
    /// this count.
    fn extend(&mut self, text: &str, counter: &dyn TokenCounter) -> u64;
}

struct Recounted {
    message: Message,
}

impl Growing for Recounted {
    fn extend(&mut self, text: &str, counter: &dyn TokenCounter) -> u64 {
        chat::extend_last_text(&mut self.message, text);
        counter.message(&self.message)
    }
}
