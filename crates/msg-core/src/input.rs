//! Text that a person typed, before it becomes a message (MS-16).
//!
//! Whole messages are checked in `check`; nothing here changes text beyond trimming its ends.

/// The limit that [`validate_message`] applies, in characters.
const DEFAULT_MAX_CHARS: usize = 10_000;

/// Trims white space and refuses empty and over-long input, with the default limit of 10 000
/// characters (MS-16).
///
/// It differs from the function of this name in the reference document in what it counts, characters where
/// that one counts bytes while its sentence says characters, and in its error, a value that is printed as
/// the sentence.
///
/// # Errors
/// [`InputError::Empty`] or [`InputError::TooLong`], after trimming.
///
/// ```
/// use msg_core::{InputError, validate_message};
/// assert_eq!(validate_message("  hi \n"), Ok("hi".to_string()));
/// assert_eq!(validate_message(" \t "), Err(InputError::Empty));
/// ```
pub fn validate_message(input: &str) -> Result<String, InputError> {
    InputRules::default().validate(input)
}

/// What counts as acceptable input (MS-16), also for [`Message::check`](crate::Message::check).
///
/// ```
/// use msg_core::{InputError, InputRules};
/// let rules = InputRules { max_chars: 3 };
/// assert_eq!(rules.validate(" déf "), Ok("déf".to_string()));
/// assert_eq!(rules.validate("abcd"), Err(InputError::TooLong { chars: 4, max: 3 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InputRules {
    /// The most characters (Unicode scalar values, not bytes) of a trimmed text.
    pub max_chars: usize,
}

impl Default for InputRules {
    fn default() -> Self {
        Self { max_chars: DEFAULT_MAX_CHARS }
    }
}

impl InputRules {
    /// Rules without a limit on length: what `msg check --messages` uses unless told otherwise.
    pub fn unlimited() -> Self {
        Self { max_chars: usize::MAX }
    }

    /// Trims `input` and applies these rules (MS-16).
    ///
    /// # Errors
    /// [`InputError::Empty`] or [`InputError::TooLong`], after trimming.
    pub fn validate(&self, input: &str) -> Result<String, InputError> {
        let res = input.trim();
        if res.is_empty() {
            return Err(InputError::Empty);
        }
        match self.excess(res) {
            Some(chars) => Err(InputError::TooLong { chars, max: self.max_chars }),
            None => Ok(res.to_owned()),
        }
    }

    /// The number of characters of `text` if that is too many.
    pub(crate) fn excess(&self, text: &str) -> Option<usize> {
        // Characters are at most bytes, so that short texts need no count.
        if text.len() <= self.max_chars {
            return None;
        }
        let chars = text.chars().count();
        (chars > self.max_chars).then_some(chars)
    }
}

/// Why input was refused (MS-16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Nothing but white space.
    #[error("message cannot be empty")]
    Empty,
    /// More characters than the rules allow.
    #[error("message too long: {chars} characters, at most {max} are allowed")]
    TooLong {
        /// Characters of the trimmed text.
        chars: usize,
        /// Characters that are allowed.
        max: usize,
    },
}
