//! The calls of one choice while their fragments arrive (OA-19): assigns fragments to calls.
//! `close.rs` ends them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memchr::memchr2;
use msg_core::{CallKind, Extra, StreamEvent};

use super::channel::Channel;
use super::merged::{AssemblerStep, Note};
use crate::json::Str;

/// The data of a chunk about one call; an empty string counts as absent.
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
    /// The index and slot of the previous entry, which most fragments continue.
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

    /// The indexes of its calls, in ascending order.
    pub fn indexes(&self) -> impl Iterator<Item = u64> {
        self.by_index.keys().copied()
    }

    /// Adds a call at the end; `None` over the limit.
    pub fn open(&mut self, step: &mut AssemblerStep<'_, '_>) -> Option<usize> {
        if self.slots.len() >= step.limits.max_calls {
            step.text_gauge().limit();
            return None;
        }
        let arrival = Arrival { holes: step.holes, ..Arrival::default() };
        self.slots.push(Slot { arrival, ..Slot::default() });
        Some(self.slots.len() - 1)
    }

    /// Handles the data of a chunk about a call; returns its slot, unless it is dropped.
    pub fn take(&mut self, entry: &Entry<'_>, step: &mut AssemblerStep<'_, '_>) -> Option<usize> {
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
    fn route_without_index(
        &mut self,
        entry: &Entry<'_>,
        step: &mut AssemblerStep<'_, '_>,
    ) -> Option<usize> {
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
        step: &mut AssemblerStep<'_, '_>,
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

/// The relation of an entry with a known index to the call with that index.
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

// One call while its fragments arrive: its data, and what was announced of it (OA-19).

/// One call.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    /// Its id; empty until it arrives.
    pub id: String,
    /// Its tool; empty until it arrives.
    pub name: String,
    /// Its kind.
    pub kind: CallKind,
    /// The signature that the provider requires with it.
    pub signature: Option<String>,
    /// Its unknown members.
    pub extra: Extra,
    /// The text of its arguments so far.
    pub arguments: Channel,
    /// Whether the first fragment was `{}` and waits for the next one.
    pub(crate) held: bool,
    /// Whether its begin was announced.
    pub begun: bool,
    /// Whether another block followed, so it no longer grows (OA-23).
    pub is_final: bool,
    /// Whether it needs an end from the provider and got none (OA-23).
    pub unended: bool,
    /// Whether the provider sent it complete (OA-22).
    pub done: bool,
    arrival: Arrival,
}

/// How the arguments of a call arrived (OA-28).
#[derive(Debug, Clone, Default)]
struct Arrival {
    brackets: Brackets,
    /// Whether its provider announced its end.
    has_stopped: bool,
    /// Whether the text arrived at once.
    is_whole: bool,
    /// The number of gaps in the stream up to the last fragment.
    holes: u32,
    /// Whether events were lost while the arguments arrived.
    is_torn: bool,
}

impl Slot {
    /// A new call of the same tool.
    pub fn like(other: &Slot) -> Self {
        Self { name: other.name.clone(), kind: other.kind.clone(), ..Self::default() }
    }

    /// Whether the top-level object or array of the arguments is complete.
    pub fn closed(&self) -> bool {
        self.held || self.arrival.brackets.closed()
    }

    /// Whether a fragment of arguments arrived.
    pub fn has_arguments(&self) -> bool {
        self.held || !self.arguments.is_empty()
    }

    /// Whether the argument text so far equals this.
    pub(crate) fn says(&self, arguments: &str) -> bool {
        if self.held { arguments == "{}" } else { self.arguments.text() == arguments }
    }

    /// Sets the name; the first one counts (OA-19.3).
    pub(crate) fn set_name(
        &mut self,
        name: &str,
        entry: &Entry<'_>,
        step: &mut AssemblerStep<'_, '_>,
    ) {
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

    /// Notes events lost since its last fragment: an unfinished call may lack a piece.
    fn meet(&mut self, holes: u32) {
        let it = &mut self.arrival;
        if it.holes != holes {
            it.holes = holes;
            it.is_torn |= !it.is_whole && !it.has_stopped && !it.brackets.closed();
        }
    }

    /// Notes that its provider announced its end.
    pub(crate) fn stop(&mut self, holes: u32) {
        self.meet(holes);
        self.unended = false;
        self.arrival.has_stopped = true;
    }

    /// Whether a piece of its arguments may be missing: events were lost meanwhile, or bytes of any call were (`torn`)
    /// and it did not arrive at once.
    pub(crate) fn may_lack_a_piece(&mut self, torn: bool, holes: u32) -> bool {
        self.meet(holes);
        self.arrival.is_torn || torn && !self.arrival.is_whole && !self.done
    }

    /// Appends a fragment of arguments, holding back a leading `{}` (OA-19.4).
    pub fn push_held(&mut self, number: u32, fragment: Str<'_>, step: &mut AssemblerStep<'_, '_>) {
        self.meet(step.holes);
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

    /// Releases a fragment that was held back.
    pub fn release(&mut self, number: u32, step: &mut AssemblerStep<'_, '_>) {
        if std::mem::take(&mut self.held) {
            self.push(number, Str::plain("{}"), step);
        }
    }

    /// Appends a fragment of arguments; the first one announces a call whose name is known.
    pub fn push(&mut self, number: u32, fragment: Str<'_>, step: &mut AssemblerStep<'_, '_>) {
        self.meet(step.holes);
        let added = self.arguments.push(fragment, &mut step.argument_gauge());
        self.arrival.brackets.feed(added.as_bytes());
        if self.begun {
            delta(number, added, step);
        } else if !self.name.is_empty() && !self.arguments.is_empty() {
            self.begin(number, step);
        }
    }

    /// Announces the call with its arguments so far (OA-19.4).
    pub fn begin(&mut self, number: u32, step: &mut AssemblerStep<'_, '_>) {
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

    /// Ends the argument text and releases what was held back.
    pub fn end(&mut self, number: u32, step: &mut AssemblerStep<'_, '_>) {
        self.release(number, step);
        let added = self.arguments.end(&mut step.argument_gauge());
        self.arrival.brackets.feed(added.as_bytes());
        if self.begun {
            delta(number, added, step);
        }
        self.begin(number, step);
    }

    /// Handles the complete argument text at its end (OA-22); it wins if it does not begin with the deltas.
    pub fn take_whole(&mut self, number: u32, whole: &str, step: &mut AssemblerStep<'_, '_>) {
        self.arrival.holes = step.holes;
        (self.arrival.is_torn, self.arrival.is_whole) = (false, true);
        if self.arguments.is_empty() {
            return self.push(number, Str::plain(whole), step);
        }
        match self.arguments.take_whole(whole, &mut step.argument_gauge()) {
            Some(added) => {
                self.arrival.brackets.feed(added.as_bytes());
                if self.begun {
                    delta(number, added, step);
                }
            }
            None => {
                self.arrival.brackets = Brackets::default();
                self.arrival.brackets.feed(self.arguments.text().as_bytes());
                step.note(Note::DONE_DIFFERS, || {
                    "a call's final arguments differ from its deltas".into()
                });
            }
        }
    }

    /// Replaces the text without a finding.
    pub fn set_text(&mut self, text: &str, step: &mut AssemblerStep<'_, '_>) {
        self.arguments.replace(text, &mut step.argument_gauge());
    }
}

/// Whether a fragment begins an object.
pub(crate) fn begins_object(fragment: Str<'_>) -> bool {
    fragment.text().trim_start().starts_with('{')
}

fn delta(index: u32, arguments: &str, step: &mut AssemblerStep<'_, '_>) {
    if !arguments.is_empty() {
        (step.sink)(StreamEvent::ToolCallDelta {
            choice: step.choice,
            index,
            arguments: Cow::Borrowed(arguments),
        });
    }
}

// The position in a JSON text, updated fragment by fragment.

/// Where in a JSON text its reader is, fragment by fragment.
#[derive(Debug, Clone, Default)]
pub struct Brackets {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Brackets {
    /// Whether one top-level object or array has ended.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Scans the next fragment. Each byte is inspected once.
    pub fn feed(&mut self, fragment: &[u8]) {
        let mut rest = fragment;
        while let Some((&byte, after)) = rest.split_first() {
            if self.escaped {
                self.escaped = false;
                rest = after;
            } else if self.in_string {
                rest = self.pass_string(rest);
            } else {
                self.bracket(byte);
                rest = after;
            }
        }
    }

    /// Scans a string up to and including the byte that ends it or begins an escape.
    fn pass_string<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(at) = memchr2(b'"', b'\\', bytes) else {
            return &[];
        };
        self.escaped = bytes[at] == b'\\';
        self.in_string = self.escaped;
        &bytes[at + 1..]
    }

    fn bracket(&mut self, byte: u8) {
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.closed |= self.depth == 0;
            }
            _ => {}
        }
    }
}
