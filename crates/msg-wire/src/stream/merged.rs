//! An object that is built from several (OA-23): the members of a later one overwrite or extend
//! those before. It knows no member's meaning.

use msg_core::json::{Writer, to_text, validate, write_str};

use super::channel::{Channel, Gauge};
use crate::json::Json;

/// The object so far, members in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    members: Vec<(String, Value)>,
}

#[derive(Debug, Clone)]
enum Value {
    Json(String),
    Text(Channel),
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
        if value.is_null() && self.find(key).is_some() || !gauge.take(value.source().len()) {
            return;
        }
        self.put(key, Value::Json(value.source().to_owned()), gauge);
    }

    /// Appends to a member that is a string, or sets it.
    pub fn grow(&mut self, key: &str, value: Json<'_>, gauge: &mut Gauge<'_>) {
        let Some(text) = value.string() else {
            return self.set(key, value, gauge);
        };
        if let Some(at) = self.find(key) {
            let kept = &mut self.members[at].1;
            if let Value::Json(json) = kept {
                let mut channel = Channel::default();
                if let Some(start) = Json(json).string() {
                    channel.push(start, gauge);
                }
                *kept = Value::Text(channel);
            }
            if let Value::Text(channel) = kept {
                channel.push(text, gauge);
            }
        } else {
            let mut channel = Channel::default();
            channel.push(text, gauge);
            self.put(key, Value::Text(channel), gauge);
        }
    }

    /// Puts the JSON that came in pieces as the member `input`; text that is none is kept as text.
    pub fn put_input(&mut self, text: &str) {
        let json = if validate(text).is_ok() {
            text.to_owned()
        } else {
            let mut out = Vec::new();
            write_str(&mut out, text);
            String::from_utf8(out).expect("an escaped text is UTF-8")
        };
        match self.find("input") {
            Some(at) => self.members[at].1 = Value::Json(json),
            None => self.members.push(("input".to_owned(), Value::Json(json))),
        }
    }

    /// The object as JSON; empty if there is no member.
    pub fn into_json(self) -> String {
        if self.members.is_empty() {
            return String::new();
        }
        let write = |it: &mut Writer<'_>| {
            for (key, value) in &self.members {
                match value {
                    Value::Json(json) => it.key(key).raw(json),
                    Value::Text(text) => it.key(key).str(text.text()),
                }
            }
        };
        to_text(|it| it.object(write))
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
