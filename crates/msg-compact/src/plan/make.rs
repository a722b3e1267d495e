//! From what the workbench has left to a plan: the runs in which output and input differ.

use msg_core::Message;

use super::{Fingerprints, Plan, PlanEdit, fingerprint};
use crate::bench::Item;

/// The plan that turns the input into these items, in this order. Items that are the input's own and
/// stand in its order stay; all else is replaced.
pub(crate) fn plan_of<'a>(inputs: &[&'a Message], items: impl Iterator<Item = &'a Item>) -> Plan {
    let mut maker = Maker { inputs, edits: Vec::new(), next: 0, insert: Vec::new() };
    for item in items {
        maker.item(item);
    }
    maker.close(inputs.len());
    maker.into_plan()
}

struct Maker<'i, 'a> {
    inputs: &'i [&'a Message],
    edits: Vec<PlanEdit>,
    /// The first input message that is not dealt with.
    next: usize,
    /// What was made since the last input message that stays.
    insert: Vec<Message>,
}

impl Maker<'_, '_> {
    fn item(&mut self, item: &Item) {
        let input = item.input as usize;
        match &item.made {
            Some(made) => self.insert.push((**made).clone()),
            None if input >= self.next => {
                self.close(input);
                self.next = input + 1;
            }
            // A unit that was moved to the front of what it stood behind.
            None => self.insert.push(self.inputs[input].clone()),
        }
    }

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
