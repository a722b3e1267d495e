//! The default estimate (CP-53): a price for each run of one class of characters, fitted to the
//! tokenizers in use. No vocabulary, no allocation, one pass.

mod block;

use msg_core::{Message, Part, Role};

use super::{ErrorBar, Growing, TokenCounter, chat};

/// Counts by script classes (CP-53): a few percent off for prose and code of most languages, at the
/// speed of a scan.
///
/// ```
/// use msg_compact::{TokenCounter, count::Script};
///
/// assert_eq!(Script::new().text("上下文压缩需要保持工具调用与结果成对，否则会报错。"), 22);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Script(());

impl Script {
    /// The counter.
    pub fn new() -> Self {
        Self(())
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
        Some(chat::MESSAGE)
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
        Box::new(GrowingScript { rest: chat::message(self, message) - last.tokens(), last })
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

/// The run that the text ends in.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    class: Class,
    len: u64,
    /// Of a word: letters beyond A–Z and a–z.
    extended: u64,
    /// Of a word: letters that are A–Z.
    upper: u64,
    /// Of a word: whether its last letter is A–Z.
    ends_upper: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Class {
    /// No run: characters that are priced one by one.
    #[default]
    None,
    Lower,
    Upper,
    Extended,
    Digit,
    Space,
    Break,
    Sign,
    /// U+0370–052F: Greek and Cyrillic.
    Greek,
    /// U+0590–08FF: Hebrew, Arabic and their neighbours.
    Hebrew,
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
        while let Some(head) = bytes.get(at..at + block::WORTH) {
            if !head.is_ascii() || self.run.goes_on_with(ASCII[usize::from(head[0])]) {
                break;
            }
            self.end_run();
            let priced = block::price(&bytes[at..]);
            self.ended += priced.price;
            at += priced.len;
            if priced.len == 0 {
                break;
            }
        }
        at
    }

    /// Takes the characters up to the next that is ASCII; gives the offset behind them.
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

    /// Takes the ASCII characters of one class that begin at `at`; gives the offset behind them.
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

impl Run {
    #[inline]
    fn goes_on_with(&self, class: Class) -> bool {
        match class {
            // A word ends before an A–Z that follows a letter that is none.
            Class::Upper => self.class == Class::Lower && self.ends_upper,
            Class::Lower | Class::Extended => self.class == Class::Lower,
            other => self.class == other,
        }
    }

    #[inline]
    fn extend(&mut self, class: Class, len: u64) {
        self.len += len;
        match class {
            Class::Upper => {
                self.class = Class::Lower;
                self.upper += len;
                self.ends_upper = true;
            }
            Class::Extended => {
                self.class = Class::Lower;
                self.extended += len;
                self.ends_upper = false;
            }
            other => {
                self.class = other;
                self.ends_upper = false;
            }
        }
    }

    /// Hundredths of a token (the table of CP-53).
    #[inline]
    fn price(&self) -> u64 {
        let len = self.len;
        match self.class {
            Class::None => 0,
            Class::Lower | Class::Upper | Class::Extended => self.word_price(),
            Class::Digit => 145 * len.div_ceil(3),
            Class::Space => {
                if len == 1 {
                    20
                } else {
                    85
                }
            }
            Class::Break => 60,
            Class::Sign => 80 + 11 * (len - 1),
            Class::Greek => 80 + 20 * len,
            Class::Hebrew => 80 + 35 * len,
        }
    }

    #[inline]
    fn word_price(&self) -> u64 {
        let len = self.len;
        let is_capitals = self.upper == len && len >= 2;
        let letters = if is_capitals { capitals_price(len) } else { mixed_price(len) };
        letters + 55 * self.extended
    }
}

/// Price of a word of capitals, two at least.
fn capitals_price(len: u64) -> u64 {
    90 + 10 * len
}

/// Price of any other word.
fn mixed_price(len: u64) -> u64 {
    match len {
        ..=6 => 80,
        7..=9 => 100,
        _ => 120 + 10 * (len - 9),
    }
}

/// Price of a character of no class.
const OTHER: u64 = 50;

/// The class of the runs that a character beyond ASCII belongs to.
const fn run_class(code: u32) -> Class {
    match code {
        0x00C0..=0x024F | 0x1E00..=0x1EFF => Class::Extended,
        0x0370..=0x052F => Class::Greek,
        0x0590..=0x08FF => Class::Hebrew,
        _ => Class::None,
    }
}

/// The price of a character that is in no run.
const fn price_of_one(code: u32) -> u64 {
    match code {
        0x0900..=0x10FF => 40,
        0x1100..=0x11FF | 0xAC00..=0xD7AF => 85,
        0x3000..=0x303F | 0xFF00..=0xFFEF => 30,
        0x3040..=0x30FF | 0x31F0..=0x31FF => 80,
        0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => 90,
        0x0080..=0x00BF | 0x2000..=0x206F => 125,
        0x1F000..=0x1FFFF => 150,
        _ => OTHER,
    }
}

/// The class of each ASCII character.
static ASCII: [Class; 128] = {
    let mut table = [Class::None; 128];
    let mut at = 0;
    while at < 128 {
        table[at] = match at as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b' ' | b'\t' => Class::Space,
            b'\r' | b'\n' => Class::Break,
            0x21..=0x7E => Class::Sign,
            _ => Class::None,
        };
        at += 1;
    }
    table
};

/// Prices of the characters of three bytes by their first two; 0 where the third decides, or a run.
static WIDE: [u8; 1024] = {
    let mut table = [0; 1024];
    let mut block = 0;
    while block < table.len() {
        let first = (block as u32) << 6;
        let price = price_of_one(first);
        let mut n = 0;
        while n < 64
            && price_of_one(first + n) == price
            && matches!(run_class(first + n), Class::None)
        {
            n += 1;
        }
        if n == 64 {
            table[block] = price as u8;
        }
        block += 1;
    }
    table
};
