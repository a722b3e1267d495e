//! JSON as a prompt is compared: the order of members stays, numbers are compared by value, texts are borrowed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value. An integer and a fraction differ, as they do for a tokenizer (`1`, `1.0`).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Number(String),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// Reads a text; `None` if it is not one JSON value, or is nested more than 128 levels deep.
    pub(crate) fn read(json: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// The member of an object that is not null; of one that is there twice the last.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Value::Object(members) = self else { return None };
        let found = members.iter().rev().find(|it| it.0 == name).map(|it| &it.1);
        found.filter(|it| **it != Value::Null)
    }

    /// The first of these members that is there.
    pub(crate) fn any(&self, names: &[&str]) -> Option<&Self> {
        names.iter().find_map(|it| self.get(it))
    }

    /// The value at the end of a path of members.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |it, name| it.get(name))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Value::Text(it) => Some(it),
            _ => None,
        }
    }

    /// The text of a member.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::text)
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Value::List(it) => it,
            _ => &[],
        }
    }

    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Self)] {
        match self {
            Value::Object(it) => it,
            _ => &[],
        }
    }

    /// A count of tokens: 0 for a value that is not a number, or below zero.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.number(name).map_or(0, |it| it.max(0.0) as u64)
    }

    /// A number of a member.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Value::Number(it)) => it.parse().ok(),
            _ => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(it.to_string()))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(it.to_string()))
    }

    fn visit_f64<E>(self, it: f64) -> Result<Value<'de>, E> {
        Ok(Value::Number(format!("{it:?}")))
    }

    fn visit_str<E>(self, it: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(it.to_owned())))
    }

    fn visit_borrowed_str<E>(self, it: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(it)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(it) = seq.next_element()? {
            list.push(it);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(Name(name)) = map.next_key()? {
            members.push((name, map.next_value()?));
        }
        Ok(Value::Object(members))
    }
}

/// A member name, borrowed where it has no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Text(it) => Ok(Name(it)),
            _ => Err(serde::de::Error::custom("a member name is a text")),
        }
    }
}
