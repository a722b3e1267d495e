//! The default estimate (CP-53): a price for each run of one class of characters, fitted to the
//! tokenizers in use. No vocabulary, no allocation, one pass.

use msg_core::{Message, Part, Role};

use super::{
    ErrorBar, Growing, MediaRates, TokenCounter,
    runs::{self, ASCII, Class, OTHER, Run, WIDE, price_of_one, run_class},
};
use crate::count;

/// Counts by script classes (CP-53): a few percent off for prose and code of most languages, at the
/// speed of a scan.
///
/// ```
/// use msg_compact::{TokenCounter, count::Script};
///
/// assert_eq!(Script::new().text("上下文压缩需要保持工具调用与结果成对，否则会报错。"), 22);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Script {
    media: MediaRates,
}

impl Script {
    /// The counter.
    pub fn new() -> Self {
        Self::default()
    }

    /// With images, sound and files counted by these formulas.
    #[must_use]
    pub fn with_media(self, media: MediaRates) -> Self {
        Self { media }
    }
}

impl TokenCounter for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn text(&self, text: &str) -> u64 {
        let mut count = ScriptCount::default();
        count.push(text);
        count.tokens()
    }

    fn frame(&self, _role: &Role) -> Option<u64> {
        Some(count::MESSAGE)
    }

    fn media(&self) -> MediaRates {
        self.media
    }

    fn error_bar(&self) -> Option<ErrorBar> {
        Some(ErrorBar { mean: 6.0, p95: 17.0 })
    }

    fn growing(&self, message: &Message) -> Box<dyn Growing> {
        let text = match message.parts.last() {
            Some(Part::ToolResult(it)) => it.content.parts().last().and_then(last_text),
            Some(part) => last_text(part),
            None => None,
        };
        let mut last = ScriptCount::default();
        last.push(text.unwrap_or_default());
        Box::new(GrowingScript { rest: count::chat_message(self, message) - last.tokens(), last })
    }
}

fn last_text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(it) | Part::Refusal(it) => Some(&it.text),
        _ => None,
    }
}

struct GrowingScript {
    /// Tokens of the message without its last text.
    rest: u64,
    last: ScriptCount,
}

impl Growing for GrowingScript {
    fn extend(&mut self, text: &str, _counter: &dyn TokenCounter) -> u64 {
        self.last.push(text);
        self.rest + self.last.tokens()
    }
}

/// A count that goes on: fed whole or in pieces, the number is the same.
///
/// ```
/// use msg_compact::count::ScriptCount;
///
/// let mut count = ScriptCount::default();
/// count.push("inter");
/// count.push("national");
/// assert_eq!(count.tokens(), 2);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ScriptCount {
    /// Hundredths of all runs that have ended.
    ended: u64,
    run: Run,
}

impl ScriptCount {
    /// Adds text. Linear in it, without an allocation.
    pub fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte < 0x80 {
                at += self.push_block(&bytes[at..]);
                at = self.push_ascii(bytes, at);
            } else {
                at = self.push_wide(bytes, at);
            }
        }
    }

    /// Takes as many runs of ASCII as a block shows to the end; gives their bytes.
    #[inline]
    fn push_block(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(head) = bytes.get(at..at + runs::WORTH) {
            if !head.is_ascii() || self.run.goes_on_with(ASCII[usize::from(head[0])]) {
                break;
            }
            self.end_run();
            let priced = runs::price(&bytes[at..]);
            self.ended += priced.price;
            at += priced.len;
            if priced.len == 0 {
                break;
            }
        }
        at
    }

    /// Takes the characters up to the next that is ASCII; gives the offset after them.
    #[inline]
    fn push_wide(&mut self, bytes: &[u8], mut at: usize) -> usize {
        let low = |byte: u8| u32::from(byte & 0x3F);
        loop {
            match bytes[at..] {
                [a @ 0xC0..=0xDF, b, ..] => {
                    self.push_other(u32::from(a & 0x1F) << 6 | low(b));
                    at += 2;
                }
                [a @ 0xE0..=0xEF, b, c, ..] => {
                    let first = u32::from(a & 0x0F) << 6 | low(b);
                    match WIDE[first as usize] {
                        0 => self.push_other(first << 6 | low(c)),
                        price => {
                            self.end_run();
                            self.ended += u64::from(price);
                        }
                    }
                    at += 3;
                }
                [a @ 0xF0..=0xFF, b, c, d, ..] => {
                    self.push_other(u32::from(a & 7) << 18 | low(b) << 12 | low(c) << 6 | low(d));
                    at += 4;
                }
                _ => return at,
            }
        }
    }

    /// Tokens of all that was added, rounded up.
    pub fn tokens(&self) -> u64 {
        (self.ended + self.run.price()).div_ceil(100)
    }

    /// Takes the ASCII characters of one class that begin at `at`; gives the offset after them.
    #[inline]
    fn push_ascii(&mut self, bytes: &[u8], at: usize) -> usize {
        let class = ASCII[usize::from(bytes[at])];
        if class == Class::None {
            self.end_run();
            self.ended += OTHER;
            return at + 1;
        }
        let same = |it: &&u8| **it < 0x80 && ASCII[usize::from(**it)] == class;
        let len = 1 + bytes[at + 1..].iter().take_while(same).count();
        self.extend_run(class, len as u64);
        at + len
    }

    /// Takes a character that is not ASCII.
    fn push_other(&mut self, code: u32) {
        match run_class(code) {
            Class::None => {
                self.end_run();
                self.ended += price_of_one(code);
            }
            class => self.extend_run(class, 1),
        }
    }

    #[inline]
    fn extend_run(&mut self, class: Class, len: u64) {
        if !self.run.goes_on_with(class) {
            self.end_run();
        }
        self.run.extend(class, len);
    }

    #[inline]
    fn end_run(&mut self) {
        if self.run.class != Class::None {
            self.ended += self.run.price();
            self.run = Run::default();
        }
    }
}
