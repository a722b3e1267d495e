//! From the places of a compaction to a plan: the runs in which output and input differ.

use msg_core::Message;

use super::{Fingerprints, Plan, PlanEdit, fingerprint};
use crate::{bench::Change, outcome::Place};

/// The plan that turns the input into these messages, in this order. Those that are the input's own and
/// stand in its order stay; all else is replaced.
pub(crate) fn plan_of(inputs: &[&Message], places: &[Place], changes: &[Change]) -> Plan {
    let mut maker = Maker { inputs, edits: Vec::new(), next: 0, insert: Vec::new() };
    for place in places {
        let input = place.input as usize;
        match place.change {
            Some(change) => maker.insert.push(changes[change.place()].make(inputs[input])),
            None if input >= maker.next => {
                maker.close(input);
                maker.next = input + 1;
            }
            // A unit that was moved to the front of what it stood behind.
            None => maker.insert.push(inputs[input].clone()),
        }
    }
    maker.close(inputs.len());
    maker.into_plan()
}

struct Maker<'i> {
    inputs: &'i [&'i Message],
    edits: Vec<PlanEdit>,
    /// The first input message that is not dealt with.
    next: usize,
    /// What was made since the last input message that stays.
    insert: Vec<Message>,
}

impl Maker<'_> {
    /// Ends the run of changes before this input message.
    fn close(&mut self, input: usize) {
        if self.next == input && self.insert.is_empty() {
            return;
        }
        let removed = self.inputs[self.next..input].iter().map(|it| (*it).clone()).collect();
        let insert = std::mem::take(&mut self.insert);
        self.edits.push(PlanEdit { start: self.next, end: input, insert, removed: Some(removed) });
        self.next = input;
    }

    fn into_plan(self) -> Plan {
        let covers = self.edits.last().map_or(0, |it| it.end);
        let before = self.inputs[..covers].iter().map(|it| fingerprint(it)).collect::<Vec<_>>();
        let mut after = Vec::with_capacity(covers);
        let mut at = 0;
        for edit in &self.edits {
            after.extend_from_slice(&before[at..edit.start]);
            after.extend(edit.insert.iter().map(fingerprint));
            at = edit.end;
        }
        Plan {
            edits: self.edits,
            before: Fingerprints::new(before),
            after: Fingerprints::new(after),
        }
    }
}
