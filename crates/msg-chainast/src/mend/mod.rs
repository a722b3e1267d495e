//! Carrying out the plan of a walk: the messages of a valid chain, in order (CA-24 to CA-39).
//!
//! It decides nothing that the walk has not decided, and moves messages; only what an edit names is
//! touched.

mod calls;
mod item;
mod pair;
mod results;

use hashbrown::HashMap;
use msg_core::{Extra, IdSource, Message, Part, Role, ToolResult};

pub(crate) use item::{Dropped, Item, Origin, without_members};
use pair::Written;

use crate::{
    ids::FreshIds,
    tree::{ChainAst, GrowingTree},
    walk::{NONE, Plan, Reading, RolePart, Rules, UnitKind, canonical, read_role},
};

/// What a repair made of a list of messages: items for a profile to judge, or a tree.
pub(crate) struct Mended<T> {
    pub(crate) made: T,
    /// Where the id pattern gave no unused id, so that a number was appended (CA-52).
    pub(crate) exhausted: Vec<(usize, usize)>,
    /// What merges dropped, with the input message that joined another.
    pub(crate) dropped: Vec<(usize, Dropped)>,
    /// The ids of the input that were replaced, by place.
    pub(crate) replaced_ids: HashMap<(usize, usize), String>,
}

/// Mends a list of messages as planned, into a tree.
pub(crate) fn mend<'a>(
    messages: Vec<Message>,
    plan: Plan,
    rules: Rules<'a>,
    ids: &'a mut dyn IdSource,
) -> Mended<ChainAst> {
    let users = plan.units.iter().filter(|it| !it.is_pair()).count();
    let tree = GrowingTree::with_capacity(users + 1);
    let mut mender = Mender::new(messages, plan, rules, ids, Some(tree));
    mender.run();
    let Mender { tree, exhausted, dropped, replaced_ids, .. } = mender;
    let made = tree.map_or_else(ChainAst::new, GrowingTree::finish);
    Mended { made, exhausted, dropped, replaced_ids }
}

/// Mends a list of messages as planned; the items know where they came from.
pub(crate) fn mend_items<'a>(
    messages: Vec<Message>,
    plan: Plan,
    rules: Rules<'a>,
    ids: &'a mut dyn IdSource,
) -> Mended<Vec<Item>> {
    let mut mender = Mender::new(messages, plan, rules, ids, None);
    mender.items.reserve(mender.messages.len() + mender.plan.slots.len() / 8 + 1);
    mender.run();
    let Mender { items: made, exhausted, dropped, replaced_ids, .. } = mender;
    Mended { made, exhausted, dropped, replaced_ids }
}

struct Mender<'a> {
    messages: Vec<Message>,
    plan: Plan,
    rules: Rules<'a>,
    fresh: Option<FreshIds<'a>>,
    /// The results of messages that hold more than one, by message and part.
    taken_apart: HashMap<u32, Vec<Option<ToolResult>>>,
    /// Name and extra members of messages that do not stay: they go along with the first of their results.
    shells: HashMap<u32, (Option<String>, Extra)>,
    /// The message taken apart whose results are being written, with its index among the items.
    shell: Option<(u32, usize)>,
    /// How many calls were written.
    n_calls: usize,
    /// The slots of a pair, while it is written.
    slots: Vec<u32>,
    /// The calls of a pair, while it is written.
    written: Vec<Written>,
    /// What was written: all of it, or what the tree has not taken yet.
    items: Vec<Item>,
    /// Takes what is written, unless a profile is to judge it first.
    tree: Option<GrowingTree>,
    /// Where the id pattern gave no unused id, so that a number was appended.
    exhausted: Vec<(usize, usize)>,
    dropped: Vec<(usize, Dropped)>,
    replaced_ids: HashMap<(usize, usize), String>,
    /// The fresh ids of calls, for results that stand apart from them.
    fresh_ids: HashMap<u32, String>,
}

impl<'a> Mender<'a> {
    fn new(
        messages: Vec<Message>,
        plan: Plan,
        rules: Rules<'a>,
        ids: &'a mut dyn IdSource,
        tree: Option<GrowingTree>,
    ) -> Self {
        let fresh = needs_fresh_ids(&plan, &messages)
            .then(|| FreshIds::new(rules.id_pattern(), ids, &messages));
        Mender {
            messages,
            plan,
            rules,
            fresh,
            taken_apart: HashMap::new(),
            shells: HashMap::new(),
            shell: None,
            n_calls: 0,
            slots: Vec::new(),
            written: Vec::new(),
            items: Vec::new(),
            tree,
            exhausted: Vec::new(),
            dropped: Vec::new(),
            replaced_ids: HashMap::new(),
            fresh_ids: HashMap::new(),
        }
    }

    fn run(&mut self) {
        self.take_apart();
        self.lead();
        if self.plan.insert_first {
            let at = self.plan.units.first().map_or(0, |it| it.message as usize);
            let text = self.rules.options.first_user.as_str();
            let first = self.item(Message::user(text), at);
            self.items.push(first.inserted());
        }
        let (mut merges, mut own, mut made) = (0, 0, 0);
        self.own_pairs(0, &mut own);
        self.hand_over(0);
        for unit in 0..self.plan.units.len() as u32 {
            match self.plan.units[unit as usize].kind {
                UnitKind::Pair => {
                    let first = made;
                    while self.plan.made_calls.get(made).is_some_and(|it| it.0 == unit) {
                        made += 1;
                    }
                    self.pair(unit, first..made);
                }
                UnitKind::User => self.user(unit, &mut merges),
                UnitKind::System => {
                    let message = self.plan.units[unit as usize].message;
                    let item = self.take(message, RolePart::System);
                    self.items.push(item);
                }
                UnitKind::Results => self.results_apart(unit),
            }
            self.own_pairs(unit + 1, &mut own);
            self.hand_over(unit as usize + 1);
        }
    }

    /// Gives what was written to the tree; nothing looks back at what stands before this unit.
    fn hand_over(&mut self, unit: usize) {
        let Some(tree) = &mut self.tree else { return };
        // They are of use where a section begins, and counted there only.
        let begins = unit == 0 || !self.plan.units[unit - 1].is_pair();
        let behind = self.plan.units[unit..].iter().take_while(|it| begins && it.is_pair());
        tree.take(&mut self.items, behind.count());
        self.shell = None;
    }

    fn lead(&mut self) {
        let Some(lead) = self.plan.lead else { return };
        let mut item = self.take(lead, RolePart::System);
        for other in std::mem::take(&mut self.plan.lead_merges) {
            let dropped = item.merge(self.take(other, RolePart::System));
            self.dropped.extend(dropped.map(|it| (other as usize, it)));
        }
        self.items.push(item);
    }

    fn user(&mut self, unit: u32, merges: &mut usize) {
        let mut item = self.take(self.plan.units[unit as usize].message, RolePart::User);
        while let Some((_, other)) = self.plan.user_merges.get(*merges).filter(|it| it.0 == unit) {
            let other = *other;
            let dropped = item.merge(self.take(other, RolePart::User));
            self.dropped.extend(dropped.map(|it| (other as usize, it)));
            *merges += 1;
        }
        self.items.push(item);
    }

    /// Writes the results that have an assistant message of their own at this place.
    fn own_pairs(&mut self, units_before: u32, next: &mut usize) {
        while let Some((_, slot)) = self.plan.own_pairs.get(*next).filter(|it| it.0 == units_before)
        {
            self.own_pair(*slot);
            *next += 1;
        }
    }

    /// Takes a message of the input, with the role that it is read with. Calls and results do not stay
    /// in a system or user message.
    fn take(&mut self, at: u32, role: RolePart) -> Item {
        let message = &mut self.messages[at as usize];
        let message = std::mem::replace(message, Message::new(Role::Tool));
        let mut item = self.item(message, at as usize);
        match read_role(&item.message) {
            // It may not stay what it is where it stands.
            Reading::Known(RolePart::System) if role == RolePart::User => {
                item.message.role = Role::User;
            }
            Reading::Known(_) => {}
            Reading::Spelled(_, word) => item.message.role = canonical(word),
            Reading::Unknown => item.message.role = Role::User,
        }
        if matches!(role, RolePart::System | RolePart::User) {
            item.retain_parts(|_, it| !matches!(it, Part::ToolCall(_) | Part::ToolResult(_)));
        }
        item
    }

    /// A message that came from this one of the input.
    fn item(&self, message: Message, at: usize) -> Item {
        match self.tree {
            None => Item::whole(message, at),
            Some(_) => Item::untold(message, at),
        }
    }

    /// A fresh id for a call of this name.
    fn fresh_id(&mut self, name: &str, place: (usize, usize)) -> String {
        let index = self.n_calls;
        let Some(fresh) = &mut self.fresh else { return String::new() };
        let it = fresh.next(name, index);
        if it.exhausted {
            self.exhausted.push(place);
        }
        it.id
    }
}

fn needs_fresh_ids(plan: &Plan, messages: &[Message]) -> bool {
    let without_id = |slot: u32| {
        let it = &plan.slots[slot as usize];
        let part = messages[it.message as usize].parts.get(it.part as usize);
        part.and_then(Part::as_tool_result).is_none_or(|it| it.call_id.is_empty())
    };
    plan.calls.iter().any(|it| it.fresh_id)
        || plan.made_calls.iter().any(|it| without_id(it.1))
        || plan.own_pairs.iter().any(|it| without_id(it.1))
}

/// Whether an index stands for nothing.
fn is_none(index: u32) -> bool {
    index == NONE
}
