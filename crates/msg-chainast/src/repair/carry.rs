//! Carrying out the plan of an analysis: the messages of a valid chain, in order (CA-24 to CA-39).
//!
//! It decides nothing that the analysis has not decided, and moves messages; only what an edit names is
//! touched.

use std::collections::HashMap;

use msg_core::{Extra, IdSource, Message, Part, Role, ToolResult};

use super::items::{Dropped, Item, Place, split_summaries};
use crate::{
    analyze::{Plan, Reading, RolePart, Rules, Slot, Unit, UnitKind, read_role},
    ids::FreshIds,
    idx::Idx,
};

/// What a repair made of a list of messages, for a profile to judge or a tree to be built of.
#[derive(Default)]
pub(crate) struct Mended {
    pub(crate) items: Vec<Item<'static>>,
    /// Where the id pattern gave no unused id, so that a number was appended (CA-52).
    pub(crate) exhausted: Vec<Place>,
    /// What merges dropped, with the input message that joined another.
    pub(crate) dropped: Vec<(usize, Dropped)>,
    /// The ids of the input that were replaced, by place.
    pub(crate) replaced_ids: HashMap<Place, String>,
}

pub(super) struct Repairer<'a> {
    pub(super) messages: Vec<Message>,
    pub(super) plan: Plan,
    pub(super) rules: Rules<'a>,
    fresh: Option<FreshIds<'a>>,
    pub(super) apart: TakenApart,
    /// How many calls were written.
    pub(super) n_calls: usize,
    /// The ids of results that have another one than their call.
    pub(super) result_ids: HashMap<Idx<Slot>, String>,
    pub(super) out: Mended,
}

/// Messages that hold more than one result: each result goes where its call is.
#[derive(Default)]
pub(super) struct TakenApart {
    /// Their results, by message and part.
    pub(super) results: HashMap<u32, Vec<Option<ToolResult>>>,
    /// Name and extra members of those that do not stay: they go along with the first of their results.
    pub(super) shells: HashMap<u32, (Option<String>, Extra)>,
    /// The one whose results are being written, with its index among the items.
    pub(super) open: Option<(u32, usize)>,
}

/// Mends a list of messages as planned.
pub(crate) fn carry_out<'a>(
    messages: Vec<Message>,
    plan: Plan,
    rules: Rules<'a>,
    ids: &'a mut dyn IdSource,
) -> Mended {
    let fresh = needs_fresh_ids(&plan, &messages)
        .then(|| FreshIds::new(rules.id_pattern(), ids, &messages));
    let items = Vec::with_capacity(messages.len() + plan.slots.len() / 8 + 1);
    let mut it = Repairer {
        messages,
        plan,
        rules,
        fresh,
        apart: TakenApart::default(),
        n_calls: 0,
        result_ids: HashMap::new(),
        out: Mended { items, ..Mended::default() },
    };
    it.run();
    if it.plan.splits_summaries {
        split_summaries(&mut it.out.items);
    }
    it.out
}

impl Repairer<'_> {
    fn run(&mut self) {
        self.take_apart();
        self.lead();
        if self.plan.insert_first {
            let at = self.plan.units.first().map_or(0, |it| it.message as usize);
            let text = self.rules.options.first_user.as_str();
            let first = Item::whole(Message::user(text), at);
            self.out.items.push(first.inserted());
        }
        let (mut merges, mut own) = (0, 0);
        self.own_pairs(0, &mut own);
        for unit in (0..self.plan.units.len()).map(Idx::at) {
            match self.plan.units[unit].kind {
                UnitKind::Pair => self.pair(unit),
                UnitKind::User => self.user(unit, &mut merges),
                UnitKind::System => {
                    let message = self.plan.units[unit].message;
                    let item = self.take(message, RolePart::System);
                    self.out.items.push(item);
                }
                UnitKind::Results => self.results(unit),
            }
            self.own_pairs(unit.index() + 1, &mut own);
        }
    }

    fn lead(&mut self) {
        let Some(lead) = self.plan.lead else { return };
        let mut item = self.take(lead, RolePart::System);
        for other in std::mem::take(&mut self.plan.lead_merges) {
            let dropped = item.merge(self.take(other, RolePart::System));
            self.out.dropped.extend(dropped.map(|it| (other as usize, it)));
        }
        self.out.items.push(item);
    }

    fn user(&mut self, unit: Idx<Unit>, merges: &mut usize) {
        let mut item = self.take(self.plan.units[unit].message, RolePart::User);
        while let Some((_, other)) = self.plan.user_merges.get(*merges).filter(|it| it.0 == unit) {
            let other = *other;
            let dropped = item.merge(self.take(other, RolePart::User));
            self.out.dropped.extend(dropped.map(|it| (other as usize, it)));
            *merges += 1;
        }
        self.out.items.push(item);
    }

    /// Writes the results that have an assistant message of their own at this place.
    fn own_pairs(&mut self, units_before: usize, next: &mut usize) {
        while let Some((_, slot)) = self.plan.own_pairs.get(*next).filter(|it| it.0 == units_before)
        {
            self.own_pair(*slot);
            *next += 1;
        }
    }

    /// Takes a message of the input, with the role that it is read with. Calls and results do not stay
    /// in a system or user message.
    pub(super) fn take(&mut self, at: u32, role: RolePart) -> Item<'static> {
        let message = &mut self.messages[at as usize];
        let message = std::mem::replace(message, Message::new(Role::Tool));
        let mut item = Item::whole(message, at as usize);
        match read_role(&item.message) {
            // It may not stay what it is where it is.
            Reading::Known(RolePart::System) if role == RolePart::User => {
                item.message.to_mut().role = Role::User;
            }
            Reading::Known(_) => {}
            Reading::Spelled(_, word) => item.message.to_mut().role = Role::from(word),
            Reading::Unknown => item.message.to_mut().role = Role::User,
        }
        if matches!(role, RolePart::System | RolePart::User) {
            item.retain_parts(|_, it| !matches!(it, Part::ToolCall(_) | Part::ToolResult(_)));
        }
        item
    }

    /// A fresh id for a call of this name.
    pub(super) fn fresh_id(&mut self, name: &str, place: Place) -> String {
        let index = self.n_calls;
        let Some(fresh) = &mut self.fresh else { return String::new() };
        let it = fresh.next(name, index);
        if it.exhausted {
            self.out.exhausted.push(place);
        }
        it.id
    }
}

fn needs_fresh_ids(plan: &Plan, messages: &[Message]) -> bool {
    let without_id = |slot: Idx<Slot>| {
        let it = &plan.slots[slot];
        let part = messages[it.message as usize].parts.get(it.part as usize);
        part.and_then(Part::as_tool_result).is_none_or(|it| it.call_id.is_empty())
    };
    plan.calls.iter().any(|it| it.fresh_id)
        || plan.made_calls.iter().any(|it| without_id(*it))
        || plan.own_pairs.iter().any(|it| without_id(it.1))
}
