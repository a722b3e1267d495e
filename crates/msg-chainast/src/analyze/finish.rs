//! The end of the analysis: results that are still without a call, then the pairs (CA-33, CA-35 to CA-39).

use std::collections::{HashMap, HashSet};

use msg_core::{Message, Part, ToolCall};

use super::{
    Analyzer, Call, Defect, Naming, Plan, Slot, Unit, UnitKind, defect::What, link::MOVED,
};
use crate::constants::SUMMARIZATION_TOOL_NAME;
use crate::idx::Idx;
use crate::options::Orphans;
use crate::pairing;

impl Analyzer<'_, '_> {
    /// Decides everything that depends on the end of the chain.
    pub(super) fn finish(mut self) -> (Plan, Vec<Defect>) {
        if !self.links.unlinked.is_empty() {
            self.index.catch_up(&mut self.plan, self.chain);
            self.link_early();
            self.place_orphans();
        }
        self.place_joined();
        self.judge_pairs();
        if self.rules.warnings {
            self.note_empty_messages();
            self.note_other_names();
        }
        self.judge_first();
        let rules = self.rules;
        self.plan.mends = self.defects.iter().any(|it| it.is_mended(rules));
        (self.plan, self.defects)
    }

    /// Links unlinked results to later pending calls with their id: by name, then in order. If there are more results
    /// than such calls, the last results are used.
    fn link_early(&mut self) {
        let mut unlinked = self.links.unlinked.clone();
        msg_core::sort_by_rank(&mut unlinked, |it| it.1.index());
        let mut early = Vec::new();
        for of_id in unlinked.chunk_by(|it, next| it.1 == next.1) {
            let calls = self.index.all_pending(&self.plan, of_id[0].1);
            if !calls.is_empty() {
                early.extend(self.early_of(of_id.iter().map(|it| it.0).collect(), calls));
            }
        }
        msg_core::sort_by_rank(&mut early, |it| it.0.index());
        for (slot, call) in early {
            let it = &mut self.plan.slots[slot];
            let (message, part) = (it.message, it.part);
            it.dead = true;
            self.find(message, Some(part), What::EarlyResult, MOVED);
            self.answer(call, message, part, false);
        }
    }

    /// Matches results with calls; all have the same id and are in order.
    fn early_of(
        &self,
        mut slots: Vec<Idx<Slot>>,
        mut calls: Vec<Idx<Call>>,
    ) -> Vec<(Idx<Slot>, Idx<Call>)> {
        let mut found = Vec::new();
        if calls.len() > 1 {
            let mut named: HashMap<&str, Vec<Idx<Call>>> = HashMap::new();
            calls.iter().rev().for_each(|it| named.entry(self.name_of(*it)).or_default().push(*it));
            slots.retain(|slot| {
                let it = &self.plan.slots[*slot];
                let name = self.chain.result(it.message, it.part).and_then(|it| it.name.as_deref());
                let calls = name.and_then(|it| named.get_mut(it));
                let call = calls.and_then(|calls| calls.pop_if(|it| self.is_after(*it, *slot)));
                found.extend(call.map(|it| (*slot, it)));
                call.is_none()
            });
            let taken: HashSet<_> = found.iter().map(|it| it.1).collect();
            calls.retain(|it| !taken.contains(it));
        }
        let slots = slots.split_off(slots.len().saturating_sub(calls.len()));
        let pairs = slots.into_iter().zip(calls).filter(|it| self.is_after(it.1, it.0));
        found.extend(pairs);
        found
    }

    /// Whether a call comes after the place of a result.
    fn is_after(&self, call: Idx<Call>, slot: Idx<Slot>) -> bool {
        self.plan.calls[call].unit.index() >= self.plan.slots[slot].units_before as usize
    }

    /// Decides what to do with results that match no call.
    fn place_orphans(&mut self) {
        for (slot, _) in std::mem::take(&mut self.links.unlinked) {
            let it = &self.plan.slots[slot];
            if it.dead {
                continue;
            }
            let (message, part, at_start) = (it.message, it.part, it.at_start);
            if self.is_leading(slot) {
                self.find_accepted(message, Some(part), What::OrphanResult);
                continue;
            }
            let what = if at_start { What::FirstResult } else { What::OrphanResult };
            let fix = self.place_orphan(slot);
            self.find(message, Some(part), what, fix);
        }
    }

    /// Whether a result without a call stays in place, because it answers a call outside the
    /// messages.
    fn is_leading(&self, slot: Idx<Slot>) -> bool {
        let unit = self.plan.slots[slot].unit;
        unit.is_some_and(|it| self.plan.units[it].kind == UnitKind::Results)
    }

    /// Adds a call for a result that matches none, or drops the result. Returns the edit.
    fn place_orphan(&mut self, slot: Idx<Slot>) -> &'static str {
        let it = &self.plan.slots[slot];
        let (unit, before) = (it.unit, it.units_before as usize);
        let is_stand_in = self.chain.result(it.message, it.part).is_some_and(pairing::is_stand_in);
        let summarization = unit.filter(|it| self.is_summarization(*it));
        let answered = summarization.and_then(|it| self.answered_summarization(it, slot));
        if let Some(call) = answered.filter(|_| !is_stand_in) {
            self.plan.link(call, slot);
            return "answers the summarization call";
        }
        let (fix, dead) = match (self.rules.options.orphans, unit) {
            _ if is_stand_in => ("dropped the result", true),
            (Orphans::Drop, _) | (Orphans::Fabricate, None) => ("dropped the result", true),
            (_, Some(unit)) if summarization.is_none() => {
                self.plan.make_call(unit, slot);
                ("added a call for it", false)
            }
            _ => {
                let before = unit.map_or(before, |it| it.index() + 1);
                self.plan.own_pairs.push((before, slot));
                ("added a call for it in a message of its own", true)
            }
        };
        // Only results that answer a call of the pair are written with the pair.
        self.plan.slots[slot].dead = dead;
        fix
    }

    fn name_of(&self, call: Idx<Call>) -> &str {
        let part = self.plan.calls[call].part;
        self.chain.call(self.plan.message_of(call), part).map_or("", |it| &it.name)
    }

    fn is_summarization(&self, unit: Idx<Unit>) -> bool {
        let mut calls = self.plan.calls_of(unit);
        calls.next().is_some_and(|it| self.name_of(it) == SUMMARIZATION_TOOL_NAME)
    }

    /// The only call of a summarization pair, if it is pending and the result can be its own.
    fn answered_summarization(&self, unit: Idx<Unit>, slot: Idx<Slot>) -> Option<Idx<Call>> {
        let mut calls = self.plan.calls_of(unit);
        let call = calls.next().filter(|it| self.plan.calls[*it].slot.is_none())?;
        let slot = &self.plan.slots[slot];
        let name = self.chain.result(slot.message, slot.part).and_then(|it| it.name.as_deref());
        let fits = name.is_none_or(|it| it.is_empty() || it == SUMMARIZATION_TOOL_NAME);
        (fits && calls.next().is_none()).then_some(call)
    }

    /// A chain that began with a pair gets a user message before it.
    fn judge_first(&mut self) {
        let own_first = self.plan.begins_with_own_pair();
        if !self.rules.enforced.first_role {
            if self.start.first_unled && !own_first {
                let message = self.plan.units[0].message;
                self.find_accepted(message, None, What::FirstAssistant);
            }
            return;
        }
        if self.start.first_unled && !own_first {
            let message = self.plan.units[0].message;
            self.find(message, None, What::FirstAssistant, "inserted a user message before it");
            self.plan.insert_first = true;
        } else if own_first && self.plan.lead.is_none() {
            self.plan.insert_first = true;
        }
    }

    fn judge_pairs(&mut self) {
        let n_units = self.plan.units.len();
        let followed = self.plan.own_pairs.last().is_some_and(|it| it.0 == n_units);
        let last = self.plan.units.iter().rposition(|it| it.kind != UnitKind::Results);
        for unit in 0..n_units {
            let it = &self.plan.units[unit];
            if it.suspect || it.answered < it.n_calls {
                let may_stay_open =
                    self.rules.check.may_end_open() && last == Some(unit) && !followed;
                self.judge_pair(Idx::at(unit), may_stay_open);
            }
        }
    }

    /// A pair with a pending call, or with calls that want mending.
    fn judge_pair(&mut self, unit: Idx<Unit>, may_stay_open: bool) {
        self.judge_names(unit);
        self.judge_ids(unit);
        for call in self.plan.calls_of(unit) {
            let it = &self.plan.calls[call];
            if it.is_removed() || it.slot.is_some() {
                continue;
            }
            if self.may_wait(call) {
                let (message, part) = (self.plan.message_of(call), self.plan.calls[call].part);
                self.find_accepted(message, Some(part), What::MissingResult);
                continue;
            }
            if may_stay_open {
                self.plan.open_tail = true;
                return;
            }
            self.find_call(call, What::MissingResult, "inserted a placeholder result");
        }
        self.judge_kind(unit);
    }

    pub(super) fn find_call(&mut self, call: Idx<Call>, what: What, fix: &'static str) {
        let message = self.plan.message_of(call);
        self.find(message, Some(self.plan.calls[call].part), what, fix);
    }

    /// A call without a name takes the name of its result. Without a result it is removed.
    fn judge_names(&mut self, unit: Idx<Unit>) {
        for call in self.plan.calls_of(unit) {
            if !self.name_of(call).is_empty() {
                continue;
            }
            let slot = self.plan.calls[call].slot.map(|it| &self.plan.slots[it]);
            let name = slot
                .and_then(|it| self.chain.result(it.message, it.part))
                .and_then(|it| it.name.as_deref());
            let (naming, fix) = match name {
                _ if slot.is_none() => (Naming::Removed, "removed the call"),
                None | Some("") => (Naming::Unknown, "named unknown_tool"),
                Some(_) => (Naming::Result, "named after its result"),
            };
            self.plan.calls[call].naming = naming;
            self.find_call(call, What::NamelessCall, fix);
            if naming != Naming::Removed && self.rules.warnings {
                self.judge_arguments(call);
            }
        }
    }

    /// Gives fresh ids to calls without an id, or with the id of an earlier call of the message.
    fn judge_ids(&mut self, unit: Idx<Unit>) {
        if !self.plan.units[unit].suspect {
            return;
        }
        let chain = self.chain;
        let mut seen = HashSet::new();
        for call in self.plan.calls_of(unit) {
            let it = &self.plan.calls[call];
            if it.is_removed() {
                continue;
            }
            let Some(id) = chain.call(self.plan.message_of(call), it.part).map(|it| &it.id) else {
                continue;
            };
            let what = match id.is_empty() {
                true => What::EmptyCallId,
                false if seen.insert(id) || it.fresh_id => continue,
                false => What::DuplicateCallId,
            };
            self.plan.calls[call].fresh_id = true;
            self.find_call(call, what, "given a fresh id");
        }
    }

    /// A summarization pair has one call: the others move after it, as often as that makes another.
    fn judge_kind(&mut self, unit: Idx<Unit>) {
        let it = &self.plan.units[unit];
        if it.n_calls + it.n_made < 2 {
            return;
        }
        let mut stays = self.plan.calls_of(unit).filter(|it| !self.plan.calls[*it].is_removed());
        if stays.next().is_some_and(|it| self.final_name(it) != SUMMARIZATION_TOOL_NAME) {
            return;
        }
        let mut calls = Vec::new();
        for call in self.plan.calls_of(unit) {
            let it = &self.plan.calls[call];
            if !it.is_removed() {
                let summarization = self.final_name(call) == SUMMARIZATION_TOOL_NAME;
                calls.push((self.plan.message_of(call), it.part, summarization));
            }
        }
        for slot in self.plan.made_of(unit) {
            let it = &self.plan.slots[*slot];
            let name = self.chain.result(it.message, it.part).and_then(|it| it.name.as_deref());
            calls.push((it.message, it.part, name == Some(SUMMARIZATION_TOOL_NAME)));
        }
        for pair in calls.windows(2) {
            if !pair[0].2 {
                return;
            }
            let (message, part) = (pair[1].0, Some(pair[1].1));
            match self.rules.enforced.lone_summary {
                true => {
                    let fix = "moved the other calls to a message of their own";
                    self.find(message, part, What::SurplusCall, fix);
                    self.plan.splits_summaries = true;
                }
                false => self.find_accepted(message, part, What::SurplusCall),
            }
        }
    }

    /// The name that a call has after naming.
    fn final_name(&self, call: Idx<Call>) -> &str {
        let it = &self.plan.calls[call];
        match (it.naming, it.slot.map(|it| &self.plan.slots[it])) {
            (Naming::Own, _) => self.name_of(call),
            (Naming::Result, Some(slot)) => self
                .chain
                .result(slot.message, slot.part)
                .and_then(|it| it.name.as_deref())
                .unwrap_or_default(),
            _ => "",
        }
    }

    /// Warns of messages that have no content even together with those that merge into them.
    fn note_empty_messages(&mut self) {
        let empty = |at: u32| is_empty(self.chain.message(at));
        let Plan { lead, lead_merges, user_merges, .. } = &self.plan;
        let lead = lead.filter(|it| empty(*it) && lead_merges.iter().all(|it| empty(*it)));
        let mut found: Vec<u32> = lead.into_iter().collect();
        let mut merges = user_merges.iter().peekable();
        for (at, unit) in self.plan.units.iter().enumerate() {
            let may_be = unit.kind != UnitKind::Results && unit.n_made == 0;
            let mut says_nothing = may_be && empty(unit.message);
            while let Some((_, message)) = merges.next_if(|it| it.0.index() == at) {
                says_nothing &= empty(*message);
            }
            let mut calls = self.plan.calls_of(Idx::at(at));
            if says_nothing && calls.all(|it| self.plan.calls[it].is_removed()) {
                found.push(unit.message);
            }
        }
        found.into_iter().for_each(|it| self.note(it, None, What::EmptyMessage));
    }

    /// Warns about results whose name differs from that of their call.
    fn note_other_names(&mut self) {
        let mut found = Vec::new();
        for slot in self.plan.slots.iter().filter(|it| !it.dead) {
            let Some(call) = slot.call.map(|it| &self.plan.calls[it]) else { continue };
            let place = (self.plan.units[call.unit].message, call.part);
            let name = self.chain.result(slot.message, slot.part).and_then(|it| it.name.as_deref());
            let other =
                |it: &ToolCall| name.is_some_and(|name| !name.is_empty() && name != it.name);
            let is_named = call.naming == Naming::Own;
            if is_named && self.chain.call(place.0, place.1).is_some_and(other) {
                found.push((slot.message, slot.part, place));
            }
        }
        for (message, part, call) in found {
            self.note(message, Some(part), What::NameMismatch { call });
        }
    }
}

/// Whether a message contains only empty texts, ignoring the parts that must leave it.
fn is_empty(message: &Message) -> bool {
    let says_nothing = |it: &Part| match it {
        Part::Text(it) => it.text.is_empty(),
        Part::ToolResult(_) | Part::ToolCall(_) => true,
        _ => false,
    };
    message.parts.iter().all(says_nothing) && !message.is_setting()
}
