//! Raw JSON members in order: what an application keeps of its own beside a conversation.
//!
//! Nothing is parsed; a value is read when somebody asks for it.

use serde::{Serialize, Serializer};

use crate::{Extra, Origin, RawJson};

/// The members of an object of the application's own, in order, as raw JSON.
///
/// ```
/// use msg_core::{Members, RawJson};
/// let mut it = Members::default();
/// it.insert("pruned", RawJson::new("true")?);
/// it.insert("tokens", RawJson::new("1.50")?);
/// it.insert("pruned", RawJson::new("false")?);
/// assert_eq!(it.get("tokens").map(RawJson::text), Some("1.50"));
/// assert_eq!(serde_json::to_string(&it).unwrap(), r#"{"pruned":false,"tokens":1.50}"#);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Members(Extra);

/// All of them are of no format.
const JSON: Origin = Origin::Json;

impl Members {
    /// The value of a member: by scan up to 16 members, by index above.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.get(&JSON, name)
    }

    /// Sets a member: in its place if it is there, else at the end. Gives back what was there.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: RawJson) -> Option<RawJson> {
        self.0.insert(JSON, name, value)
    }

    /// Takes a member out. O(members).
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        self.0.remove(&JSON, name)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.all().map(|(_, name, value)| (name, value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
