//! An object that is built from several: members that the model does not know (OA-18), and objects that
//! are carried whole (OA-23). What a later one says overwrites, extends or appends to what is there. It
//! knows no member's meaning.

use msg_core::{Extra, Origin, RawJson};
use msg_json::{Writer, to_text, validate};

use super::channel::Channel;
use super::step::Gauge;
use crate::json::Json;

/// The object so far, members in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    members: Vec<(String, Value)>,
}

#[derive(Debug, Clone)]
enum Value {
    Json(String),
    /// A string that grows.
    Text(Channel),
    /// An array that grows, without its closing bracket.
    Array(String),
}

/// Members are found by a scan.
const MAX_MEMBERS: usize = 256;

impl Merged {
    /// Overwrites member by member; null says nothing.
    pub fn merge(&mut self, object: Option<Json<'_>>, gauge: &mut Gauge<'_>) {
        let members = object.into_iter().flat_map(Json::members);
        for (key, value) in members.filter(|it| !it.1.is_null()) {
            self.set(&key, value, gauge);
        }
    }

    /// Sets one member; null does not overwrite.
    pub fn set(&mut self, key: &str, value: Json<'_>, gauge: &mut Gauge<'_>) {
        let is_there = self.find(key).is_some_and(|at| match &self.members[at].1 {
            Value::Json(kept) => value.is_null() || kept == value.source(),
            _ => value.is_null(),
        });
        if is_there || !gauge.take(value.source().len()) {
            return;
        }
        self.put(key, Value::Json(value.source().to_owned()), gauge);
    }

    /// Appends to a member that is a string, or sets it.
    pub fn grow(&mut self, key: &str, value: Json<'_>, gauge: &mut Gauge<'_>) {
        let Some(text) = value.string() else {
            return self.set(key, value, gauge);
        };
        let mut channel = Channel::default();
        match self.find(key).map(|at| &mut self.members[at].1) {
            Some(Value::Text(kept)) => channel = std::mem::take(kept),
            Some(Value::Json(json)) => {
                if let Some(start) = Json(json).string() {
                    channel.push(start, gauge);
                }
            }
            _ => {}
        }
        channel.push(text, gauge);
        self.put(key, Value::Text(channel), gauge);
    }

    /// Takes a member of a delta: an array appends to one that is there, of everything else the last value
    /// counts; null says nothing.
    pub fn add(&mut self, key: &str, value: Json<'_>, gauge: &mut Gauge<'_>) {
        if value.is_null() || !gauge.take(value.source().len()) {
            return;
        }
        let kept = self.find(key).map(|at| &mut self.members[at].1);
        if !value.is_array() {
            if let Some(Value::Json(last)) = kept {
                *gauge.left += last.len();
            }
            return self.put(key, Value::Json(value.source().to_owned()), gauge);
        }
        let mut array = match kept {
            Some(Value::Array(array)) => std::mem::take(array),
            _ => "[".to_owned(),
        };
        value.elements().for_each(|it| push_element(&mut array, it));
        self.put(key, Value::Array(array), gauge);
    }

    /// Appends one element to the array of this name.
    pub fn append(&mut self, key: &str, element: Json<'_>, gauge: &mut Gauge<'_>) {
        if self.find(key).is_none() {
            self.add(key, Json("[]"), gauge);
        }
        let place = self.find(key);
        if let Some(Value::Array(array)) = place.map(|at| &mut self.members[at].1)
            && gauge.take(element.source().len())
        {
            push_element(array, element);
        }
    }

    /// Puts the JSON that came in pieces as the member `input`; text that is none is kept as text.
    pub fn put_input(&mut self, text: &str) {
        let json =
            if validate(text).is_ok() { text.to_owned() } else { to_text(|it| it.str(text)) };
        match self.find("input") {
            Some(at) => self.members[at].1 = Value::Json(json),
            None => self.members.push(("input".to_owned(), Value::Json(json))),
        }
    }

    /// Whether there is a member of this name.
    pub fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The object as JSON; empty if there is no member.
    pub fn into_json(self) -> String {
        if self.members.is_empty() {
            return String::new();
        }
        let write = |it: &mut Writer<'_>| {
            for (key, value) in self.members {
                it.key(&key).raw(&value.into_json());
            }
        };
        to_text(|it| it.object(write))
    }

    /// Puts the members into `extra`.
    pub fn into_extra(self, origin: &Origin, extra: &mut Extra) {
        for (key, value) in self.members {
            if let Ok(json) = RawJson::new(value.into_json()) {
                extra.insert(origin.clone(), key, json);
            }
        }
    }

    fn find(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|(it, _)| it == key)
    }

    fn put(&mut self, key: &str, value: Value, gauge: &mut Gauge<'_>) {
        match self.find(key) {
            Some(at) => self.members[at].1 = value,
            None if self.members.len() < MAX_MEMBERS && gauge.take(key.len()) => {
                self.members.push((key.to_owned(), value));
            }
            None => gauge.limit(),
        }
    }
}

impl Value {
    fn into_json(self) -> String {
        match self {
            Self::Json(json) => json,
            Self::Text(text) => to_text(|it| it.str(text.text())),
            Self::Array(array) => array + "]",
        }
    }
}

fn push_element(array: &mut String, element: Json<'_>) {
    if array.len() > 1 {
        array.push(',');
    }
    array.push_str(element.source());
}
