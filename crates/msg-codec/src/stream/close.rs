//! What becomes of the calls at the end (OA-19.5): which are whole, which are cut off, and the ids
//! of those that came without. Nothing is guessed: a call that may be cut is never complete.

use std::borrow::Cow;
use std::collections::BTreeSet;

use msg_core::{Arguments, CallKind, Part, StreamEvent, ToolCall};
use msg_json::{TextState, classify, skip_value};

use super::calls::Calls;
use super::notes::Note;
use super::slot::Slot;
use super::step::Step;
use crate::json::Str;

/// A call at its end.
#[derive(Debug, Clone)]
pub struct Closed {
    /// Which slot it came from.
    pub slot: usize,
    /// Its number in events.
    number: u32,
    /// The call.
    pub call: ToolCall,
    /// Whether it may be executed.
    pub complete: bool,
}

/// How calls are ended.
#[derive(Debug, Clone, Copy)]
pub struct Closing {
    /// The stream was cut off, so that what looks unfinished is.
    pub cut: bool,
    /// Several objects in one call become several calls.
    pub split: bool,
}

/// The calls at their end by the slot that they came from.
#[derive(Debug, Default)]
pub struct BySlot(Vec<Vec<Closed>>);

impl BySlot {
    /// Sorts calls by their slots.
    pub fn new(closed: Vec<Closed>) -> Self {
        let mut slots = Vec::new();
        for it in closed {
            if slots.len() <= it.slot {
                slots.resize_with(it.slot + 1, Vec::new);
            }
            slots[it.slot].push(it);
        }
        Self(slots)
    }

    /// The calls of one slot, which leave.
    pub fn take(&mut self, slot: usize) -> Vec<Closed> {
        self.0.get_mut(slot).map(std::mem::take).unwrap_or_default()
    }
}

/// The parts of a message as they are put together, and which of its calls may be executed.
#[derive(Debug, Default)]
pub struct Parts {
    /// The parts.
    pub list: Vec<Part>,
    /// For each call among the parts, in their order.
    pub complete: Vec<bool>,
}

impl Parts {
    /// Adds a call.
    pub fn push_call(&mut self, call: Closed) {
        self.complete.push(call.complete);
        self.list.push(Part::ToolCall(call.call));
    }
}

impl Calls {
    /// Ends all calls, in the order of their arrival, and announces them.
    pub fn close(self, closing: Closing, step: &mut Step<'_, '_>) -> Vec<Closed> {
        let mut closed = Vec::with_capacity(self.slots.len());
        let mut next = self.slots.len() as u32;
        for (at, mut slot) in self.slots.into_iter().enumerate() {
            slot.end(at as u32, step);
            let outcome = judge(&slot, closing, step);
            if outcome == Outcome::Empty {
                slot.push(at as u32, Str::plain("{}"), step);
            }
            let texts = match outcome {
                Outcome::Several if closing.split => {
                    objects(slot.arguments.text()).unwrap_or_default()
                }
                _ => Vec::new(),
            };
            let mut calls = split(&slot, &texts, at, &mut next, step);
            if calls.is_empty() {
                // For `{}` there may have been no room.
                let complete =
                    matches!(outcome, Outcome::Whole | Outcome::Empty) && !slot.arguments.is_full();
                calls.push(Closed { slot: at, number: at as u32, call: into_call(slot), complete });
            }
            closed.append(&mut calls);
        }
        name_nameless(&mut closed, step);
        for it in &closed {
            (step.sink)(StreamEvent::ToolCall {
                choice: step.choice,
                index: it.number,
                call: Cow::Borrowed(&it.call),
                complete: it.complete,
            });
        }
        closed
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Whole,
    /// No arguments where none are meant.
    Empty,
    /// Several objects one after the other.
    Several,
    Incomplete,
}

fn judge(slot: &Slot, closing: Closing, step: &mut Step<'_, '_>) -> Outcome {
    let text = slot.arguments.text();
    let cut = closing.cut && !slot.is_final;
    if slot.unended || slot.arguments.is_full() {
        return incomplete(slot, step);
    }
    if slot.kind == CallKind::Custom {
        return if closing.cut && !slot.done { incomplete(slot, step) } else { Outcome::Whole };
    }
    if text.trim_ascii().is_empty() {
        if cut {
            return incomplete(slot, step);
        }
        step.note(Note::ARGUMENTS_EMPTY, || {
            format!("the call {} came without arguments, which became {{}}", slot.name)
        });
        return Outcome::Empty;
    }
    match classify(text) {
        TextState::Object => Outcome::Whole,
        TextState::Value if cut && !slot.closed() => incomplete(slot, step),
        TextState::Value => {
            step.note(Note::ARGUMENTS_NOT_OBJECT, || {
                format!("the arguments of the call {} are no object", slot.name)
            });
            Outcome::Whole
        }
        TextState::Incomplete => incomplete(slot, step),
        TextState::Invalid if objects(text).is_some() => {
            step.note(Note::ARGUMENTS_CONCATENATED, || {
                format!("the arguments of the call {} are several objects", slot.name)
            });
            Outcome::Several
        }
        TextState::Invalid => {
            step.note(Note::ARGUMENTS_INVALID, || {
                format!("the arguments of the call {} are not JSON", slot.name)
            });
            Outcome::Incomplete
        }
    }
}

fn incomplete(slot: &Slot, step: &mut Step<'_, '_>) -> Outcome {
    step.note(Note::ARGUMENTS_INCOMPLETE, || {
        format!("the call {} was cut off before its arguments were complete", slot.name)
    });
    Outcome::Incomplete
}

/// The objects that a text is a sequence of; none if it is something else, or only one.
fn objects(text: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        if !rest.starts_with('{') {
            return None;
        }
        let end = skip_value(rest.as_bytes(), 0).ok()?;
        found.push(&rest[..end]);
        rest = rest[end..].trim_ascii_start();
    }
    (found.len() > 1).then_some(found)
}

/// A call for each of the texts; the first is the slot's own.
fn split(
    slot: &Slot,
    texts: &[&str],
    at: usize,
    next: &mut u32,
    step: &mut Step<'_, '_>,
) -> Vec<Closed> {
    let mut calls = Vec::with_capacity(texts.len());
    for (k, text) in texts.iter().enumerate() {
        let mut part = Slot::like(slot);
        let mut number = at as u32;
        if k == 0 {
            part.id.clone_from(&slot.id);
            part.signature.clone_from(&slot.signature);
            part.extra = slot.extra.clone();
            part.begun = true;
        } else {
            number = *next;
            *next += 1;
        }
        let mut call = into_call(part.clone());
        call.arguments = Arguments::from(*text);
        if k > 0 {
            part.set_text(text, step);
            part.begin(number, step);
        }
        calls.push(Closed { slot: at, number, call, complete: true });
    }
    calls
}

fn into_call(slot: Slot) -> ToolCall {
    ToolCall {
        id: slot.id,
        kind: slot.kind,
        name: slot.name,
        arguments: Arguments::from(slot.arguments.into_text()),
        signature: slot.signature,
        extra: slot.extra,
    }
}

/// Gives calls without an id one that no other call has: `call_N` by position, or the next free.
fn name_nameless(calls: &mut [Closed], step: &mut Step<'_, '_>) {
    if calls.iter().all(|it| !it.call.id.is_empty()) {
        return;
    }
    step.note(Note::ID_SYNTHESISED, || "a call came without an id and was given one".into());
    let mut taken: BTreeSet<String> = calls.iter().map(|it| it.call.id.clone()).collect();
    let mut least = 0;
    for (position, it) in calls.iter_mut().enumerate() {
        if it.call.id.is_empty() {
            let mut number = position.max(least);
            while taken.contains(&format!("call_{number}")) {
                number += 1;
            }
            least = number + 1;
            it.call.id = format!("call_{number}");
            taken.insert(it.call.id.clone());
        }
    }
}
