//! The newest contiguous part of a chain that fits (CP-41), and the floor below which nothing does
//! (CP-14).

use msg_core::{Diagnostic, Message, Role};

use super::{Item, PairState, SectionState, Workbench, build::WINDOW_NOTE};
use crate::{codes, outcome::FloorPart, tally::Cost};
use msg_chainast::BodyPairKind;

/// What a history costs at least, by the terms of CP-14, in the unit in use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor {
    tools: u64,
    system: u64,
    last_user: u64,
    last_pair: u64,
    pinned: u64,
    /// The part of `pinned` that is the note of a window.
    note: u64,
}

impl Floor {
    pub(crate) fn total(&self) -> u64 {
        self.tools + self.system + self.last_user + self.last_pair + self.pinned
    }

    pub(crate) fn without_note(&self) -> u64 {
        self.total() - self.note
    }

    /// The largest term; the first of equal ones.
    pub(crate) fn largest(&self) -> FloorPart {
        let terms = [
            (self.tools, FloorPart::Tools),
            (self.system, FloorPart::System),
            (self.last_user, FloorPart::LastUser),
            (self.last_pair, FloorPart::LastPair),
            (self.pinned, FloorPart::Pinned),
        ];
        let most = terms.iter().map(|it| it.0).max().unwrap_or_default();
        terms.into_iter().find(|it| it.0 == most).map_or(FloorPart::Tools, |it| it.1)
    }
}

/// What a window keeps.
struct Kept {
    /// Pairs of the last section from this one on, besides the pinned ones before it.
    first_pair: usize,
    /// Sections from this one on, besides the pinned ones before it.
    first_section: usize,
}

impl Workbench<'_> {
    /// The section whose user message is the conversation's first, if that one is pinned and there
    /// is another section.
    fn goal_section(&self) -> Option<usize> {
        if !self.pins_first_user || self.sections.len() < 2 {
            return None;
        }
        let goal = self.sections.iter().position(|it| it.user.is_some())?;
        (goal + 1 < self.sections.len()).then_some(goal)
    }

    pub(crate) fn floor(&self) -> Floor {
        let cost = |it: Option<&Item>| it.map_or(0, |it| self.unit.of(it.cost));
        let Some((last, earlier)) = self.sections.split_last() else {
            return Floor {
                tools: self.unit.of(self.base),
                system: 0,
                last_user: 0,
                last_pair: 0,
                pinned: 0,
                note: 0,
            };
        };
        let last_pair = last.pairs.last();
        let pinned_pairs = last.pairs.iter().rev().skip(1).filter(|it| it.pinned);
        let sections = earlier.iter().filter(|it| it.pinned);
        let mut pinned: Cost = pinned_pairs.map(PairState::cost).sum();
        pinned = pinned + sections.map(without_system).sum::<Cost>();
        let goal = self.goal_section().filter(|it| !self.sections[*it].pinned);
        let goal_user = goal.and_then(|it| self.sections[it].user.as_ref());
        let note = if goal.is_some() { self.unit.of(self.note_item(0).cost) } else { 0 };
        Floor {
            tools: self.unit.of(self.base),
            system: cost(self.sections.iter().find_map(|it| it.system.as_ref())),
            last_user: cost(last.user.as_ref()),
            last_pair: last_pair.map_or(0, |it| self.unit.of(it.cost())),
            pinned: self.unit.of(pinned) + cost(goal_user) + note,
            note,
        }
    }

    /// Keeps the newest units that fit the target and drops the rest.
    pub(crate) fn slide_window(&mut self) {
        let Some(target) = self.target() else { return };
        let kept = self.newest_that_fit(target);
        self.drop_all_but(&kept);
    }

    fn newest_that_fit(&self, target: u64) -> Kept {
        let of = |it: Cost| self.unit.of(it);
        let Some((last, earlier)) = self.sections.split_last() else {
            return Kept { first_pair: 0, first_section: 0 };
        };
        let mut sum = self.always_kept();
        let n_pairs = last.pairs.len();
        let mut kept = Kept { first_pair: n_pairs.saturating_sub(1), first_section: earlier.len() };
        for (number, pair) in last.pairs.iter().enumerate().rev().skip(1) {
            if !pair.pinned {
                sum += of(pair.cost());
                if sum > target {
                    return kept;
                }
            }
            if pair.cut || number == 0 {
                kept.first_pair = number;
            }
        }
        let goal = self.goal_section().filter(|it| !self.sections[*it].pinned);
        for (number, section) in earlier.iter().enumerate().rev() {
            if !section.pinned {
                let already =
                    if goal == Some(number) { self.goal_cost(section) } else { Cost::default() };
                sum += of(without_system(section)) - of(already).min(of(without_system(section)));
                if sum > target {
                    return kept;
                }
            }
            if section.cut || number == 0 {
                kept.first_section = number;
            }
        }
        kept
    }

    /// What the window counts first.
    fn always_kept(&self) -> u64 {
        let Some((last, earlier)) = self.sections.split_last() else {
            return self.unit.of(self.base);
        };
        let system: Cost =
            self.sections.iter().filter_map(|it| it.system.as_ref()).map(|it| it.cost).sum();
        let user = last.user.as_ref().map_or_else(Cost::default, |it| it.cost);
        let n_pairs = last.pairs.len();
        let pairs = last.pairs.iter().enumerate().filter(|(at, it)| it.pinned || at + 1 == n_pairs);
        let pinned = earlier.iter().filter(|it| it.pinned).map(without_system);
        let goal = self.goal_section().map(|it| &self.sections[it]).filter(|it| !it.pinned);
        let goal = goal.map_or_else(Cost::default, |it| self.goal_cost(it));
        let all = system + user + pairs.map(|it| it.1.cost()).sum() + pinned.sum() + goal;
        self.unit.of(self.base) + self.unit.of(all)
    }

    /// What the section of the first user message costs at least: that message with the note, or
    /// the whole where that costs no more.
    fn goal_cost(&self, section: &SectionState) -> Cost {
        if self.keeps_goal_body(section) {
            return without_system(section);
        }
        let user = section.user.as_ref().map_or_else(Cost::default, |it| it.cost);
        user + self.note_item(0).cost
    }

    fn keeps_goal_body(&self, section: &SectionState) -> bool {
        self.unit.of(section.body_cost()) <= self.unit.of(self.note_item(0).cost)
            && !section.pairs.is_empty()
    }

    fn note_item(&self, input: u32) -> Item {
        self.made(Message::new(Role::Assistant).with_text(WINDOW_NOTE), input)
    }

    fn drop_all_but(&mut self, kept: &Kept) {
        let n_sections = self.sections.len();
        let goal = self.goal_section().filter(|it| !self.sections[*it].pinned);
        let mut system = None;
        let mut dropped: Vec<u32> = Vec::new();
        let mut sections = Vec::with_capacity(n_sections - kept.first_section + 1);
        for (number, mut section) in std::mem::take(&mut self.sections).into_iter().enumerate() {
            system = section.system.take().or(system);
            let is_last = number + 1 == n_sections;
            if is_last {
                self.drop_pairs(&mut section, kept.first_pair, &mut dropped);
            } else if number >= kept.first_section || section.pinned {
            } else if goal == Some(number) {
                if !self.keeps_goal_body(&section) {
                    self.leave_note(&mut section, &mut dropped);
                }
            } else {
                dropped.extend(section.items().map(|it| it.input));
                self.sum = self.sum - section.cost();
                continue;
            }
            section.system = system.take();
            sections.push(section);
        }
        self.sections = sections;
        self.note_dropped(&dropped);
    }

    fn drop_pairs(&mut self, section: &mut SectionState, first: usize, dropped: &mut Vec<u32>) {
        let mut number = 0;
        section.pairs.retain(|it| {
            let keep = number >= first || it.pinned;
            number += 1;
            if !keep {
                dropped.extend(it.items.iter().map(|it| it.input));
                self.sum = self.sum - it.cost();
            }
            keep
        });
    }

    /// Puts the note in the place of a section's body, unless it is that already.
    fn leave_note(&mut self, section: &mut SectionState, dropped: &mut Vec<u32>) {
        let input =
            section.pairs.first().map_or_else(|| section.first_input(), PairState::first_input);
        let note = self.note_item(input);
        self.sum = self.sum - section.body_cost() + note.cost;
        dropped.extend(section.pairs.iter().flat_map(|it| &it.items).map(|it| it.input));
        section.pairs = vec![PairState {
            items: vec![note],
            kind: BodyPairKind::Completion,
            summary: true,
            pinned: false,
            cut: true,
            calls: 0,
        }];
    }

    /// One edit that names all messages that this run dropped.
    fn note_dropped(&mut self, dropped: &[u32]) {
        let runs: Vec<String> = dropped.chunk_by(|a, b| *b <= a + 1).map(range).collect();
        let Some(first) = dropped.first() else { return };
        let message = format!("messages {} are outside the window", runs.join(", "));
        let edit = Diagnostic::info(codes::of("compact::messages-dropped"), message)
            .at_message(*first as usize)
            .with_fix(format!("dropped {} messages", dropped.len()));
        self.note(edit);
    }
}

/// `3` or `3 to 5`.
fn range(run: &[u32]) -> String {
    match run {
        [one] => one.to_string(),
        _ => format!("{} to {}", run[0], run[run.len() - 1]),
    }
}

fn without_system(section: &SectionState) -> Cost {
    let user = section.user.as_ref().map_or_else(Cost::default, |it| it.cost);
    user + section.body_cost()
}
