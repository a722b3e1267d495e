//! Raw JSON members in order: what an application keeps of its own beside a conversation.
//!
//! Nothing is parsed; a value is read when somebody asks for it.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::RawJson;

/// Up to this many members a scan is as fast as an index.
const SCAN_LIMIT: usize = 16;

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
/// # Ok::<(), msg_core::json::JsonError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Members {
    list: Vec<(Box<str>, RawJson)>,
    /// The place of each member, once there are too many to scan.
    index: BTreeMap<Box<str>, usize>,
}

impl Members {
    /// The value of a member: by scan up to 16 members, by index above.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.place(name).map(|it| &self.list[it].1)
    }

    /// Sets a member: in its place if it is there, else at the end. Gives back what was there.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: RawJson) -> Option<RawJson> {
        let name = name.into();
        if let Some(at) = self.place(&name) {
            return Some(std::mem::replace(&mut self.list[at].1, value));
        }
        self.list.push((name, value));
        if self.list.len() > SCAN_LIMIT {
            // The first time this enters all of them, later only the new one.
            let from = self.index.len();
            let new = self.list.iter().enumerate().skip(from);
            self.index.extend(new.map(|(at, it)| (it.0.clone(), at)));
        }
        None
    }

    /// Takes a member out. O(members).
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        let at = self.place(name)?;
        let (_, value) = self.list.remove(at);
        self.index.clear();
        if self.list.len() > SCAN_LIMIT {
            self.index = self.list.iter().map(|it| it.0.clone()).zip(0..).collect();
        }
        Some(value)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.list.iter().map(|it| (&*it.0, &it.1))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.list.len() > SCAN_LIMIT {
            return self.index.get(name).copied();
        }
        self.list.iter().position(|it| &*it.0 == name)
    }
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
