//! The content of a tool result: a list of parts that is a single text most of the time.

use std::borrow::Cow;

use crate::{Part, message::join_texts};

/// What a tool gave back, as parts.
///
/// ```
/// use msg_core::Content;
///
/// let content = Content::from("42");
/// assert_eq!(content.as_text(), Some("42"));
/// assert_eq!(Content::default().as_text(), Some(""));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Content(Vec<Part>);

impl Content {
    /// The text, if the content is one plain text part (one without extra members) or nothing.
    pub fn as_text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Text(one)] if one.extra.is_empty() => Some(&one.text),
            _ => None,
        }
    }

    /// The text parts joined with nothing between them; borrowed when there is at most one.
    pub fn text(&self) -> Cow<'_, str> {
        join_texts(&self.0)
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The parts, to change.
    pub fn parts_mut(&mut self) -> &mut Vec<Part> {
        &mut self.0
    }

    /// Gives the parts away.
    pub fn into_parts(self) -> Vec<Part> {
        self.0
    }
}

impl PartialEq for Content {
    /// Nothing and one empty text are the same content: the formats cannot tell them apart.
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || (self.as_text() == Some("") && other.as_text() == Some(""))
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self(parts)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self(vec![Part::text(text)])
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
