//! One call while its fragments arrive: what is known of it, and what of it was announced (OA-19).

use std::borrow::Cow;

use msg_core::{CallKind, Extra, StreamEvent};

use super::brackets::Brackets;
use super::calls::Entry;
use super::channel::Channel;
use super::notes::Note;
use super::step::Step;
use crate::json::Str;

/// One call.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    /// Its id; empty as long as none came.
    pub id: String,
    /// Its tool; empty as long as none came.
    pub name: String,
    /// Its kind.
    pub kind: CallKind,
    /// What the provider wants back with it.
    pub signature: Option<String>,
    /// Its unknown members.
    pub extra: Extra,
    /// Its arguments so far.
    pub arguments: Channel,
    brackets: Brackets,
    /// The first fragment was `{}` and waits for the next one.
    pub(super) held: bool,
    /// Its begin was announced.
    pub begun: bool,
    /// Another block came behind: it will not grow any more (OA-23).
    pub is_final: bool,
    /// It has to be ended by the provider and was not (OA-23).
    pub unended: bool,
    /// The provider sent it whole (OA-22).
    pub done: bool,
}

impl Slot {
    /// A call of the same tool, otherwise new.
    pub fn like(other: &Slot) -> Self {
        Self { name: other.name.clone(), kind: other.kind.clone(), ..Self::default() }
    }

    /// Whether one top-level object or array of arguments has ended.
    pub fn closed(&self) -> bool {
        self.held || self.brackets.closed()
    }

    /// Whether a fragment of arguments came.
    pub fn has_arguments(&self) -> bool {
        self.held || !self.arguments.is_empty()
    }

    /// Whether the argument text so far is exactly this.
    pub(super) fn says(&self, arguments: &str) -> bool {
        if self.held { arguments == "{}" } else { self.arguments.text() == arguments }
    }

    /// The first name counts (OA-19.3).
    pub(super) fn set_name(&mut self, name: &str, entry: &Entry<'_>, step: &mut Step<'_, '_>) {
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        } else if self.name == name {
            step.note(Note::NAME_REPEATED, || format!("the name {name} of a call came again"));
        } else if entry.arguments.is_none() && !self.has_arguments() {
            self.name.push_str(name);
            step.note(Note::NAME_FRAGMENT, || format!("a call's name came in pieces: {name}"));
        } else {
            let first = &self.name;
            step.note(Note::NAME_CHANGED, || {
                format!("a call's name {first} became {name}; ignored")
            });
        }
    }

    /// Appends a fragment of arguments, holding back a first `{}` (OA-19.4).
    pub fn push_held(&mut self, number: u32, fragment: Str<'_>, step: &mut Step<'_, '_>) {
        if fragment.source == "{}" && !self.has_arguments() {
            self.held = true;
            return;
        }
        if self.held && begins_object(fragment) {
            self.held = false;
            step.note(Note::EMPTY_OBJECT_PREFIX, || {
                "an empty object before the arguments proper was dropped".into()
            });
        }
        self.release(number, step);
        self.push(number, fragment, step);
    }

    /// Lets a fragment go that was held back.
    pub fn release(&mut self, number: u32, step: &mut Step<'_, '_>) {
        if std::mem::take(&mut self.held) {
            self.push(number, Str::plain("{}"), step);
        }
    }

    /// Appends a fragment of arguments and announces it.
    pub fn push(&mut self, number: u32, fragment: Str<'_>, step: &mut Step<'_, '_>) {
        let added = self.arguments.push(fragment, &mut step.argument_gauge());
        self.brackets.feed(added.as_bytes());
        if self.begun {
            delta(number, added, step);
        } else if !self.name.is_empty() && !self.arguments.is_empty() {
            self.begin(number, step);
        }
    }

    /// Announces the call with the arguments that it has (OA-19.4).
    pub fn begin(&mut self, number: u32, step: &mut Step<'_, '_>) {
        if !std::mem::replace(&mut self.begun, true) {
            (step.sink)(StreamEvent::ToolCallBegin {
                choice: step.choice,
                index: number,
                id: (!self.id.is_empty()).then_some(Cow::Borrowed(&*self.id)),
                name: Cow::Borrowed(&self.name),
            });
            delta(number, self.arguments.text(), step);
        }
    }

    /// Ends the argument text: what was held back goes out.
    pub fn end(&mut self, number: u32, step: &mut Step<'_, '_>) {
        self.release(number, step);
        let added = self.arguments.end(&mut step.argument_gauge());
        self.brackets.feed(added.as_bytes());
        if self.begun {
            delta(number, added, step);
        }
        self.begin(number, step);
    }

    /// Takes the whole argument text at its end (OA-22); one that does not begin with the deltas
    /// wins.
    pub fn take_whole(&mut self, number: u32, whole: &str, step: &mut Step<'_, '_>) {
        if self.arguments.is_empty() {
            return self.push(number, Str::plain(whole), step);
        }
        match self.arguments.take_whole(whole, &mut step.argument_gauge()) {
            Some(added) => {
                self.brackets.feed(added.as_bytes());
                if self.begun {
                    delta(number, added, step);
                }
            }
            None => {
                self.brackets = Brackets::default();
                self.brackets.feed(self.arguments.text().as_bytes());
                step.note(Note::DONE_DIFFERS, || {
                    "a call's final arguments differ from its deltas".into()
                });
            }
        }
    }

    /// Makes the text this one, without a word.
    pub fn set_text(&mut self, text: &str, step: &mut Step<'_, '_>) {
        self.arguments.replace(text, &mut step.argument_gauge());
    }
}

/// Whether a fragment begins an object.
pub(super) fn begins_object(fragment: Str<'_>) -> bool {
    fragment.text().trim_start().starts_with('{')
}

fn delta(index: u32, arguments: &str, step: &mut Step<'_, '_>) {
    if !arguments.is_empty() {
        (step.sink)(StreamEvent::ToolCallDelta {
            choice: step.choice,
            index,
            arguments: Cow::Borrowed(arguments),
        });
    }
}
