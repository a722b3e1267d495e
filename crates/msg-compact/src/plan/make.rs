//! From the places of a compaction to a plan: the runs in which output and input differ.

use std::collections::HashMap;

use msg_core::{Layouts, Message};

use super::{Fingerprints, Plan, PlanEdit, fingerprint};
use crate::{outcome::Place, state::Change};

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

impl Plan {
    /// The plan that turns one history into another, whoever made it. Messages of the one that the other
    /// has too, in order, stay; all else is replaced. O(bytes of both).
    ///
    /// ```
    /// use msg_compact::Plan;
    /// use msg_core::{Layouts, Message};
    ///
    /// let history = ["a", "b", "c"].map(Message::user).to_vec();
    /// let edited = ["a", "B", "c"].map(Message::user).to_vec();
    /// let plan = Plan::between(&history, &edited);
    /// assert_eq!(plan.apply(history.clone())?, edited);
    /// assert_eq!(plan.undo(edited)?, history);
    /// # Ok::<(), msg_compact::Error>(())
    /// ```
    pub fn between(before: &[Message], after: &[Message]) -> Plan {
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, message) in before.iter().enumerate().rev() {
            places.entry(fingerprint(message)).or_default().push(at);
        }
        let inputs: Vec<&Message> = before.iter().collect();
        let mut maker = Maker { inputs: &inputs, edits: Vec::new(), next: 0, insert: Vec::new() };
        for message in after {
            let same = places.get_mut(&fingerprint(message));
            match same.and_then(|it| first_from(it, maker.next)) {
                Some(at) if is_same(&before[at], message) => {
                    maker.close(at);
                    maker.next = at + 1;
                }
                _ => maker.insert.push(message.clone()),
            }
        }
        maker.close(before.len());
        maker.into_plan()
    }
}

/// Whether two messages are equal and go out alike: layouts take no part in equality (MS-6), but an edit
/// may have taken one that undoing has to give back.
fn is_same(a: &Message, b: &Message) -> bool {
    a == b && Layouts::of([a]) == Layouts::of([b])
}

/// The first of these places, which stand in falling order, that is not before `next`; forgets those that
/// are.
fn first_from(places: &mut Vec<usize>, next: usize) -> Option<usize> {
    while places.last().is_some_and(|it| *it < next) {
        places.pop();
    }
    places.last().copied()
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
        self.edits.push(PlanEdit::new(self.next..input, insert, Some(removed)));
        self.next = input;
    }

    fn into_plan(self) -> Plan {
        let edited = self.edits.last().map_or(0, |it| it.end);
        let mut before = self.inputs[..edited].iter().map(|it| fingerprint(it)).collect::<Vec<_>>();
        let mut after = Vec::with_capacity(edited);
        let mut at = 0;
        for edit in &self.edits {
            after.extend_from_slice(&before[at..edit.start]);
            after.extend(edit.insert.iter().map(fingerprint));
            at = edit.end;
        }
        self.tell_apart(&mut before, &mut after);
        Plan {
            edits: self.edits,
            before: Fingerprints::new(before),
            after: Fingerprints::new(after),
            text: None,
        }
    }

    /// Covers as many messages behind the last edit as it takes to tell the result from the input: where
    /// one of several equal messages goes, the result begins as the input does, and would be edited again.
    fn tell_apart(&self, before: &mut Vec<u64>, after: &mut Vec<u64>) {
        let mut same = 0;
        loop {
            while same < before.len() && before.get(same) == after.get(same) {
                same += 1;
            }
            let Some(next) = self.inputs.get(before.len()).filter(|_| {
                // Equal so far, or the result has yet to show the message that would differ.
                same == before.len() || same == after.len()
            }) else {
                return;
            };
            let next = fingerprint(next);
            before.push(next);
            after.push(next);
        }
    }
}
