//! The kinds of edits that make nearly JSON JSON, and sets of them.

use std::fmt;

/// What was mended in a text that is nearly JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Edit {
    /// Unquoted keys.
    Keys,
    /// Other quotes than `"`.
    Quotes,
    /// A comma that was missing, leading or trailing.
    Comma,
    /// `=` or `=>` after a key.
    Colon,
    /// `True`, `None`, `undefined`.
    Word,
    /// A number spelled as in other languages.
    Number,
    /// Comments.
    Comment,
    /// A fence of Markdown around the object.
    Fence,
    /// Special tokens of a model around the object.
    Token,
    /// Control characters in strings.
    Control,
    /// A backslash that escapes nothing.
    Escape,
    /// Unescaped quotes inside a string.
    InnerQuote,
    /// Text without quotes.
    BareText,
    /// `{{…}}`.
    DoubledBraces,
    /// An object inside a string.
    DoubleEncoded,
    /// The same object twice, or an empty one before another.
    Repeated,
    /// Closing brackets after the end.
    ExtraClose,
    /// `"a" + "b"`.
    Concatenation,
    /// A word before the object or a string.
    Prefix,
    /// White space that JSON does not have.
    WhiteSpace,
    /// A text that was cut off, closed on request.
    Completed,
}

impl Edit {
    const ALL: [(Edit, &str); 21] = [
        (Edit::Keys, "keys"),
        (Edit::Quotes, "quotes"),
        (Edit::Comma, "comma"),
        (Edit::Colon, "colon"),
        (Edit::Word, "word"),
        (Edit::Number, "number"),
        (Edit::Comment, "comment"),
        (Edit::Fence, "fence"),
        (Edit::Token, "token"),
        (Edit::Control, "control"),
        (Edit::Escape, "escape"),
        (Edit::InnerQuote, "inner-quote"),
        (Edit::BareText, "bare-text"),
        (Edit::DoubledBraces, "doubled-braces"),
        (Edit::DoubleEncoded, "double-encoded"),
        (Edit::Repeated, "repeated"),
        (Edit::ExtraClose, "extra-close"),
        (Edit::Concatenation, "concatenation"),
        (Edit::Prefix, "prefix"),
        (Edit::WhiteSpace, "white-space"),
        (Edit::Completed, "completed"),
    ];
}

/// A set of edits; its text is their names, with commas between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Edits(u32);

impl Edits {
    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether an edit is one of them.
    pub fn contains(self, edit: Edit) -> bool {
        self.0 & 1 << edit as u8 != 0
    }

    pub(super) fn add(&mut self, edit: Edit) {
        self.0 |= 1 << edit as u8;
    }
}

impl fmt::Display for Edits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for (edit, name) in Edit::ALL {
            if self.contains(edit) {
                write!(f, "{between}{name}")?;
                between = ", ";
            }
        }
        Ok(())
    }
}
