//! Reasoning that a provider keeps: items of OpenAI's Responses, which are sent again by their ids.
//!
//! A message of this model is several such items, one a part; a part carries the id of its item among its
//! extra members. Writing them is the business of the wire format.

use msg_core::{Extra, Origin, Part, RawJson, Role};
use serde::Deserialize;

use super::{
    opaque::Facts,
    state::{Conform, error},
};
use crate::profile::Acceptance;

/// The member that holds what an item has beside its content.
pub(crate) const ITEM: &str = "item";

impl Conform<'_, '_> {
    /// Ids of items begin as those that the provider gave (PM-95). An item without its id is fine.
    pub(super) fn item_ids(&mut self) {
        let rules = &self.profile.item_ids;
        let rules: Vec<(&str, &str)> = rules.iter().filter_map(|it| it.split_once(':')).collect();
        if rules.is_empty() {
            return;
        }
        let judge = |part: &Part| {
            let of_kind = rules.iter().filter(|rule| rule.0 == part.kind());
            let begins: Vec<&str> = of_kind.map(|rule| rule.1).collect();
            let is_wrong = |id: &String| !begins.iter().any(|it| id.starts_with(it));
            let id = item_id(part).filter(|it| !begins.is_empty() && is_wrong(it))?;
            let begins = begins.join("` or `");
            let sentence = format!("the item id `{id}` does not begin with `{begins}`");
            Some((error("profile::item-id", sentence, "left out"), Some(())))
        };
        self.mend_parts(judge, |part, ()| leave_id_out(part.extra_mut()));
    }

    /// A reasoning item that is named by its id is followed by the item that it was made for (PM-87): a call, or
    /// a message with an id too, in the same message of the model or in the next one of the assistant.
    pub(super) fn lone_reasoning(&mut self) {
        if self.profile.lone_reasoning == Acceptance::Accept {
            return;
        }
        // From the end on: an item before one that goes has to be followed by what is left.
        for at in (0..self.items.len()).rev() {
            let lone = self.lone_parts(at);
            if lone.is_empty() {
                continue;
            }
            for part in &lone {
                let sentence = "a reasoning item without the item that it was made for";
                self.at_part(at, *part, error("profile::lone-reasoning", sentence, "removed"));
            }
            self.remove_reasoning(at, |part| lone.binary_search(&part).is_ok());
        }
    }

    /// The reasoning parts of a message whose items stand alone, in order.
    fn lone_parts(&self, at: usize) -> Vec<usize> {
        let parts = &self.items[at].message.parts;
        let mut followed = match self.items.get(at + 1) {
            Some(next) if next.message.role == Role::Assistant => {
                next.message.parts.first().is_some_and(may_be_made)
            }
            _ => false,
        };
        let mut lone = Vec::new();
        for (part, it) in parts.iter().enumerate().rev() {
            let is_reasoning = it.as_reasoning().is_some();
            if is_reasoning && has_item_id(it) && !followed {
                lone.push(part);
            }
            // What follows a lone item does not make the one before it stand with its own.
            followed = may_be_made(it) && (!is_reasoning || followed);
        }
        lone.reverse();
        lone
    }
}

/// Whether a part can be what a reasoning item was made for. A call is one without its id, too: recorded requests
/// of clients that leave ids out were answered.
fn may_be_made(part: &Part) -> bool {
    has_item_id(part) || matches!(part, Part::ToolCall(_)) || is_raw_call(part)
}

/// Whether a part is an item that calls, of a kind that this model has no place for.
fn is_raw_call(part: &Part) -> bool {
    matches!(part, Part::Other(it) if Facts::of(it).kind.is_some_and(|it| it.ends_with("_call")))
}

/// Whether a part is an item with an id.
pub(super) fn has_item_id(part: &Part) -> bool {
    item_id(part).is_some()
}

/// The id of the item that a part is: of its own, or as JSON that this model has no kind for.
pub(crate) fn item_id(part: &Part) -> Option<String> {
    #[derive(Deserialize)]
    struct Item {
        id: Option<String>,
    }
    let item = match part {
        Part::Other(it) if it.format == Origin::Responses => Some(&it.value),
        other => other.extra().get(&Origin::Responses, ITEM),
    };
    item?.parse::<Item>().ok()?.id
}

/// Takes the id out of what an item has beside its content.
fn leave_id_out(extra: &mut Extra) {
    let members = extra.get(&Origin::Responses, ITEM).map(RawJson::parse::<serde_json::Map<_, _>>);
    let Some(Ok(mut members)) = members else { return };
    members.remove("id");
    let text = serde_json::Value::Object(members).to_string();
    if let Ok(item) = RawJson::new(text) {
        extra.insert(Origin::Responses, ITEM, item);
    }
}
