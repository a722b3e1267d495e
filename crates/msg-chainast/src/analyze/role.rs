//! Which role a message is read with (CA-14).

use msg_core::{Message, Role};

/// How a message takes part in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    System,
    User,
    Assistant,
    Tool,
}

/// A role as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Known as it stands.
    Known(Part),
    /// Known but for white space or case: this is the word.
    Spelled(Part, &'static str),
    /// Not known.
    Unknown,
}

/// Reads the role of a message.
#[inline]
pub(crate) fn read(message: &Message) -> Reading {
    match &message.role {
        Role::System | Role::Developer => Reading::Known(Part::System),
        Role::User => Reading::Known(Part::User),
        Role::Assistant => Reading::Known(Part::Assistant),
        Role::Tool => Reading::Known(Part::Tool),
        other => read_text(other.as_str()),
    }
}

#[cold]
fn read_text(text: &str) -> Reading {
    if let Some((part, _)) = known(text) {
        return Reading::Known(part);
    }
    match known(&text.trim().to_lowercase()) {
        Some((part, word)) => Reading::Spelled(part, word),
        None => Reading::Unknown,
    }
}

fn known(word: &str) -> Option<(Part, &'static str)> {
    Some(match word {
        "system" => (Part::System, "system"),
        "developer" => (Part::System, "developer"),
        "user" | "human" => (Part::User, "user"),
        "assistant" | "ai" => (Part::Assistant, "assistant"),
        "tool" => (Part::Tool, "tool"),
        _ => return None,
    })
}
