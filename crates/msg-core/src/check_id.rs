//! Which ids can serve as names of files (MS-25).
//!
//! Ids of calls are opaque text everywhere else: nothing checks or changes them on their way.

/// The most characters of an id that becomes a file name.
const MAX_ID_CHARS: usize = 128;

/// Accepts an id that is safe as the name of a file (MS-25): 1 to 128 characters, no `/`, `\`,
/// control character or `..`, and no dot at the start.
///
/// # Errors
/// [`IdError`], naming the first rule that the text breaks.
///
/// ```
/// use msg_core::{IdError, check_id};
/// assert_eq!(check_id("msg_001"), Ok(()));
/// assert_eq!(check_id("../../evil"), Err(IdError::LeadingDot));
/// assert_eq!(check_id("a/b"), Err(IdError::Character { character: '/', offset: 1 }));
/// ```
pub fn check_id(id: &str) -> Result<(), IdError> {
    if id.is_empty() {
        return Err(IdError::Empty);
    }
    if id.chars().nth(MAX_ID_CHARS).is_some() {
        return Err(IdError::TooLong);
    }
    if id.starts_with('.') {
        return Err(IdError::LeadingDot);
    }
    if let Some((offset, character)) = id.char_indices().find(|(_, it)| is_unsafe(*it)) {
        return Err(IdError::Character { character, offset });
    }
    match id.find("..") {
        Some(offset) => Err(IdError::DotDot { offset }),
        None => Ok(()),
    }
}

fn is_unsafe(c: char) -> bool {
    c == '/' || c == '\\' || c.is_control()
}

/// Why an id cannot be the name of a file (MS-25).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// No character at all.
    #[error("id is empty")]
    Empty,
    /// More than 128 characters.
    #[error("id has more than {MAX_ID_CHARS} characters")]
    TooLong,
    /// A dot at the start would hide the file.
    #[error("id starts with a dot")]
    LeadingDot,
    /// A separator of paths or a control character.
    #[error("id has {character:?} at byte {offset}")]
    Character {
        /// The character.
        character: char,
        /// Its byte offset.
        offset: usize,
    },
    /// Two dots in a row.
    #[error("id has `..` at byte {offset}")]
    DotDot {
        /// The byte offset of the first dot.
        offset: usize,
    },
}
