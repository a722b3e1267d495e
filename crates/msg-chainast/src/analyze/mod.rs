//! The analysis of a list of messages: its defects, and the plan to repair them.
//!
//! `check` reports the defects, `parse` accepts a list without errors, and `repair` executes the plan, so the three
//! always agree (CA-11). The analysis reads messages and copies no text.
//!
//! ```text
//! messages ──▶ Analyzer: a pass over the messages, one over the pairs ──▶ Plan (indices), Vec<Defect>
//! ```

mod defect;
mod finish;
mod link;
mod plan;

use msg_core::{Message, Part, Role, ToolResult};

use crate::options::{First, Orphans, UnknownRole};
use crate::pairing;
use defect::What;
use link::OpenPair;
pub(crate) use link::names_no_kind;
use plan::{Entry, Index};

use crate::idx::Idx;

pub(crate) use crate::analyze::defect::{Chain, Enforced, Rules, Scope};
pub(crate) use defect::{Defect, diagnostics};
pub(crate) use plan::{Call, Naming, Plan, Slot, Unit, UnitKind};

/// Up to this many calls of a pair are searched one by one, without an index.
pub(crate) const SMALL_PAIR: usize = 8;

/// Analyzes a list of messages. One pass over the messages and one over the pairs; two where an assistant
/// message was spared for a stray result before it that turned out to answer a later call.
pub(crate) fn analyze(chain: Chain<'_>, rules: Rules<'_>) -> (Plan, Vec<Defect>) {
    let analyzer = Analyzer::over(chain, rules, true);
    let spared = analyzer.start.spared_first;
    let (plan, defects) = analyzer.finish();
    if spared && !plan.begins_with_own_pair() {
        return Analyzer::over(chain, rules, false).finish();
    }
    (plan, defects)
}

struct Analyzer<'m, 'r> {
    chain: Chain<'m>,
    rules: Rules<'r>,
    plan: Plan,
    defects: Vec<Defect>,
    index: Index<'m>,
    start: Start,
    links: Links<'m>,
}

/// The state of the beginning of the chain.
#[derive(Default)]
struct Start {
    /// Whether a stray result there is kept in a pair of its own. The assistant message after it is
    /// then not the first.
    strays_stay: bool,
    /// Whether an assistant message was kept for that reason.
    spared_first: bool,
    /// Whether there was a message other than a system message.
    conversation_began: bool,
    /// Whether the chain begins with a pair, without any message before it.
    first_unled: bool,
}

/// Results that are separated from their calls, or have no call so far.
#[derive(Default)]
struct Links<'m> {
    /// The last pair, if it has calls and no user message follows.
    open: Option<OpenPair<'m>>,
    /// The slots of results that answer no call so far, with the calls and results that have their ids.
    unlinked: Vec<(Idx<Slot>, Idx<Entry<'m>>)>,
    /// Whether one of them is outside of all pairs.
    floating: bool,
    /// The first of the consecutive assistant messages to which the last pair belongs. Only the last of them
    /// has results.
    run_of_pairs: usize,
    /// Results that may answer earlier ones of such a run from after it: (slot, first pair of the run).
    joined: Vec<(Idx<Slot>, usize)>,
}

impl<'m, 'r> Analyzer<'m, 'r> {
    /// The first pass.
    fn over(chain: Chain<'m>, rules: Rules<'r>, strays_stay: bool) -> Self {
        let mut it = Analyzer {
            chain,
            rules,
            plan: Plan::default(),
            defects: Vec::new(),
            index: Index::default(),
            start: Start { strays_stay, ..Start::default() },
            links: Links::default(),
        };
        for at in 0..chain.len() as u32 {
            it.message(at, chain.message(at));
        }
        it
    }

    #[inline]
    fn message(&mut self, at: u32, message: &'m Message) {
        let part = match read_role(message) {
            Reading::Known(part) => part,
            reading => match self.mended_role(at, reading) {
                Some(part) => part,
                None => return,
            },
        };
        match part {
            RolePart::Tool => self.tool(at, message),
            RolePart::Assistant => self.assistant(at, message),
            RolePart::User => self.user(at, message),
            RolePart::System => self.system(at, message),
        }
    }

    /// Reports a defect, and the edit that repairs it.
    fn find(&mut self, message: u32, part: Option<u32>, what: What, fix: &'static str) {
        self.defects.push(Defect { message, part, what, fix: Some(fix), accepted: false });
    }

    /// Reports a defect that is not repaired.
    fn note(&mut self, message: u32, part: Option<u32>, what: What) {
        self.defects.push(Defect { message, part, what, fix: None, accepted: false });
    }

    /// Reports a rule of the strict chain that is not enforced here (CA-70a).
    fn find_accepted(&mut self, message: u32, part: Option<u32>, what: What) {
        if self.rules.warnings {
            self.defects.push(Defect { message, part, what, fix: None, accepted: true });
        }
    }

    #[cold]
    fn mended_role(&mut self, at: u32, reading: Reading) -> Option<RolePart> {
        let as_user = self.rules.options.unknown_role == UnknownRole::AsUser;
        let (part, what, fix) = match reading {
            Reading::Known(part) => return Some(part),
            Reading::Spelled(part, meant) => {
                (Some(part), What::MisspelledRole { meant }, "corrected the spelling of the role")
            }
            Reading::Unknown if as_user => {
                (Some(RolePart::User), What::UnknownRole, "read as user")
            }
            Reading::Unknown => (None, What::UnknownRole, "dropped the message"),
        };
        self.find(at, None, what, fix);
        part
    }

    fn begun(&self) -> bool {
        self.plan.lead.is_some() || !self.plan.units.is_empty()
    }

    fn system(&mut self, at: u32, message: &'m Message) {
        let at_start = !self.start.conversation_began;
        if !at_start && self.rules.enforced.system_place && self.rules.enforced.later_system_as_user
        {
            self.find(at, None, What::LaterSystem, "made a user message");
            return self.user(at, message);
        }
        if self.moves_parts(at, message) {
            return;
        }
        let leads = self.plan.lead.is_none();
        if leads && at_start {
            self.plan.lead = Some(at);
            return;
        }
        let (what, enforced, fix) = match at_start {
            true => (What::RepeatedSystem, self.merges_repeated_system(), "merged into the first"),
            false => {
                let fix = match leads {
                    true => "moved to the front",
                    false => "merged into the system message at the front",
                };
                (What::MisplacedSystem, self.rules.enforced.system_place, fix)
            }
        };
        if !enforced {
            return self.keep_system(at, what);
        }
        // It is the system message at the front, or joins it.
        self.find(at, None, what, fix);
        match leads {
            true => self.plan.lead = Some(at),
            false => self.plan.lead_merges.push(at),
        }
    }

    /// Whether a further system message at the beginning joins the first. An accepted one joins if a
    /// stray result before it will be kept in a pair of its own, because it would come after that pair.
    fn merges_repeated_system(&self) -> bool {
        let Rules { options, enforced, .. } = self.rules;
        let after_a_pair = self.links.floating && options.orphans == Orphans::Keep;
        enforced.repeated_system || after_a_pair && enforced.system_place
    }

    /// Leaves a system message in place.
    fn keep_system(&mut self, at: u32, what: What) {
        self.find_accepted(at, None, what);
        self.push_unit(at, UnitKind::System);
        self.links.open = None;
    }

    fn user(&mut self, at: u32, message: &'m Message) {
        if self.moves_parts(at, message) {
            return;
        }
        if self.plan.units.last().is_some_and(|it| it.kind == UnitKind::User) {
            if self.rules.enforced.consecutive_user {
                self.find(at, None, What::ConsecutiveUser, "merged into the one before");
                let unit = Idx::at(self.plan.units.len() - 1);
                self.plan.user_merges.push((unit, at));
                return;
            }
            if !self.rules.check.several_users {
                self.find_accepted(at, None, What::ConsecutiveUser);
            }
        }
        self.push_unit(at, UnitKind::User);
        self.links.open = None;
    }

    fn assistant(&mut self, at: u32, message: &'m Message) {
        let options = self.rules.options;
        if !self.begun()
            && options.first == First::Drop
            && self.rules.enforced.first_role
            && !pairing::may_come_first(message)
        {
            if !(self.start.strays_stay && self.links.floating && options.orphans == Orphans::Keep)
            {
                self.find(at, None, What::FirstAssistant, "dropped the message");
                return;
            }
            self.start.spared_first = true;
        }
        let results = message.parts.iter().filter(|it| it.as_tool_result().is_some()).count();
        if results == 0 || results < message.parts.len() {
            self.pair(at, message);
        }
        if results > 0 {
            self.misplaced_results(at, message, "moved to a tool message after it");
        }
    }

    /// Begins a message or a pair in the plan.
    fn push_unit(&mut self, message: u32, kind: UnitKind) -> Idx<Unit> {
        self.start.conversation_began |= kind != UnitKind::System;
        let continues =
            self.plan.units.last().is_some_and(|it| it.is_pair() && it.first_slot.is_none());
        if !(continues && kind == UnitKind::Pair) {
            self.links.run_of_pairs = self.plan.units.len();
        }
        let unit = Idx::next_of(&self.plan.units);
        self.plan.units.push(Unit {
            message,
            kind,
            suspect: false,
            first_call: self.plan.calls.len() as u32,
            n_calls: 0,
            answered: 0,
            first_made: 0,
            n_made: 0,
            first_slot: None,
            last_slot: None,
        });
        unit
    }
}

// The role that a message is read with (CA-14).

/// How a message takes part in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RolePart {
    System,
    User,
    Assistant,
    Tool,
}

/// A role as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Known as it is.
    Known(RolePart),
    /// Known, apart from white space or case; this is the known word.
    Spelled(RolePart, &'static str),
    /// Not known.
    Unknown,
}

/// Reads the role of a message.
#[inline]
pub(crate) fn read_role(message: &Message) -> Reading {
    match &message.role {
        Role::System | Role::Developer => Reading::Known(RolePart::System),
        Role::User => Reading::Known(RolePart::User),
        Role::Assistant => Reading::Known(RolePart::Assistant),
        Role::Tool => Reading::Known(RolePart::Tool),
        other => read_text(other.as_str()),
    }
}

#[cold]
fn read_text(text: &str) -> Reading {
    if let Some((part, _)) = known(text) {
        return Reading::Known(part);
    }
    match known(&text.trim().to_lowercase()) {
        Some((part, word)) => Reading::Spelled(part, word),
        None => Reading::Unknown,
    }
}

fn known(word: &str) -> Option<(RolePart, &'static str)> {
    Some(match word {
        "system" => (RolePart::System, "system"),
        "developer" => (RolePart::System, "developer"),
        "user" | "human" => (RolePart::User, "user"),
        "assistant" | "ai" => (RolePart::Assistant, "assistant"),
        "tool" => (RolePart::Tool, "tool"),
        _ => return None,
    })
}

/// The id of a result, and its name if it has one.
#[inline]
fn named(it: &ToolResult) -> (&str, Option<&str>) {
    (&it.call_id, it.name.as_deref().filter(|it| !it.is_empty()))
}

// Results and calls by the message that contains them: a tool message with more or less than one result, and messages
// of other roles, where they are not allowed (CA-6).

impl<'m> Analyzer<'m, '_> {
    pub(crate) fn tool(&mut self, at: u32, message: &'m Message) {
        if let [Part::ToolResult(it)] = message.parts.as_slice() {
            self.result((at, 0), named(it), true);
        } else {
            self.mixed_tool(at, message);
        }
    }

    /// A tool message with several results, with other parts, or without a result.
    fn mixed_tool(&mut self, at: u32, message: &'m Message) {
        self.plan.taken_apart.push(at);
        let has_results = message.tool_results().next().is_some();
        let mut others = false;
        for (part, it) in message.parts.iter().enumerate() {
            match it {
                Part::ToolResult(it) => self.result((at, part as u32), named(it), true),
                Part::ToolCall(_) => {
                    self.find(at, Some(part as u32), What::MisplacedPart, "removed the call");
                }
                _ if has_results => {
                    let fix = "appended to the content of the result";
                    self.find(at, Some(part as u32), What::MisplacedPart, fix);
                }
                _ => others = true,
            }
        }
        if others {
            self.find(at, None, What::EmptyToolMessage, "read as a result without an id");
            self.result((at, 0), ("", None), true);
        } else if message.parts.is_empty() {
            self.find(at, None, What::EmptyToolMessage, "dropped the message");
        }
    }

    /// Moves results and calls out of a system or user message. Returns whether nothing is left of
    /// it.
    pub(crate) fn moves_parts(&mut self, at: u32, message: &'m Message) -> bool {
        let moves = |it: &Part| matches!(it, Part::ToolCall(_) | Part::ToolResult(_));
        let moved = message.parts.iter().filter(|it| moves(it)).count();
        if moved == 0 {
            return false;
        }
        if message.tool_results().next().is_some() {
            self.misplaced_results(at, message, "moved to a tool message before it");
        }
        for (part, it) in message.parts.iter().enumerate() {
            if it.as_tool_call().is_some() {
                self.find(at, Some(part as u32), What::MisplacedPart, "removed the call");
            }
        }
        moved == message.parts.len()
    }

    /// Moves the results out of a message that is not a tool message and has some.
    pub(crate) fn misplaced_results(&mut self, at: u32, message: &'m Message, fix: &'static str) {
        self.plan.taken_apart.push(at);
        for (part, it) in message.parts.iter().enumerate() {
            if let Part::ToolResult(it) = it {
                self.find(at, Some(part as u32), What::MisplacedPart, fix);
                self.result((at, part as u32), named(it), false);
            }
        }
    }
}
