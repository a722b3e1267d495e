//! Reasoning that a provider keeps: items of OpenAI's Responses, which are sent again by their ids.
//!
//! A message of this model is several such items, one a part; a part carries the id of its item among its
//! extra members. Writing them is the business of the wire format.

use msg_core::{Origin, Part, Role};
use serde::Deserialize;

use super::state::{Breach, Conform};
use crate::profile::Acceptance;

/// The member that holds what an item has beside its content.
pub(crate) const ITEM: &str = "item";

impl Conform<'_> {
    /// A reasoning item that is named by its id is followed by the item that it was made for (PM-87): a part
    /// with an id too, in the same message or in the next one of the assistant.
    pub(super) fn lone_reasoning(&mut self) {
        if self.profile.lone_reasoning == Acceptance::Accept {
            return;
        }
        for at in 0..self.items.len() {
            let lone = self.lone_parts(at);
            if lone.is_empty() {
                continue;
            }
            for part in &lone {
                let sentence = "a reasoning item without the item that it was made for";
                self.at_part(
                    at,
                    *part,
                    Breach::error("profile::lone-reasoning", sentence, "removed"),
                );
            }
            self.remove_reasoning(at, |part| lone.binary_search(&part).is_ok());
        }
    }

    /// The reasoning parts of a message whose items stand alone, in order.
    fn lone_parts(&self, at: usize) -> Vec<usize> {
        let parts = &self.items[at].message.parts;
        let mut followed = match self.items.get(at + 1) {
            Some(next) if next.message.role == Role::Assistant => {
                next.message.parts.first().is_some_and(has_item_id)
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
            followed = has_item_id(it) && (!is_reasoning || followed);
        }
        lone.reverse();
        lone
    }
}

/// Whether a part is an item with an id: of its own, or as JSON that this model has no kind for.
pub(crate) fn has_item_id(part: &Part) -> bool {
    #[derive(Deserialize)]
    struct Item {
        id: Option<serde::de::IgnoredAny>,
    }
    let item = match part {
        Part::Other(it) if it.format == Origin::Responses => Some(&it.value),
        other => other.extra().get(&Origin::Responses, ITEM),
    };
    item.is_some_and(|it| it.parse::<Item>().is_ok_and(|it| it.id.is_some()))
}
