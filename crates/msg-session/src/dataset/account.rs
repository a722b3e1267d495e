//! Which answers are supervised, and that no call is lost: copies of earlier answers have weight 0, and each call of a
//! session is in one answer with weight 1, or named.

use std::collections::{BTreeMap, HashMap, HashSet};

use msg_core::{Message, Part, Role};

use super::MissingCall;
use super::views::{Candidate, ModelView, content, is_interrupted};
use crate::view::Origin;

/// The answers that were met before.
#[derive(Debug, Default)]
pub(super) struct Seen {
    prefixes: HashSet<u128>,
    records: HashSet<(usize, Origin)>,
    /// Answers with calls, by what they say.
    contents: HashSet<(usize, Vec<u8>)>,
}

impl Seen {
    /// Whether an answer is a copy of one that was met; it is met then.
    fn meets(&mut self, session: usize, answer: &Answer<'_>) -> bool {
        let mut is_copy = !self.prefixes.insert(answer.prefix);
        is_copy |= answer.record.is_some_and(|it| !self.records.insert((session, it)));
        if answer.message.tool_calls().next().is_some() {
            let is_known = !self.contents.insert((session, content(answer.message)));
            is_copy |= is_known && (answer.is_compacted || answer.record.is_none());
        }
        is_copy
    }
}

/// An answer in a view.
struct Answer<'m> {
    message: &'m Message,
    prefix: u128,
    /// Where it begins, if records have the numbers that they have in the session.
    record: Option<Origin>,
    /// Whether a compaction is before the view, which may hold copies of earlier answers.
    is_compacted: bool,
}

/// The calls of the sessions and those of the answers with weight 1.
#[derive(Debug, Default)]
pub(super) struct Account {
    names: Vec<String>,
    /// The calls that were counted, by the block that they are.
    counted: HashSet<(usize, Origin, String)>,
    /// The answers with calls that were counted, by what they say.
    contents: HashSet<(usize, Vec<u8>)>,
    /// The session that an answer was counted for, by what is said up to it: a fork repeats its parent.
    owners: HashMap<u128, usize>,
    /// How often each call is in the sessions, less how often it is supervised.
    open: BTreeMap<(usize, String), i64>,
    calls_in: usize,
    calls_out: usize,
    reasons: HashMap<(usize, String), String>,
}

impl Account {
    /// Counts the calls of a view that no view before it had.
    pub(super) fn session_has(&mut self, number: usize, name: &str, view: &ModelView) {
        if self.names.len() == number {
            self.names.push(name.to_owned());
        }
        let messages = &view.view.messages;
        let is_compacted = view.is_compacted;
        let copies = copied_history(is_compacted, messages, &view.view.origins);
        let prefixes = super::views::prefixes_of(messages);
        for (at, message) in messages.iter().enumerate().filter(|it| it.1.role == Role::Assistant) {
            let owner = *self.owners.entry(prefixes[at]).or_insert(number);
            let has_calls = message.tool_calls().next().is_some();
            let is_new = !has_calls || self.contents.insert((number, content(message)));
            if owner != number || copies[at] || is_compacted && !is_new {
                continue;
            }
            for (part, origin) in message.parts.iter().zip(&view.view.origins[at]) {
                let Part::ToolCall(call) = part else { continue };
                if self.counted.insert((number, *origin, call.id.clone())) {
                    self.calls_in += 1;
                    *self.open.entry((number, call.id.clone())).or_default() += 1;
                }
            }
        }
    }

    /// The weight of each message of a sample: none of those that are not answers.
    pub(super) fn weights(&mut self, sample: &Candidate, seen: &mut Seen) -> Vec<Option<bool>> {
        let origins: Vec<Vec<Origin>> =
            sample.records.iter().map(|it| it.iter().copied().collect()).collect();
        let is_compacted = sample.is_compacted;
        let copies = copied_history(is_compacted, &sample.messages, &origins);
        let mut res = Vec::with_capacity(sample.messages.len());
        for (at, message) in sample.messages.iter().enumerate() {
            if message.role != Role::Assistant {
                res.push(None);
                continue;
            }
            let (prefix, record) = (sample.prefixes[at], sample.records[at]);
            let answer = Answer { message, prefix, record, is_compacted };
            let is_copy = seen.meets(sample.session, &answer);
            let why = why_unsupervised(&sample.messages, at);
            if is_copy || copies[at] || why.is_some() {
                if let Some(why) = why {
                    self.explain_all(sample.session, std::slice::from_ref(message), why);
                }
                res.push(Some(false));
                continue;
            }
            res.push(Some(true));
            let owner = self.owners.get(&prefix).copied().unwrap_or(sample.session);
            for call in message.tool_calls() {
                self.calls_out += 1;
                *self.open.entry((owner, call.id.clone())).or_default() -= 1;
            }
        }
        res
    }

    /// Says why the calls of these messages are not supervised, if they are not.
    pub(super) fn explain_all(&mut self, session: usize, messages: &[Message], reason: &str) {
        for call in messages.iter().flat_map(Message::tool_calls) {
            let key = (session, call.id.clone());
            self.reasons.entry(key).or_insert_with(|| reason.to_owned());
        }
    }

    pub(super) fn explain(&mut self, sample: &Candidate, reason: &str) {
        self.explain_all(sample.session, &sample.messages, reason);
    }

    /// Says why the calls after the end of a sample are not supervised.
    pub(super) fn explain_cut(&mut self, session: usize, cut: &[Message], unanswered: &[String]) {
        for id in unanswered {
            let reason = "no result was recorded, and the conversation went on";
            self.reasons.entry((session, id.clone())).or_insert_with(|| reason.to_owned());
        }
        self.explain_all(session, cut, "it follows a call without a recorded result");
    }

    /// The calls that came in, those that went out, and the missing ones.
    pub(super) fn finish(self) -> (usize, usize, Vec<MissingCall>) {
        // A mend may rename a call, which is then missing under its old id and too many under the new one.
        let mut renamed: HashMap<usize, i64> = HashMap::new();
        for ((session, _), count) in self.open.iter().filter(|it| *it.1 < 0) {
            *renamed.entry(*session).or_default() -= count;
        }
        let mut missing = Vec::new();
        for ((session, call), count) in self.open {
            let reason = self.reasons.get(&(session, call.clone())).cloned();
            for _ in 0..count.max(0) {
                let left = renamed.entry(session).or_default();
                if reason.is_none() && *left > 0 {
                    *left -= 1;
                    continue;
                }
                let reason = reason.clone();
                missing.push(MissingCall {
                    session: self.names[session].clone(),
                    call: call.clone(),
                    reason: reason.unwrap_or_else(|| "a mend of the session removed it".to_owned()),
                });
            }
        }
        missing.sort();
        (self.calls_in, self.calls_out, missing)
    }
}

/// Of each message, whether it is of a record that holds a whole history: a compaction copied it there.
fn copied_history(is_compacted: bool, messages: &[Message], origins: &[Vec<Origin>]) -> Vec<bool> {
    if !is_compacted {
        return vec![false; messages.len()];
    }
    let record = |at: usize| origins[at].first().map(|it| it.record);
    let mut users = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        if matches!(message.role, Role::User) {
            users.extend(origins[at].iter().filter(|it| it.block.is_some()).map(|it| it.record));
        }
    }
    (0..messages.len()).map(|at| record(at).is_some_and(|it| users.contains(&it))).collect()
}

/// Why an answer is not supervised: it was not the model's, or not whole.
fn why_unsupervised(messages: &[Message], at: usize) -> Option<&'static str> {
    let message = &messages[at];
    let text = message.text();
    let is_made_up = matches!(&*text, "(no content)" | "No response requested.");
    let is_text_only = message.parts.iter().all(|it| it.as_text().is_some());
    if is_made_up && is_text_only {
        return Some("the agent wrote the answer itself");
    }
    is_interrupted(messages, at).then_some("the user interrupted the answer")
}
