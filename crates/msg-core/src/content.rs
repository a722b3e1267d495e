//! The content of a tool result: a list of parts that is a single text most of the time.

use std::{borrow::Cow, fmt, sync::Arc};

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
#[derive(Clone)]
pub struct Content(Parts);

/// Who holds the parts.
#[derive(Clone)]
enum Parts {
    /// This content alone.
    Own(Vec<Part>),
    /// Every content that was made of the same list; whoever changes it makes a copy first.
    Shared(Arc<[Part]>),
}

impl Content {
    /// The text, if the content is one plain text part (one without extra members) or nothing.
    pub fn as_text(&self) -> Option<&str> {
        match self.parts() {
            [] => Some(""),
            [Part::Text(one)] if one.extra.is_empty() => Some(&one.text),
            _ => None,
        }
    }

    /// The text parts joined with nothing between them; borrowed when there is at most one.
    pub fn text(&self) -> Cow<'_, str> {
        join_texts(self.parts())
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[Part] {
        match &self.0 {
            Parts::Own(it) => it,
            Parts::Shared(it) => it,
        }
    }

    /// The parts, to change.
    pub fn parts_mut(&mut self) -> &mut Vec<Part> {
        if let Parts::Shared(it) = &self.0 {
            self.0 = Parts::Own(it.to_vec());
        }
        match &mut self.0 {
            Parts::Own(it) => it,
            Parts::Shared(_) => unreachable!("because a copy was just made"),
        }
    }

    /// Gives the parts away.
    pub fn into_parts(self) -> Vec<Part> {
        match self.0 {
            Parts::Own(it) => it,
            Parts::Shared(it) => it.to_vec(),
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Content").field(&self.parts()).finish()
    }
}

impl PartialEq for Content {
    /// Nothing and one empty text are the same content: the formats cannot tell them apart.
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts() || (self.as_text() == Some("") && other.as_text() == Some(""))
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self(Parts::Own(parts))
    }
}

/// One content for many results, such as a sentence that stands for those that never came: the parts are
/// shared, and copied by whoever changes them.
///
/// ```
/// use msg_core::{Content, Part};
/// use std::sync::Arc;
///
/// let lost: Arc<[Part]> = Arc::new([Part::text("no answer")]);
/// let mut one = Content::from(Arc::clone(&lost));
/// one.parts_mut().clear();
/// assert_eq!(Content::from(lost).as_text(), Some("no answer"));
/// ```
impl From<Arc<[Part]>> for Content {
    fn from(parts: Arc<[Part]>) -> Self {
        Self(Parts::Shared(parts))
    }
}

impl FromIterator<Part> for Content {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        Self::from(parts.into_iter().collect::<Vec<_>>())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::from(vec![Part::text(text)])
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
