//! Who speaks in a message (MS-2). It does not judge: an unknown role is carried as it came.

use std::{convert::Infallible, fmt, str::FromStr};

/// Who a message is from. Written lower case.
///
/// On input the spellings `human` and `ai` mean [`Role::User`] and [`Role::Assistant`]; any other
/// text is kept in [`Role::Other`] and goes out as it came (MS-2).
///
/// ```
/// use msg_core::Role;
///
/// assert_eq!(Role::from("assistant"), Role::Assistant);
/// assert_eq!(Role::from("human"), Role::User);
/// assert_eq!(Role::from("critic").as_str(), "critic");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// Instructions to the model.
    System,
    /// Instructions to the model, in the newer spelling of some providers.
    Developer,
    /// The person, or the program that speaks for one.
    User,
    /// The model.
    Assistant,
    /// What a tool gave back.
    Tool,
    /// Any other text, exactly as the source had it.
    Other(Box<str>),
}

impl Role {
    /// The word that is written for this role.
    pub fn as_str(&self) -> &str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Other(text) => text,
        }
    }

    /// The role that exactly this word names, the spellings `human` and `ai` not among them.
    pub fn known(word: &str) -> Option<Role> {
        Some(match word {
            "system" => Role::System,
            "developer" => Role::Developer,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => return None,
        })
    }

    /// The role that another accepted spelling means: `human`, `ai`. Readers report
    /// `message::role-spelling` where they take one.
    pub fn spelling(word: &str) -> Option<Role> {
        match word {
            "human" => Some(Role::User),
            "ai" => Some(Role::Assistant),
            _ => None,
        }
    }

    /// Whether this is [`Role::System`] or [`Role::Developer`].
    pub fn is_system(&self) -> bool {
        matches!(self, Role::System | Role::Developer)
    }
}

impl From<&str> for Role {
    fn from(word: &str) -> Self {
        Role::known(word)
            .or_else(|| Role::spelling(word))
            .unwrap_or_else(|| Role::Other(word.into()))
    }
}

impl FromStr for Role {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(Role::from(word))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
