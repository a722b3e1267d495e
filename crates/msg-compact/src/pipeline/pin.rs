//! What may not be touched (CP-42). What a pin locks is the chain state's business.

use std::{fmt, str::FromStr, sync::Arc};

use msg_core::{Message, Part};
use serde::{Deserialize, Deserializer};

use crate::Error;

/// What stays as it is, whatever the budget (CP-42).
///
/// ```
/// use msg_compact::Pin;
///
/// assert!(matches!("tool:plan".parse()?, Pin::Tool(name) if name == "plan"));
/// assert!("last-user".parse::<Pin>().is_err());
/// # Ok::<(), msg_compact::Error>(())
/// ```
#[derive(Clone)]
pub enum Pin {
    /// The first user message, verbatim, wherever sections are merged or dropped.
    FirstUser,
    /// What contains this text.
    Contains(String),
    /// What calls this tool.
    Tool(String),
    /// What the caller says.
    When(Arc<dyn Fn(&Message) -> bool + Send + Sync>),
}

impl FromStr for Pin {
    type Err = Error;

    /// Reads `first-user`, `contains:TEXT` or `tool:NAME`.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            _ if text == "first-user" => Ok(Pin::FirstUser),
            Some(("contains", text)) if !text.is_empty() => Ok(Pin::Contains(text.to_owned())),
            Some(("tool", name)) if !name.is_empty() => Ok(Pin::Tool(name.to_owned())),
            _ => Err(Error::unknown("pin", text, "first-user, contains:TEXT or tool:NAME")),
        }
    }
}

impl<'de> Deserialize<'de> for Pin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Pin {
    /// Whether this message pins its section or pair.
    pub(crate) fn holds(&self, message: &Message) -> bool {
        match self {
            Pin::FirstUser => false,
            Pin::Contains(text) => message.parts.iter().any(|it| contains(it, text)),
            Pin::Tool(name) => message.tool_calls().any(|it| it.name == *name),
            Pin::When(holds) => holds(message),
        }
    }
}

fn contains(part: &Part, text: &str) -> bool {
    match part {
        Part::Text(it) | Part::Refusal(it) => it.text.contains(text),
        Part::ToolCall(it) => it.arguments.text().contains(text),
        Part::ToolResult(it) => it.content.parts().iter().any(|it| contains(it, text)),
        _ => false,
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::FirstUser => f.write_str("FirstUser"),
            Pin::Contains(text) => f.debug_tuple("Contains").field(text).finish(),
            Pin::Tool(name) => f.debug_tuple("Tool").field(name).finish(),
            Pin::When(_) => f.write_str("When(..)"),
        }
    }
}
