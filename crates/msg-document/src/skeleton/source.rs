//! Where a conversation may come from: JSON text, or the objects of a program. Reads nothing itself.

use std::borrow::Cow;

use msg_json::Kind;

use super::MARK;

/// Texts of fewer bytes stay as they are; so does whatever a rule compares with.
pub(super) const LONG: usize = 128;

/// How the result of a call begins that stands in text (MS-10).
pub(super) const HEAD: &str = "Tool: ";

/// A place in a conversation, read from left to right as a [`Reader`](msg_json::Reader) is. Each step gives
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

    /// Reads a text of which it matters, if it is long, only whether it is blank and how it ends: a long one may be
    /// given as it is spelled in its source.
    fn brief(&mut self) -> Option<Cow<'_, str>>;

    /// Steps over a value of any kind.
    fn skip(&mut self) -> Option<()>;

    /// The byte at which the next value begins, of a source that is a text.
    fn offset(&mut self) -> usize {
        0
    }
}

/// What is kept of a text, the `n`th of a conversation.
pub(super) fn kept(text: Cow<'_, str>, n: usize) -> String {
    if text.len() < LONG || text.starts_with(HEAD) || text.trim_start().is_empty() {
        return text.into_owned();
    }
    let mut res = String::with_capacity(12);
    res.extend([MARK, digit(n / DIGITS), digit(n)]);
    res.push_str(if text.ends_with(char::is_whitespace) { " " } else { "" });
    res
}

/// A digit of a number, as a character for private use: shorter and quicker than decimal ones.
fn digit(n: usize) -> char {
    char::from_u32(0xF_0000 + (n % DIGITS) as u32).unwrap_or(MARK)
}

/// So many characters the last plane but one has.
const DIGITS: usize = 0xFFFE;
