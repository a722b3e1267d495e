//! The calls of one choice while their fragments arrive (OA-19): which fragment belongs to which
//! call. What becomes of them at the end is in `close.rs`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use msg_core::CallKind;

use super::notes::Note;
use super::slot::{Slot, begins_object};
use super::step::Step;
use crate::json::Str;

/// What a chunk says about one call; an empty string counts as absent.
#[derive(Debug, Default)]
pub struct Entry<'a> {
    /// Its index.
    pub index: Option<u64>,
    /// Its id.
    pub id: Option<Cow<'a, str>>,
    /// Its tool.
    pub name: Option<Cow<'a, str>>,
    /// A fragment of its arguments.
    pub arguments: Option<Str<'a>>,
    /// Its kind.
    pub kind: CallKind,
}

/// All calls of a choice, in the order of their arrival.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// The calls.
    pub slots: Vec<Slot>,
    /// The last slot of each index.
    by_index: BTreeMap<u64, usize>,
    /// The last slot of each id.
    by_id: BTreeMap<String, usize>,
    /// The index and slot of the entry before, which most fragments continue.
    recent: Option<(u64, usize)>,
}

impl Calls {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a call at the end; none over the limit.
    pub fn open(&mut self, step: &mut Step<'_, '_>) -> Option<usize> {
        if self.slots.len() >= step.limits.max_calls {
            step.text_gauge().limit();
            return None;
        }
        self.slots.push(Slot::default());
        Some(self.slots.len() - 1)
    }

    /// Takes what a chunk says about a call; gives the slot that it belongs to, if it is taken.
    pub fn take(&mut self, entry: &Entry<'_>, step: &mut Step<'_, '_>) -> Option<usize> {
        let at = match entry.index {
            Some(index) => self.route_by_index(index, entry, step)?,
            None => self.route_without_index(entry, step)?,
        };
        let slot = &mut self.slots[at];
        if entry.kind != CallKind::Function {
            slot.kind = entry.kind.clone();
        }
        if let Some(id) = entry.id.as_deref() {
            if slot.id.is_empty() {
                id.clone_into(&mut slot.id);
                self.by_id.insert(id.to_owned(), at);
            } else if slot.id != id {
                let first = &slot.id;
                step.note(Note::ID_CHANGED, || {
                    format!("the id {first} of a call became {id}; ignored")
                });
            }
        }
        if let Some(name) = entry.name.as_deref() {
            slot.set_name(name, entry, step);
        }
        if let Some(arguments) = entry.arguments {
            if slot.kind == CallKind::Custom {
                slot.push(at as u32, arguments, step);
            } else {
                slot.push_held(at as u32, arguments, step);
            }
        }
        Some(at)
    }

    /// OA-19.1
    fn route_without_index(&mut self, entry: &Entry<'_>, step: &mut Step<'_, '_>) -> Option<usize> {
        step.note(Note::INDEX_MISSING, || "a fragment of a call has no index".into());
        let found = match entry.id.as_deref() {
            Some(id) => self.by_id.get(id).copied(),
            None => self
                .slots
                .len()
                .checked_sub(1)
                .filter(|&last| entry.name.is_none() || !self.slots[last].closed()),
        };
        found.or_else(|| self.open(step))
    }

    /// OA-19.2
    fn route_by_index(
        &mut self,
        index: u64,
        entry: &Entry<'_>,
        step: &mut Step<'_, '_>,
    ) -> Option<usize> {
        let known = match self.recent {
            Some((recent, at)) if recent == index => Some(at),
            _ => self.by_index.get(&index).copied(),
        };
        let at = match known {
            None => self.open(step)?,
            Some(at) => match relation(&self.slots[at], entry) {
                Relation::Same => at,
                Relation::Repeated => {
                    step.note(Note::CALL_REPEATED, || {
                        "a whole call came again and was ignored".into()
                    });
                    return None;
                }
                Relation::Another => {
                    step.note(Note::INDEX_REUSED, || {
                        format!("the index {index} is used by more than one call")
                    });
                    self.open(step)?
                }
            },
        };
        if known != Some(at) {
            self.by_index.insert(index, at);
        }
        self.recent = Some((index, at));
        Some(at)
    }
}

/// What an entry with a known index is to the call that has the index.
enum Relation {
    Same,
    Repeated,
    Another,
}

fn relation(slot: &Slot, entry: &Entry<'_>) -> Relation {
    let Some(name) = entry.name.as_deref() else {
        return Relation::Same;
    };
    match (entry.id.as_deref(), entry.arguments) {
        (Some(id), _) if !slot.id.is_empty() && slot.id != id => Relation::Another,
        (Some(_), Some(arguments)) if slot.name == name && slot.closed() => {
            if slot.says(&arguments.text()) {
                Relation::Repeated
            } else if !slot.held && begins_object(arguments) {
                Relation::Another
            } else {
                Relation::Same
            }
        }
        (_, Some(_)) if slot.closed() && (entry.id.is_none() || slot.id.is_empty()) => {
            Relation::Another
        }
        _ => Relation::Same,
    }
}
