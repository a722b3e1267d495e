//! The stored state of an agent: its messages, and whatever else it keeps (MS-14).
//!
//! The messages are the agent types, which have no place for unknown members and sort the members of
//! arguments. What a message was read from is kept next to it where that says more, and written again
//! as long as the message is the same.
//!
//! ```text
//! {"messages":[{"role":"User","content":{"Text":"Hello"},"seen":true}],"todos":[]}
//!               message: User, Text("Hello")
//!               kept: the whole object, under the message's own JSON   extra: todos
//! ```

use std::collections::BTreeMap;
use std::fmt;

use msg_core::{Members, RawJson};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::read::read;
use super::write::write;
use super::{AgentForm, AgentMessage};

/// The state of an agent, as it is stored between runs (MS-14): unknown members survive in order, those of
/// messages too, as does the order of arguments, until the message is changed.
///
/// ```
/// use std::sync::Arc;
/// use msg_forms::agent::{AgentStateSnapshot, MessageRole};
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
/// let stored = r#"{"messages":[{"role":"User","content":{"Text":"Hi"},"seen":true}],"todos":[1.0]}"#;
/// let state: AgentStateSnapshot = serde_json::from_str(stored)?;
/// assert_eq!(serde_json::to_string(&state)?, stored);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentStateSnapshot {
    /// The conversation.
    pub messages: Vec<AgentMessage>,
    /// All other members: `todos`, `files`, `scratchpad` …
    pub extra: Members,
    /// What messages were read from, where that says more than they do: by the JSON of the message.
    kept: BTreeMap<String, Vec<RawJson>>,
}

impl From<Vec<AgentMessage>> for AgentStateSnapshot {
    fn from(messages: Vec<AgentMessage>) -> Self {
        Self { messages, ..Self::default() }
    }
}

impl AgentStateSnapshot {
    /// Takes in the messages that these are; what is wrong with one is said with its place.
    fn read_messages(&mut self, sources: &[RawJson]) -> Result<(), String> {
        let mut forms = Vec::with_capacity(sources.len());
        self.messages.clear();
        for (at, source) in sources.iter().enumerate() {
            let (message, form) = read_one(source).map_err(|it| format!("message {at}: {it}"))?;
            self.messages.push(message);
            forms.push(form);
        }
        let differ = forms.iter().filter(|it| it.typed != it.whole);
        self.kept = differ.map(|it| (it.typed.clone(), Vec::new())).collect();
        for form in forms {
            if let Some(kept) = self.kept.get_mut(&form.typed) {
                kept.push(raw(form.whole));
            }
        }
        Ok(())
    }

    /// The messages as they are written. Of equal messages the first represents the first that was read,
    /// and so on.
    fn written(&self) -> Result<Vec<RawJson>, String> {
        let mut used: BTreeMap<&str, usize> = BTreeMap::new();
        let written = self.messages.iter().map(|message| {
            let typed = json_of(message)?;
            let Some((key, kept)) = self.kept.get_key_value(&typed) else {
                return Ok(raw(typed));
            };
            let n = used.entry(key).or_default();
            *n += 1;
            Ok(kept.get(*n - 1).cloned().unwrap_or_else(|| raw(typed.clone())))
        });
        written.collect()
    }
}

fn raw(written: String) -> RawJson {
    RawJson::new(written).expect("because it was written as JSON")
}

/// The JSON of one message.
struct Form {
    /// As its type has it.
    typed: String,
    /// With all that it was read from.
    whole: String,
}

fn read_one(source: &RawJson) -> Result<(AgentMessage, Form), String> {
    let json = format!("[{}]", source.text());
    let (messages, _) = read(json.as_bytes()).map_err(|it| it.to_string())?;
    let mut list = Vec::new();
    write(&messages, AgentForm::Document, &mut list);
    let whole = String::from_utf8(list).map_err(|it| it.to_string())?;
    let whole = whole[1..whole.len() - 1].to_owned();
    let mut typed = messages.into_iter().flat_map(|it| AgentMessage::from_message(it).0);
    let message = typed.next().expect("because a list of one message was read");
    let typed = json_of(&message)?;
    Ok((message, Form { typed, whole }))
}

fn json_of(message: &AgentMessage) -> Result<String, String> {
    serde_json::to_string(message).map_err(|it| it.to_string())
}

impl Serialize for AgentStateSnapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut it = serializer.serialize_map(None)?;
        if self.kept.is_empty() {
            it.serialize_entry("messages", &self.messages)?;
        } else {
            let messages = self.written().map_err(serde::ser::Error::custom)?;
            it.serialize_entry("messages", &messages)?;
        }
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
                let sources = map.next_value::<Option<Vec<RawJson>>>()?.unwrap_or_default();
                res.read_messages(&sources).map_err(de::Error::custom)?;
            } else {
                res.extra.insert(name, map.next_value::<RawJson>()?);
            }
        }
        Ok(res)
    }
}
