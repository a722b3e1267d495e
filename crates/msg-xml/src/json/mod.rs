//! JSON as models write it (XT-27): a reader that finds the end of a value, and a tree that keeps the order of members
//! and the spelling of numbers. Not a general JSON library: what is repaired is raw control characters, trailing commas
//! and Python's literals, nothing else.
//!
//! ```text
//! {"name": "ls", "arguments": {"all": True,}}</tool_call>
//!                                     |   |  the end of the value
//!                                     mended
//! ```

mod read;

use std::collections::HashMap;

use msg_json::write_str;

pub(crate) use read::{Read, Stop, read};

/// A value; members in order of first appearance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// As spelled.
    Number(Box<str>),
    String(String),
    Array(Vec<Json>),
    Object(Members),
}

/// Members in order of first appearance, found by name in O(1).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Members {
    list: Vec<(String, Json)>,
    /// Where each stands; built once there are many. Most objects are small.
    index: Option<HashMap<String, usize>>,
}

/// From so many members on they are found by an index.
const INDEX_FROM: usize = 12;

impl Members {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, Json)> {
        self.list.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn into_list(self) -> Vec<(String, Json)> {
        self.list
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.list.len() < INDEX_FROM {
            return self.list.iter().position(|(k, _)| k == key);
        }
        self.index.as_ref()?.get(key).copied()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.position(key).map(|i| &self.list[i].1)
    }

    /// The value of a word of the format, whose case does not count; of several the last.
    pub(crate) fn word(&self, word: &str) -> Option<&Json> {
        let found = self.list.iter().rev().find(|(key, _)| key.eq_ignore_ascii_case(word));
        found.map(|(_, value)| value)
    }

    fn push(&mut self, key: String, value: Json) {
        if self.list.len() + 1 >= INDEX_FROM {
            let index = self.index.get_or_insert_with(|| {
                let known = self.list.iter().enumerate();
                known.map(|(i, (key, _))| (key.clone(), i)).collect()
            });
            index.insert(key.clone(), self.list.len());
        }
        self.list.push((key, value));
    }

    /// The last of repeated members counts (JSON bodies).
    pub(crate) fn set(&mut self, key: String, value: Json) {
        match self.position(&key) {
            Some(i) => self.list[i].1 = value,
            None => self.push(key, value),
        }
    }

    /// Repeated names become an array, in order (elements).
    pub(crate) fn grouped(list: Vec<(String, Json)>) -> Self {
        let is_new =
            |(i, (key, _)): (usize, &(String, Json))| list[..i].iter().all(|(k, _)| k != key);
        if list.len() < INDEX_FROM && list.iter().enumerate().all(is_new) {
            return Members { list, index: None };
        }
        let mut all = Members::default();
        let mut times: Vec<usize> = Vec::with_capacity(list.len());
        for (key, value) in list {
            let Some(i) = all.position(&key) else {
                all.push(key, value);
                times.push(1);
                continue;
            };
            let slot = &mut all.list[i].1;
            match slot {
                Json::Array(items) if times[i] > 1 => items.push(value),
                _ => {
                    let first = std::mem::replace(slot, Json::Null);
                    *slot = Json::Array(vec![first, value]);
                }
            }
            times[i] += 1;
        }
        all
    }
}

/// Whether a value can begin with this byte, Python's literals included.
pub(crate) fn begins(b: u8) -> bool {
    matches!(b, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'T' | b'F' | b'N')
}

impl Json {
    /// The text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = self { Some(text) } else { None }
    }

    /// The items of an array.
    pub(crate) fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    /// The members of an object.
    pub(crate) fn as_object(&self) -> Option<&Members> {
        if let Json::Object(members) = self { Some(members) } else { None }
    }

    /// Appends its text. A function of its own and not `msg_core`'s writer with its closures: trees may be deep.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Bool(b) => out.extend_from_slice(if *b { b"true" } else { b"false" }),
            Json::Number(n) => out.extend_from_slice(n.as_bytes()),
            Json::String(s) => write_str(out, s),
            Json::Array(items) => {
                out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    out.extend((i > 0).then_some(b','));
                    item.write(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (i, (key, value)) in members.iter().enumerate() {
                    out.extend((i > 0).then_some(b','));
                    write_str(out, key);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8(out).expect("because only texts are written")
    }
}

/// Reads a whole text as one value with blanks around it. The flag tells of repairs.
pub(crate) fn parse(text: &str, max_depth: usize) -> Option<(Json, bool)> {
    let text = crate::lex::trim(text);
    let read = read(text, max_depth).ok()?;
    (read.end == text.len()).then_some((read.value, read.repaired))
}
