//! `reasoning_details` of OpenRouter and its like (OA-18): a list whose last element grows by
//! deltas. Kept whole, because providers want it back as it was.

use msg_core::RawJson;
use msg_core::json::{Writer, to_text};
use msg_wire::stream::{Channel, Gauge};
use msg_wire::{Json, Str};

/// The list so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Details {
    elements: Vec<Element>,
}

/// One element: its members in the order in which they first came.
#[derive(Debug, Clone, Default)]
struct Element {
    kind: String,
    index: String,
    members: Vec<(String, Value)>,
}

#[derive(Debug, Clone)]
enum Value {
    Growing(Channel),
    Json(String),
}

impl Details {
    /// Takes the details of one delta.
    pub(crate) fn add(&mut self, details: Json<'_>, gauge: &mut Gauge<'_>) {
        for detail in details.elements().filter(|it| it.is_object()) {
            let kind = detail.get("type").map_or("", Json::source);
            let index = detail.get("index").map_or("", Json::source);
            if !self.elements.last().is_some_and(|it| it.kind == kind && it.index == index) {
                if !gauge.take(kind.len() + index.len() + size_of::<Element>()) {
                    return;
                }
                let (kind, index) = (kind.to_owned(), index.to_owned());
                self.elements.push(Element { kind, index, members: Vec::new() });
            }
            if let Some(last) = self.elements.last_mut() {
                last.add(detail, gauge);
            }
        }
    }

    /// The readable text of the details of one delta.
    pub(crate) fn texts(details: Json<'_>) -> impl Iterator<Item = Str<'_>> {
        details.elements().filter_map(|detail| {
            detail.get("text").and_then(Json::filled).or_else(|| detail.get("summary")?.filled())
        })
    }

    /// The list as JSON; none if nothing came.
    pub(crate) fn into_json(self) -> Option<RawJson> {
        if self.elements.is_empty() {
            return None;
        }
        let write = |it: &mut Writer<'_>, element: Element| {
            it.object(|it| {
                for (name, value) in &element.members {
                    match value {
                        Value::Growing(text) => it.key(name).str(text.text()),
                        Value::Json(text) => it.key(name).raw(text),
                    }
                }
            });
        };
        RawJson::new(to_text(|it| it.array(self.elements, write))).ok()
    }
}

impl Element {
    fn add(&mut self, detail: Json<'_>, gauge: &mut Gauge<'_>) {
        for (name, value) in detail.members() {
            let grows = matches!(&*name, "text" | "summary" | "data");
            let known = self.members.iter().position(|(it, _)| *it == name);
            match (known, value.string().filter(|_| grows)) {
                (Some(at), Some(text)) => grow(&mut self.members[at].1, text, gauge),
                (Some(at), None) if !value.is_null() && gauge.take(value.source().len()) => {
                    self.members[at].1 = Value::Json(value.source().to_owned());
                }
                (Some(_), None) => {}
                (None, text) => {
                    if !gauge.take(name.len()) || self.members.len() >= MAX_MEMBERS {
                        continue;
                    }
                    let mut kept = Value::Growing(Channel::default());
                    match text {
                        Some(text) => grow(&mut kept, text, gauge),
                        None if gauge.take(value.source().len()) => {
                            kept = Value::Json(value.source().to_owned());
                        }
                        None => continue,
                    }
                    self.members.push((name.into_owned(), kept));
                }
            }
        }
    }
}

/// Members of one element; they are found by a scan.
const MAX_MEMBERS: usize = 64;

fn grow(value: &mut Value, text: Str<'_>, gauge: &mut Gauge<'_>) {
    if let Value::Json(_) = value {
        *value = Value::Growing(Channel::default());
    }
    if let Value::Growing(channel) = value {
        channel.push(text, gauge);
    }
}
