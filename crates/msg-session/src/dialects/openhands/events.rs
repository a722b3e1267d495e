//! The events of an OpenHands conversation, in the order of their numbers.

use std::borrow::Cow;

use crate::blob::Blob;
use crate::finding::{Finding, Place};
use crate::frame::clean_record;
use crate::json::{Object, Value};

/// The events.
#[derive(Default)]
pub(super) struct Events<'a> {
    /// Whether they are in one document, which is only read.
    pub(super) is_document: bool,
    pub(super) list: Vec<Event<'a>>,
    pub(super) findings: Vec<Finding>,
}

pub(super) struct Event<'a> {
    pub(super) number: u64,
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) object: Object<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    System,
    Message,
    Action,
    Observation,
    Condensation,
    Other,
}

/// The texts of the files, each with what was wrong with its bytes (SE-20 to SE-22).
pub(super) fn texts(blobs: &[Blob]) -> Vec<(Cow<'_, str>, Vec<Finding>)> {
    blobs.iter().enumerate().map(|(at, it)| clean_record(it, super::place(at, at))).collect()
}

impl<'a> Events<'a> {
    pub(super) fn read(blobs: &[Blob], texts: &'a [(Cow<'_, str>, Vec<Finding>)]) -> Self {
        if let ([blob], [(text, _)]) = (blobs, texts)
            && number_of(&blob.name).is_none()
            && let Some(list) = Value::whole(text, 0).and_then(|it| it.array())
        {
            return Self::of_list(list);
        }
        let mut files: Vec<_> = blobs
            .iter()
            .enumerate()
            .filter_map(|(at, it)| Some((number_of(&it.name)?, at)))
            .collect();
        files.sort_unstable();
        let mut res = Self::default();
        for (number, blob) in files {
            let place = super::place(blob, res.list.len());
            let (text, findings) = &texts[blob];
            match Object::whole(text, 0) {
                Some(object) => {
                    let damage = findings.iter().cloned();
                    res.findings.extend(damage.map(|it| Finding { at: place, ..it }));
                    res.list.push(Event { number, place, kind: kind(&object), object });
                }
                None => {
                    let message = format!("{} is not a JSON object", blobs[blob].name);
                    let finding = Finding::error("session::not-readable", place, message);
                    res.findings.push(finding);
                }
            }
        }
        res
    }
}

impl<'a> Events<'a> {
    /// The events of one document, whose places are their numbers.
    fn of_list(list: Vec<Value<'a>>) -> Self {
        let mut res = Self { is_document: true, ..Self::default() };
        for (at, value) in list.into_iter().enumerate() {
            let place = super::place(0, at);
            match value.object() {
                Some(object) => {
                    res.list.push(Event { number: at as u64, place, kind: kind(&object), object });
                }
                None => res.findings.push(super::super::unknown_record(place)),
            }
        }
        res
    }
}

/// The number in the name of an event's file.
fn number_of(name: &str) -> Option<u64> {
    let file = name.rsplit('/').next()?;
    let rest = file.strip_prefix("event-")?.strip_suffix(".json")?;
    rest.split('-').next()?.parse().ok()
}

/// The name of an event's file with another number.
pub(super) fn renamed(name: &str, number: u64) -> String {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let rest = file.strip_prefix("event-").unwrap_or_default();
    let rest = rest.split_once('-').map_or(".json", |it| it.1);
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}event-{number:05}-{rest}")
}

/// The name of a new event's file in the folder of another one.
pub(super) fn name_beside(name: &str, number: u64, uuid: &str) -> String {
    let folder = name.rsplit_once('/').map(|it| format!("{}/", it.0)).unwrap_or_default();
    format!("{folder}event-{number:05}-{uuid}.json")
}

fn kind(event: &Object<'_>) -> Kind {
    match &*event.text("kind").unwrap_or_default() {
        "SystemPromptEvent" => Kind::System,
        "MessageEvent" => Kind::Message,
        "ActionEvent" => Kind::Action,
        "ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent" => Kind::Observation,
        "Condensation" => Kind::Condensation,
        _ => Kind::Other,
    }
}
