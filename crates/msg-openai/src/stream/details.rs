//! `reasoning_details` of OpenRouter and its like (OA-18): a list whose last element grows by
//! deltas. Kept whole, because providers want it back as it was.

use msg_codec::stream::{Merged, Step};
use msg_codec::{Json, Str};
use msg_core::RawJson;
use msg_json::to_text;

/// The list so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Details {
    elements: Vec<Element>,
}

/// One element, and what the deltas that it grows by have in common: type and index, as JSON.
#[derive(Debug, Clone, Default)]
struct Element {
    kind: String,
    index: String,
    members: Merged,
}

impl Details {
    /// Takes the details of one delta.
    pub(crate) fn add(&mut self, details: Json<'_>, step: &mut Step<'_, '_>) {
        for detail in details.elements().filter(|it| it.is_object()) {
            let [kind, index] =
                detail.pick(["type", "index"]).map(|it| it.map_or("", Json::source));
            if !self.elements.last().is_some_and(|it| it.kind == kind && it.index == index) {
                if !step.text_gauge().take(kind.len() + index.len() + size_of::<Element>()) {
                    return;
                }
                let (kind, index) = (kind.to_owned(), index.to_owned());
                self.elements.push(Element { kind, index, members: Merged::default() });
            }
            let Some(last) = self.elements.last_mut() else { return };
            let gauge = &mut step.text_gauge();
            for (name, value) in detail.members() {
                match &*name {
                    "text" | "summary" | "data" => last.members.grow(&name, value, gauge),
                    _ => last.members.set(&name, value, gauge),
                }
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
        let elements = self.elements.into_iter().map(|it| it.members.into_json());
        RawJson::new(to_text(|it| {
            it.array(elements, |it, json| it.raw(if json.is_empty() { "{}" } else { &json }));
        }))
        .ok()
    }
}
