//! Where a conversation may come from: JSON text, or the objects of a program. Reads nothing itself.

use std::borrow::Cow;

use msg_core::json::Kind;

use super::MARK;

/// Texts of fewer bytes stay as they are; so does whatever a rule compares with.
pub(super) const LONG: usize = 128;

/// How the result of a call begins that stands in text (MS-10).
pub(super) const HEAD: &str = "Tool: ";

/// A place in a conversation, read from left to right as a [`Reader`](msg_core::json::Reader) is. Each step gives
/// nothing where the value is another, or is nothing that JSON can say.
pub trait Source {
    /// The kind of the value that stands here.
    fn kind(&mut self) -> Option<Kind>;

    /// Steps through an object. `member` reads or skips the value of each name.
    fn object(&mut self, member: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()>;

    /// Steps through a list. `item` reads or skips each value.
    fn list(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()>;

    /// Reads a text whole.
    fn text(&mut self) -> Option<Cow<'_, str>>;

    /// Reads a text of which only the kind matters.
    fn brief(&mut self) -> Option<Brief>;

    /// Steps over a value of any kind.
    fn skip(&mut self) -> Option<()>;
}

/// What is kept of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brief {
    /// All of it: it is short, or blank.
    Whole(String),
    /// A long one, which ends in white space or not.
    Long {
        /// Its last character is white space.
        ends_blank: bool,
    },
}

impl Brief {
    /// What is kept of a text.
    pub fn of(text: &str) -> Self {
        if text.len() < LONG || text.starts_with(HEAD) || text.trim_start().is_empty() {
            Brief::Whole(text.to_owned())
        } else {
            Brief::Long { ends_blank: text.ends_with(char::is_whitespace) }
        }
    }

    /// The text that stands for the `n`th text of a conversation.
    pub(super) fn into_text(self, n: usize) -> String {
        let ends_blank = match self {
            Brief::Whole(text) => return text,
            Brief::Long { ends_blank } => ends_blank,
        };
        let mut res = String::with_capacity(12);
        res.extend([MARK, digit(n / DIGITS), digit(n)]);
        res.push_str(if ends_blank { " " } else { "" });
        res
    }
}

/// A digit of a number, as a character for private use: shorter and quicker than decimal ones.
fn digit(n: usize) -> char {
    char::from_u32(0xF_0000 + (n % DIGITS) as u32).unwrap_or(MARK)
}

/// So many characters the last plane but one has.
const DIGITS: usize = 0xFFFE;
