//! JSON as models write it (XT-27): a grammar scanner that finds the end of a value as its bytes arrive, and
//! a tree that keeps the order of members and the spelling of numbers. Not a general JSON library: what is
//! repaired is raw control characters, trailing commas and Python's literals, nothing else.

mod read;
mod scan;

use std::collections::HashMap;

use msg_core::json::{write_member_name, write_str};

pub(crate) use read::{Read, Stop, read};
pub(crate) use scan::{Scan, Scanner};

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
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    list: Vec<(String, Json)>,
    /// Built once there are many; most objects are small, and so is this.
    index: Option<Box<Index>>,
}

/// Where members stand, by name.
#[derive(Clone, Debug, Default)]
struct Index(HashMap<String, usize>);

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

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
        self.index.as_ref()?.0.get(key).copied()
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
                Box::new(Index(known.map(|(i, (key, _))| (key.clone(), i)).collect()))
            });
            index.0.insert(key.clone(), self.list.len());
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
                    separate(i, out);
                    item.write(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (i, (key, value)) in members.iter().enumerate() {
                    separate(i, out);
                    write_member_name(out, key);
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

fn separate(before: usize, out: &mut Vec<u8>) {
    if before > 0 {
        out.push(b',');
    }
}

/// Reads a whole text as one value with blanks around it. The flag tells of repairs.
pub(crate) fn parse(text: &str, max_depth: usize) -> Option<(Json, bool)> {
    let text = crate::lex::trim(text);
    let read = read(text, max_depth).ok()?;
    (read.end == text.len()).then_some((read.value, read.repaired))
}

/// Builds the tree of a text that the scanner has accepted.
pub(crate) fn build(text: &str) -> Json {
    let mut stack: Vec<(Json, Option<String>)> = Vec::new();
    let b = text.as_bytes();
    let mut i = 0;
    let mut done = Json::Null;
    while i < b.len() {
        let value = match b[i] {
            b'{' => {
                stack.push((Json::Object(Members::default()), None));
                i += 1;
                continue;
            }
            b'[' => {
                stack.push((Json::Array(Vec::new()), None));
                i += 1;
                continue;
            }
            b'}' | b']' => {
                i += 1;
                match stack.pop() {
                    Some((value, _)) => value,
                    None => break,
                }
            }
            b'"' => {
                let (s, n) = string(&text[i..]);
                i += n;
                if let Some((Json::Object(_), key @ None)) = stack.last_mut() {
                    *key = Some(s);
                    continue;
                }
                Json::String(s)
            }
            b'-' | b'0'..=b'9' => {
                let n = b[i..]
                    .iter()
                    .position(|c| !matches!(c, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
                    .unwrap_or(b.len() - i);
                i += n;
                Json::Number(text[i - n..i].into())
            }
            c @ (b't' | b'T' | b'f' | b'F' | b'n' | b'N') => {
                i += if c.eq_ignore_ascii_case(&b'f') { 5 } else { 4 };
                match c {
                    b't' | b'T' => Json::Bool(true),
                    b'f' | b'F' => Json::Bool(false),
                    _ => Json::Null,
                }
            }
            _ => {
                i += 1;
                continue;
            }
        };
        match stack.last_mut() {
            Some((Json::Object(members), key)) => {
                members.set(key.take().unwrap_or_default(), value);
            }
            Some((Json::Array(items), _)) => items.push(value),
            _ => done = value,
        }
    }
    done
}

/// The string literal at the start of `s` and its length.
fn string(s: &str) -> (String, usize) {
    let b = s.as_bytes();
    let mut out = String::new();
    let mut i = 1;
    let mut from = 1;
    while i < b.len() && b[i] != b'"' {
        if b[i] != b'\\' {
            i += 1;
            continue;
        }
        out.push_str(&s[from..i]);
        let c = b.get(i + 1).copied().unwrap_or_default();
        i += 2;
        out.push(match c {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = |at: usize| {
                    s.get(at..at + 4)
                        .and_then(|h| u32::from_str_radix(h, 16).ok())
                        .unwrap_or(0xFFFD)
                };
                let hi = unit(i);
                i += 4;
                if (0xD800..0xDC00).contains(&hi) {
                    let lo = unit(i + 2);
                    i += 6;
                    char::from_u32(
                        0x10000 + ((hi - 0xD800) << 10) + (lo.wrapping_sub(0xDC00) & 0x3FF),
                    )
                    .unwrap_or('\u{FFFD}')
                } else {
                    char::from_u32(hi).unwrap_or('\u{FFFD}')
                }
            }
            other => char::from(other),
        });
        from = i;
    }
    out.push_str(s.get(from..i).unwrap_or_default());
    (out, i + 1)
}

/// Whether a text fails only because its brackets nest deeper than `max`.
pub(crate) fn too_deep(text: &str, max: usize) -> bool {
    matches!(read(text, max), Err(Stop::Depth(_)))
}
