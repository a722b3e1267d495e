//! Members that the model does not know, gathered from many deltas (OA-18): arrays grow, of
//! everything else the last value counts. Nothing here knows what a member means.

use std::collections::BTreeMap;

use msg_core::{Extra, Origin, RawJson};

use super::channel::Gauge;
use crate::json::Json;

/// Unknown members in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub struct UnknownMembers {
    members: Vec<(String, Value)>,
    places: BTreeMap<String, usize>,
}

/// A member's value so far, as JSON text; an array is kept without its closing bracket.
#[derive(Debug, Clone)]
enum Value {
    Array(String),
    Other(String),
}

impl UnknownMembers {
    /// Takes a member of a delta; null says nothing.
    pub fn add(&mut self, name: &str, value: Json<'_>, gauge: &mut Gauge<'_>) {
        if value.is_null() || !gauge.take(value.source().len()) {
            return;
        }
        let Some(&place) = self.places.get(name) else {
            if gauge.take(2 * name.len()) {
                self.places.insert(name.to_owned(), self.members.len());
                self.members.push((name.to_owned(), Value::of(value)));
            }
            return;
        };
        let kept = &mut self.members[place].1;
        match kept {
            Value::Array(array) if value.is_array() => {
                for element in value.elements() {
                    append(array, element.source());
                }
            }
            Value::Other(text) if !value.is_array() => {
                *gauge.left += text.len();
                text.clear();
                text.push_str(value.source());
            }
            _ => *kept = Value::of(value),
        }
    }

    /// Appends one element to the array of this name.
    pub fn append(&mut self, name: &str, element: Json<'_>, gauge: &mut Gauge<'_>) {
        if !self.places.contains_key(name) {
            self.add(name, Json("[]"), gauge);
        }
        let place = self.places.get(name).copied();
        if let Some((_, Value::Array(array))) = place.map(|it| &mut self.members[it])
            && gauge.take(element.source().len())
        {
            append(array, element.source());
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Puts the members into `extra`.
    pub fn into_extra(self, origin: &Origin, extra: &mut Extra) {
        for (name, value) in self.members {
            let text = match value {
                Value::Array(array) => array + "]",
                Value::Other(text) => text,
            };
            if let Ok(json) = RawJson::new(text) {
                extra.insert(origin.clone(), name, json);
            }
        }
    }
}

impl Value {
    fn of(value: Json<'_>) -> Self {
        if !value.is_array() {
            return Self::Other(value.source().to_owned());
        }
        let mut array = String::from("[");
        for element in value.elements() {
            append(&mut array, element.source());
        }
        Self::Array(array)
    }
}

fn append(array: &mut String, element: &str) {
    if array.len() > 1 {
        array.push(',');
    }
    array.push_str(element);
}
