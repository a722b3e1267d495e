//! Calls whose ids are not their own (SE-30, SE-31).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::model::Sender;
use super::plan::Plan;
use crate::finding::Finding;

type Position = (usize, usize);

pub(super) fn check(plan: &mut Plan<'_>) {
    let mut ids = Ids::of(plan);
    let between = plan.rules.renamed;
    let mut seen: HashMap<Cow<'_, str>, usize> = HashMap::new();
    for message in 0..plan.messages.len() {
        if plan.sender(message) == Sender::User {
            continue;
        }
        for sent in plan.messages[message].clone() {
            let blocks = plan.sent[sent].blocks();
            for (block, it) in blocks.iter().enumerate() {
                let Some((value, id)) = it.call_id() else { continue };
                match seen.insert(id.clone(), message) {
                    None => {}
                    Some(before) if before == message => duplicate(plan, (sent, block), &id),
                    Some(_) => {
                        let new = ids.free(&id, between);
                        reused(plan, (sent, block), value, &id, &new);
                        if let Some(result) = ids.next_result(&id, (sent, block))
                            && let Some((value, _)) =
                                plan.sent[result.0].blocks()[result.1].result_id()
                        {
                            plan.rename(value, &new);
                        }
                    }
                }
            }
        }
    }
}

fn duplicate(plan: &mut Plan<'_>, at: Position, id: &str) {
    plan.drop_block(at);
    let message = format!("duplicate call `{id}` in one message");
    let place = plan.sent[at.0].place.with_block(at.1);
    let finding = Finding::error("session::duplicate-call", place, message);
    plan.findings.push(finding.mended("remove the later one", plan.rules.all));
}

fn reused(plan: &mut Plan<'_>, at: Position, value: crate::json::Value<'_>, id: &str, new: &str) {
    plan.rename(value, new);
    let message = format!("call id `{id}` is already used by an earlier call");
    let place = plan.sent[at.0].place.with_block(at.1);
    let finding = Finding::error("session::reused-call-id", place, message);
    let fix = format!("rename this call and its result to {new}");
    plan.findings.push(finding.mended(fix, plan.rules.all));
}

/// The ids of a path.
struct Ids<'a> {
    used: HashSet<Cow<'a, str>>,
    /// Where the results of each id are, in order.
    results: HashMap<Cow<'a, str>, Vec<Position>>,
    /// Results that a renamed call took along, as how far the list of an id is used up.
    taken: HashMap<String, usize>,
    /// The last number that was given to an id.
    numbers: HashMap<String, usize>,
}

impl<'a> Ids<'a> {
    fn of(plan: &Plan<'a>) -> Self {
        let mut used = HashSet::new();
        let mut results: HashMap<Cow<'a, str>, Vec<Position>> = HashMap::new();
        for (sent, it) in plan.sent.iter().enumerate() {
            for (block, it) in it.blocks().iter().enumerate() {
                if let Some((_, id)) = it.call_id() {
                    used.insert(id);
                } else if let Some((_, id)) = it.result_id() {
                    used.insert(id.clone());
                    results.entry(id).or_default().push((sent, block));
                }
            }
        }
        Self { used, results, taken: HashMap::new(), numbers: HashMap::new() }
    }

    /// `ID_2`, `ID_3` …, the first that is free.
    fn free(&mut self, id: &str, between: char) -> String {
        let number = self.numbers.entry(id.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let res = format!("{id}{between}{number}");
            if self.used.insert(Cow::Owned(res.clone())) {
                return res;
            }
        }
    }

    /// The next result of an id after a call that no other renamed call took.
    fn next_result(&mut self, id: &str, behind: Position) -> Option<Position> {
        let results = self.results.get(id)?;
        let taken = self.taken.entry(id.to_owned()).or_default();
        let next = results.partition_point(|it| *it < behind).max(*taken);
        let res = results.get(next).copied()?;
        *taken = next + 1;
        Some(res)
    }
}
