//! The parts of an output item by their index: each is put in order only at the end, because a provider
//! may send them in any.

use msg_codec::Str;
use msg_codec::stream::{BySlot, Channel, Merged, Note, Parts, Step, TextKind};
use msg_core::{Extra, Other, Part, Place, RawJson, Reasoning, Text};

use super::ORIGIN;
use crate::stream::items::{Item, ItemKind, Thought};

/// Parts of an item by their index.
#[derive(Debug, Clone)]
pub(crate) struct Pieces<T>(Vec<(u64, T)>);

/// A content part of a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    pub(super) text: Channel,
    pub(super) is_refusal: bool,
    /// Members that the model does not know.
    pub(super) unknown: Merged,
    /// A part of an unknown type: JSON.
    pub(super) other: String,
}

/// Whether a text is one more delta, or the whole at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Delta,
    Whole,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Pieces<T> {
    /// The part of this index; a new one is made, up to the limit.
    pub(super) fn at(&mut self, index: u64, step: &mut Step<'_, '_>) -> Option<&mut T> {
        let found = match self.0.last() {
            Some((last, _)) if *last == index => Some(self.0.len() - 1),
            _ => self.0.iter().position(|(it, _)| *it == index),
        };
        if found.is_none() {
            if self.0.len() >= step.limits.max_calls {
                step.text_gauge().limit();
                return None;
            }
            self.0.push((index, T::default()));
        }
        let place = found.unwrap_or(self.0.len() - 1);
        self.0.get_mut(place).map(|(_, it)| it)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, it)| it)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, it)| it)
    }

    pub(super) fn sorted(mut self) -> impl Iterator<Item = T> {
        self.0.sort_by_key(|(index, _)| *index);
        self.0.into_iter().map(|(_, it)| it)
    }
}

impl Content {
    pub(super) fn kind(&self) -> TextKind {
        if self.is_refusal { TextKind::Refusal } else { TextKind::Text }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.other.is_empty()
    }

    pub(super) fn into_part(self) -> Option<Part> {
        if self.is_empty() {
            return None;
        }
        if self.text.is_empty() {
            return other(&self.other, Place::Content);
        }
        let mut extra = Extra::default();
        self.unknown.into_extra(&ORIGIN, &mut extra);
        let text = Text { text: self.text.into_text(), extra };
        Some(if self.is_refusal { Part::Refusal(text) } else { Part::Text(text) })
    }
}

/// Appends a delta, or settles the text with the whole of it.
pub(super) fn take(
    kind: TextKind,
    channel: &mut Channel,
    form: Form,
    text: Str<'_>,
    step: &mut Step<'_, '_>,
) {
    match form {
        Form::Delta => kind.push(channel, text, step),
        Form::Whole => match channel.take_whole(&text.text(), &mut step.text_gauge()) {
            Some(added) => kind.announce(added, step),
            None => step.note(Note::DONE_DIFFERS, || "a final text differs from its deltas".into()),
        },
    }
}

/// What is carried as it came.
pub(super) fn other(json: &str, place: Place) -> Option<Part> {
    let mut other = Other::new(ORIGIN, RawJson::new(json).ok()?);
    other.place = Some(place);
    Some(Part::Other(other))
}

// An output item at its end: the parts of the message that it is.

impl Item {
    /// The parts that the item is; its own members go to the first of them.
    pub(crate) fn into_parts(self, calls: &mut BySlot, parts: &mut Parts) {
        let from = parts.list.len();
        // An item of reasoning is that even without a word: its id is what the API asks back.
        let is_reasoning = matches!(self.kind, ItemKind::Reasoning(_));
        if self.is_empty() && (self.whole.is_empty() || !is_reasoning) {
            parts.list.extend(other(&self.whole, Place::Item));
            return;
        }
        match self.kind {
            ItemKind::Pending | ItemKind::Other => {}
            ItemKind::Message(contents) => {
                parts.list.extend(contents.sorted().filter_map(Content::into_part));
            }
            ItemKind::Call(slot) => {
                calls.take(slot).into_iter().for_each(|it| parts.push_call(it));
            }
            ItemKind::Reasoning(thought) => parts.list.push(thought.into_part()),
        }
        let rest = if self.rest.is_empty() && !self.id.is_empty() {
            format!("{{\"id\":{}}}", self.id)
        } else {
            self.rest
        };
        if let (Some(first), Ok(rest)) = (parts.list.get_mut(from), RawJson::new(rest)) {
            first.extra_mut().insert(ORIGIN, "item", rest);
        }
    }
}

impl Thought {
    fn into_part(self) -> Part {
        let (summary, text) = (filled(self.summary), filled(self.text));
        Part::Reasoning(Reasoning {
            text: (!text.is_empty()).then(|| text.join("\n\n")),
            summary: (!summary.is_empty()).then_some(summary),
            encrypted: self.encrypted,
            ..Reasoning::default()
        })
    }
}

fn filled(pieces: Pieces<Channel>) -> Vec<String> {
    pieces.sorted().filter(|it| !it.is_empty()).map(Channel::into_text).collect()
}
