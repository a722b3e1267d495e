//! The stored state of an agent: its messages, and whatever else it keeps (MS-14).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};

use super::AgentMessage;
use crate::{Members, RawJson};

/// The state of an agent, as it is stored between runs (MS-14): unknown members survive in order.
///
/// ```
/// use std::sync::Arc;
/// use msg_core::{AgentStateSnapshot, MessageRole};
///
/// let state = Arc::new(AgentStateSnapshot::default());
/// // Access conversation
/// for message in &state.messages {
///     match message.role {
///         MessageRole::User => println!("User: {:?}", message.content),
///         MessageRole::Assistant => println!("Agent: {:?}", message.content),
///         _ => {}
///     }
/// }
///
/// let state: AgentStateSnapshot = serde_json::from_str(r#"{"todos":[1.0]}"#)?;
/// assert_eq!(serde_json::to_string(&state)?, r#"{"messages":[],"todos":[1.0]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentStateSnapshot {
    /// The conversation.
    pub messages: Vec<AgentMessage>,
    /// All other members: `todos`, `files`, `scratchpad` …
    pub extra: Members,
}

impl Serialize for AgentStateSnapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut it = serializer.serialize_map(None)?;
        it.serialize_entry("messages", &self.messages)?;
        for (name, value) in self.extra.iter().filter(|it| it.0 != "messages") {
            it.serialize_entry(name, value)?;
        }
        it.end()
    }
}

impl<'de> Deserialize<'de> for AgentStateSnapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Visitor)
    }
}

struct Visitor;

impl<'de> de::Visitor<'de> for Visitor {
    type Value = AgentStateSnapshot;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state of an agent, an object")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut res = AgentStateSnapshot::default();
        while let Some(name) = map.next_key::<String>()? {
            if name == "messages" {
                res.messages = map.next_value::<Option<_>>()?.unwrap_or_default();
            } else {
                res.extra.insert(name, map.next_value::<RawJson>()?);
            }
        }
        Ok(res)
    }
}
