//! Which call a result answers (CA-30 to CA-34), and the pair that an assistant message begins (CA-39).

use std::collections::{HashMap, HashSet};

use msg_core::{CallKind, Message, Origin, Part, ToolCall};
use msg_json::TextState;

use super::{
    Analyzer, Naming, SMALL_PAIR,
    defect::What,
    plan::{Call, Entry, Plan, Slot, Unit, UnitKind},
};
use crate::constants::{FALLBACK_REQUEST_ARGS, SUMMARIZATION_TOOL_NAME};
use crate::ids::{mended, sanitized};
use crate::idx::Idx;
use crate::options::BadArguments;
use crate::pairing;
use crate::profile::LaterResults;

/// The edit of a result that is not next to its call.
pub(super) const MOVED: &str = "moved after its call";
const OTHER_STAYS: &str = "dropped, the other result is kept";

/// The last pair while results may follow it.
pub(super) struct OpenPair<'m> {
    pub(super) unit: Idx<Unit>,
    /// How many calls from the first on are answered.
    answered: usize,
    /// The calls that may be pending by name, the first one last; built when a result without an id asks for a name.
    names: Option<HashMap<&'m str, Vec<Idx<Call>>>>,
}

impl OpenPair<'_> {
    pub(super) fn new(unit: Idx<Unit>) -> Self {
        OpenPair { unit, answered: 0, names: None }
    }
}

impl<'m> Analyzer<'m, '_> {
    /// A result of this id and name: finds its call, or keeps it for later.
    pub(super) fn result(
        &mut self,
        (message, part): (u32, u32),
        (id, name): (&'m str, Option<&'m str>),
        natural: bool,
    ) {
        let open = self.links.open.as_ref().map(|it| it.unit);
        if id.is_empty()
            && let Some(call) = self.nearest_pending(name)
        {
            self.find(message, Some(part), What::EmptyResultId, "answers a call of its pair");
            return self.answer(call, message, part, natural);
        }
        if let Some(call) = self.pending_in_open(id, name) {
            return self.answer(call, message, part, natural);
        }
        let entry = self.entry(id);
        if let Some(call) = self.index.pending(&self.plan, entry, name) {
            if open != Some(self.plan.calls[call].unit) {
                if self.may_come_late(call) {
                    return self.stay_late(call, message, part, natural);
                }
                self.find(message, Some(part), What::LateResult, MOVED);
                return self.answer(call, message, part, false);
            }
            return self.answer(call, message, part, natural);
        }
        if let Some(call) = self.index.last_call(entry, name) {
            // A call that is not pending has its result.
            if let Some(slot) = self.plan.calls[call].slot {
                return self.duplicate(slot, message, part);
            }
        }
        match self.index.unlinked(entry) {
            Some(slot) if open.is_some() && open == self.plan.slots[slot].unit => {
                self.duplicate(slot, message, part);
            }
            _ => self.leave_unlinked(message, part, entry, natural),
        }
    }

    /// The first pending call of this id, and of this name if there is one, in a small open pair. None where a call
    /// before the pair may be meant.
    fn pending_in_open(&self, id: &str, name: Option<&str>) -> Option<Idx<Call>> {
        let unit = self.links.open.as_ref()?.unit;
        let mut calls = self.plan.calls_of(unit);
        if calls.len() > SMALL_PAIR || self.links.run_of_pairs < unit.index() {
            return None;
        }
        let parts = &self.chain.message(self.plan.units[unit].message).parts;
        let is_meant = |it: &ToolCall| it.id == id && name.is_none_or(|name| it.name == name);
        calls.find(|call| {
            let call = &self.plan.calls[*call];
            call.slot.is_none()
                && matches!(&parts[call.part as usize], Part::ToolCall(it) if is_meant(it))
        })
    }

    /// The calls and results with this id among all pairs that were met.
    fn entry(&mut self, id: &'m str) -> Idx<Entry<'m>> {
        self.index.catch_up(&mut self.plan, self.chain);
        self.index.entry(id)
    }

    /// The pending call of the open pair that a result without an id answers (CA-30).
    fn nearest_pending(&mut self, name: Option<&str>) -> Option<Idx<Call>> {
        let unit = self.links.open.as_ref()?.unit;
        let it = &self.plan.units[unit];
        if it.answered == it.n_calls {
            return None;
        }
        if let Some(name) = name
            && let Some(call) = self.pending_of_name(unit, name)
        {
            return Some(call);
        }
        let unnamed = self.entry("");
        if let Some(call) = self.index.pending(&self.plan, unnamed, None)
            && self.plan.calls[call].unit == unit
        {
            return Some(call);
        }
        let open = self.links.open.as_mut()?;
        let mut rest = self.plan.calls_of(unit).skip(open.answered);
        let pending = rest.position(|it| self.plan.calls[it].slot.is_none())?;
        open.answered += pending;
        self.plan.calls_of(unit).nth(open.answered)
    }

    fn pending_of_name(&mut self, unit: Idx<Unit>, name: &str) -> Option<Idx<Call>> {
        let message = self.chain.message(self.plan.units[unit].message);
        let plan = &self.plan;
        let names = &mut self.links.open.as_mut()?.names;
        let names = names.get_or_insert_with(|| by_name(plan, unit, message));
        let calls = names.get_mut(name)?;
        while calls.pop_if(|it| plan.calls[*it].slot.is_some()).is_some() {}
        calls.last().copied()
    }

    /// Lets a result answer a call, at its own place or at the end of that pair's results.
    pub(super) fn answer(&mut self, call: Idx<Call>, message: u32, part: u32, natural: bool) {
        let slot = self.push_slot(message, part, natural);
        let unit = self.plan.calls[call].unit;
        self.plan.append_slot(unit, slot);
        self.plan.link(call, slot);
    }

    /// Whether a result may answer a call of an earlier pair without moving.
    fn may_come_late(&self, call: Idx<Call>) -> bool {
        match self.rules.enforced.later_results {
            LaterResults::Accept => true,
            _ if self.may_wait(call) => true,
            LaterResults::Joined => {
                self.links.open.is_some()
                    && self.plan.calls[call].unit.index() >= self.links.run_of_pairs
            }
            LaterResults::Reject => false,
        }
    }

    /// Whether the model continues without the result of a call here.
    pub(super) fn may_wait(&self, call: Idx<Call>) -> bool {
        let part = self.plan.calls[call].part;
        self.rules.enforced.async_calls
            && self.chain.call(self.plan.message_of(call), part).is_some_and(ToolCall::is_async)
    }

    /// Links a result to a call of an earlier pair without moving it.
    fn stay_late(&mut self, call: Idx<Call>, message: u32, part: u32, natural: bool) {
        let slot = self.push_slot(message, part, natural);
        let own = self.plan.calls[call].unit.index();
        let is_shared = self.links.open.is_some() && self.is_shared(call);
        match self.rules.enforced.later_results {
            LaterResults::Joined => self.links.joined.push((slot, self.links.run_of_pairs)),
            // A placeholder would part it from the calls of its id.
            _ if is_shared => self.links.joined.push((slot, own)),
            _ => self.find_accepted(message, Some(part), What::LateResult),
        }
        let unit = match &self.links.open {
            Some(open) => open.unit,
            None => self.push_unit(message, UnitKind::Results),
        };
        self.plan.append_slot(unit, slot);
        self.plan.link(call, slot);
    }

    /// Whether a later call has the same id.
    fn is_shared(&mut self, call: Idx<Call>) -> bool {
        let part = self.plan.calls[call].part;
        let Some(it) = self.chain.call(self.plan.message_of(call), part) else { return false };
        let entry = self.entry(&it.id);
        self.index.last_call(entry, None) != Some(call)
    }

    /// Results after a run of assistant messages stay there if all calls of the run are answered after it.
    /// Otherwise each moves after its call, because anything inserted after the other calls would split
    /// the run.
    pub(super) fn place_joined(&mut self) {
        let joined = std::mem::take(&mut self.links.joined);
        if joined.is_empty() {
            return;
        }
        let open = self.open_before();
        let mut distinct = None;
        for (slot, first) in joined {
            let it = &self.plan.slots[slot];
            let (message, part) = (it.message, it.part);
            let (Some(last), Some(call)) = (it.unit, it.call) else { continue };
            // No results in between, and no call that has none.
            let after = last.index() + 1;
            if open[first].0 == open[after - 1].0 && open[first].1 == open[after].1 {
                self.find_accepted(message, Some(part), What::LateResult);
                let is_one = self.rules.enforced.later_results == LaterResults::Joined;
                if is_one && distinct.replace(last) != Some(last) {
                    self.part_ids_of_run(first, last);
                }
                continue;
            }
            self.plan.slots[slot].dead = true;
            self.find(message, Some(part), What::LateResult, MOVED);
            let own = self.push_slot(message, part, false);
            self.plan.append_slot(self.plan.calls[call].unit, own);
            self.plan.slots[own].call = Some(call);
            self.plan.calls[call].slot = Some(own);
        }
    }

    /// How many units before each have results after them, and how many calls before it have none.
    fn open_before(&self) -> Vec<(usize, usize)> {
        let mut open = vec![(0, 0)];
        for unit in (0..self.plan.units.len()).map(Idx::at) {
            let pending = self.plan.calls_of(unit).filter(|it| self.plan.calls[*it].slot.is_none());
            let has_results = self.plan.units[unit].first_slot.is_some();
            let (with_results, calls) = open[open.len() - 1];
            open.push((with_results + usize::from(has_results), calls + pending.count()));
        }
        open
    }

    /// The assistant messages of a run are one for the provider: a call with the id of one before gets a fresh one.
    fn part_ids_of_run(&mut self, first: usize, last: Idx<Unit>) {
        let mut seen = HashSet::new();
        for unit in (first..=last.index()).map(Idx::at) {
            let message = self.plan.units[unit].message;
            let ids = self.plan.calls_of(unit).filter_map(|call| {
                let it = self.chain.call(message, self.plan.calls[call].part)?;
                Some((call, it.id.as_str())).filter(|it| !it.1.is_empty())
            });
            let ids: Vec<_> = ids.collect();
            for (call, _) in ids.iter().filter(|it| seen.contains(it.1)) {
                self.plan.calls[*call].fresh_id = true;
                self.find_call(*call, What::DuplicateCallId, "given a fresh id");
            }
            seen.extend(ids.into_iter().map(|it| it.1));
        }
    }

    /// Two results for one call: the last one wins, but a placeholder never replaces a real one.
    fn duplicate(&mut self, slot: Idx<Slot>, message: u32, part: u32) {
        let it = &self.plan.slots[slot];
        let old = (it.message, it.part);
        if self.is_placeholder(message, part) && !self.is_placeholder(old.0, old.1) {
            self.find(message, Some(part), What::DuplicateResult { other: old.0 }, OTHER_STAYS);
            return;
        }
        self.find(old.0, Some(old.1), What::DuplicateResult { other: message }, OTHER_STAYS);
        let it = &mut self.plan.slots[slot];
        (it.message, it.part) = (message, part);
    }

    fn is_placeholder(&self, message: u32, part: u32) -> bool {
        self.chain
            .result(message, part)
            .is_some_and(|it| it.content.as_text() == Some(self.rules.options.placeholder_text()))
    }

    fn leave_unlinked(&mut self, message: u32, part: u32, entry: Idx<Entry<'m>>, natural: bool) {
        let slot = self.push_slot(message, part, natural);
        match self.links.open.as_ref().map(|it| it.unit) {
            Some(unit) => self.plan.append_slot(unit, slot),
            None if self.may_lead() => {
                let unit = self.push_unit(message, UnitKind::Results);
                self.plan.append_slot(unit, slot);
            }
            None => self.links.floating = true,
        }
        self.links.unlinked.push((slot, entry));
        self.index.set_unlinked(entry, slot);
    }

    /// Whether a result may be here without a call: before the first call of a chain that continues one
    /// that the provider stores.
    fn may_lead(&self) -> bool {
        !self.rules.enforced.leading_results && self.plan.calls.is_empty()
    }

    pub(super) fn push_slot(&mut self, message: u32, part: u32, natural: bool) -> Idx<Slot> {
        let slot = Idx::next_of(&self.plan.slots);
        self.plan.slots.push(Slot {
            message,
            part,
            place: message,
            natural,
            unit: None,
            units_before: self.plan.units.len() as u32,
            call: None,
            at_start: !self.begun(),
            dead: false,
            next: None,
        });
        slot
    }
}

/// Whether an id occurs twice among the calls of one message; empty ids are another defect.
pub(super) fn has_repeated_id(plan: &Plan, unit: Idx<Unit>, message: &Message) -> bool {
    let id = |call: Idx<Call>| match &message.parts[plan.calls[call].part as usize] {
        Part::ToolCall(it) => it.id.as_str(),
        _ => "",
    };
    let ids = plan.calls_of(unit).map(id);
    if ids.len() <= SMALL_PAIR {
        return ids
            .clone()
            .enumerate()
            .any(|(nth, it)| !it.is_empty() && ids.clone().take(nth).any(|earlier| earlier == it));
    }
    let mut seen = HashSet::with_capacity(ids.len());
    ids.filter(|it| !it.is_empty()).any(|it| !seen.insert(it))
}

/// The calls of a pair by name, the last one first.
fn by_name<'m>(
    plan: &Plan,
    unit: Idx<Unit>,
    message: &'m Message,
) -> HashMap<&'m str, Vec<Idx<Call>>> {
    let mut names: HashMap<_, Vec<_>> = HashMap::new();
    for call in plan.calls_of(unit).rev() {
        if let Part::ToolCall(it) = &message.parts[plan.calls[call].part as usize] {
            names.entry(it.name.as_str()).or_default().push(call);
        }
    }
    names
}

// Begins a pair with an assistant message, and checks its calls (CA-39).

impl<'m> Analyzer<'m, '_> {
    /// Begins a pair with an assistant message.
    pub(crate) fn pair(&mut self, at: u32, message: &'m Message) {
        if self.plan.units.is_empty() && self.plan.lead.is_none() {
            self.start.first_unled = !pairing::may_come_first(message);
        }
        let unit = self.push_unit(at, UnitKind::Pair);
        for (part, it) in message.parts.iter().enumerate() {
            if it.as_tool_call().is_some() {
                self.plan.calls.push(Call {
                    part: part as u32,
                    unit,
                    slot: None,
                    below: None,
                    naming: Naming::Own,
                    fresh_id: false,
                    has_object: false,
                });
            }
        }
        let it = &mut self.plan.units[unit];
        it.n_calls = self.plan.calls.len() as u32 - it.first_call;
        let n_calls = it.n_calls;
        self.links.open = (n_calls > 0).then(|| OpenPair::new(unit));
        if n_calls > 0 {
            self.judge_calls(unit, message);
        }
    }

    /// Judges the calls of a message before their results are known.
    fn judge_calls(&mut self, unit: Idx<Unit>, message: &'m Message) {
        let calls = self.plan.calls_of(unit);
        let mut suspect = false;
        let mut first = true;
        for call in calls.clone() {
            let part = self.plan.calls[call].part;
            let Part::ToolCall(it) = &message.parts[part as usize] else { continue };
            suspect |= it.name.is_empty()
                || it.id.is_empty()
                || first && calls.len() > 1 && it.name == SUMMARIZATION_TOOL_NAME;
            first = false;
            if self.rules.warnings && !it.name.is_empty() {
                self.judge_arguments(call);
            }
        }
        suspect |= has_repeated_id(&self.plan, unit, message);
        self.plan.units[unit].suspect = suspect;
    }

    /// Warns of the kind and the arguments of a call.
    pub(crate) fn judge_arguments(&mut self, call: Idx<Call>) {
        let message = self.plan.message_of(call);
        let part = self.plan.calls[call].part;
        let Some(it) = self.chain.call(message, part) else { return };
        let kind = it.kind.as_str();
        if names_no_kind(it) {
            self.find(message, Some(part), What::MissingKind, "set to function");
        }
        if !kind.is_empty() && kind != "function" {
            return;
        }
        if it.arguments.text().is_empty() {
            self.find(message, Some(part), What::EmptyArguments, "set to {}");
            return;
        }
        let text = it.arguments.text();
        let state = msg_json::classify(text);
        if state == TextState::Object {
            self.plan.calls[call].has_object = true;
            return;
        }
        let how = self.rules.options.arguments;
        if let Some(mended) = mended(text, how) {
            let what = What::MendedArguments { edits: mended.edits };
            self.find(message, Some(part), what, "replaced by the object that they mean");
        } else if state != TextState::Value {
            let what = What::InvalidArguments;
            match (how, sanitized(text)) {
                (BadArguments::Sanitize, Some(new)) if new == FALLBACK_REQUEST_ARGS => {
                    self.find(message, Some(part), what, "replaced by {}");
                }
                (BadArguments::Sanitize, _) => {
                    self.find(message, Some(part), what, "made valid JSON");
                }
                _ => self.note(message, Some(part), what),
            }
        }
    }
}

/// Whether a call has no kind. The kind of another API is kept as an unknown member (OA-1).
pub(crate) fn names_no_kind(call: &ToolCall) -> bool {
    call.kind == CallKind::Unspecified && call.extra.get(&Origin::OpenAi, "type").is_none()
}
