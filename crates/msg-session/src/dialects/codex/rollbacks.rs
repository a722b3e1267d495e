//! Rollbacks: the compactions that they undo (SE-164), and the records of each branch that they leave (SE-161).
//!
//! ```text
//! turn 1: u1 a1    turn 2: u2, a compaction, a2    back 1        sent: u1 a1
//! ```
//!
//! Codex reads a session from its end. A step back skips turns, each up to the record that began it, until it has
//! skipped the given number of turns with user messages. A compaction in a skipped turn does not count: the items
//! before it are sent again.

use std::collections::{BTreeSet, HashSet};

use super::{Item, Kind, Path, envelope_of};
use crate::edit::Object;
use crate::frame::Lines;

/// The records of the undone compactions before record `end`. Linear.
pub(super) fn undone_compactions(lines: &Lines<'_>, end: usize) -> HashSet<usize> {
    let mut res = HashSet::new();
    let has = |name: &str| memchr::memmem::find(lines.text.as_bytes(), name.as_bytes()).is_some();
    if !has("thread_rolled_back") || !has("replacement_history") {
        return res;
    }
    let (mut turn, mut skipped) = (None, 0);
    for at in (0..end).rev() {
        let Some((kind, payload)) = envelope_of(lines, at) else { continue };
        let is_begin = is_event(&kind, &payload, &["task_started", "turn_started"]);
        if is_begin && turn.as_ref().is_some_and(|it: &Turn| it.may_be(id(&payload))) {
            if turn.take().is_some_and(|it| it.end(&mut skipped, &mut res)) {
                return res;
            }
        } else if is_event(&kind, &payload, &["thread_rolled_back"]) {
            let turns = payload.get("num_turns").and_then(|it| it.number()).unwrap_or(0);
            skipped = turns.saturating_add(skipped);
        } else {
            Turn::record(&mut turn, lines, at, &kind, &payload);
        }
    }
    if let Some(turn) = turn {
        turn.end(&mut skipped, &mut res);
    }
    res
}

/// A turn, read from its end.
#[derive(Default)]
struct Turn {
    id: Option<String>,
    has_words: bool,
    compactions: Vec<usize>,
}

impl Turn {
    /// Adds a record to the turn; starts a turn if there is none.
    fn record(
        turn: &mut Option<Self>,
        lines: &Lines<'_>,
        at: usize,
        kind: &str,
        payload: &Object<'_>,
    ) {
        let is = |names: &[&str]| is_event(kind, payload, names);
        let (mut has_words, mut has_id) = (false, false);
        match kind {
            "compacted" => {}
            "response_item" => {
                let value = lines.object(at).and_then(|it| it.get("payload"));
                let item = value.and_then(|it| Item::new((at, None), lines.place(at), it));
                has_words = item.is_some_and(|it| it.is_a_turn());
            }
            "turn_context" => has_id = true,
            _ if is(&["task_complete", "turn_complete"]) => has_id = true,
            _ if is(&["turn_aborted"]) && (turn.is_some() || id(payload).is_some()) => {
                has_id = true;
            }
            _ if is(&["user_message"]) => has_words = true,
            _ => return,
        }
        let turn = turn.get_or_insert_default();
        turn.has_words |= has_words;
        if has_id && turn.id.is_none() {
            turn.id = id(payload);
        }
        if kind == "compacted"
            && payload.get("replacement_history").is_some_and(|it| it.array().is_some())
        {
            turn.compactions.push(at);
        }
    }

    /// Whether the turn with this id may be this one.
    fn may_be(&self, id: Option<String>) -> bool {
        self.id.is_none() || id.is_none() || self.id == id
    }

    /// Ends the turn: decides whether a rollback skips it and whether its compactions count.
    fn end(self, skipped: &mut u64, undone: &mut HashSet<usize>) -> bool {
        if *skipped == 0 {
            return !self.compactions.is_empty();
        }
        *skipped -= u64::from(self.has_words);
        undone.extend(self.compactions);
        false
    }
}

fn is_event(kind: &str, payload: &Object<'_>, names: &[&str]) -> bool {
    kind == "event_msg" && payload.text("type").is_some_and(|it| names.contains(&&*it))
}

fn id(payload: &Object<'_>) -> Option<String> {
    Some(payload.text("turn_id")?.into_owned())
}

// The records of each branch of a session: its items, the headers, and the records that name the model. So a session
// with many steps back is parsed once, and sliced for each branch.
//
// ```text
// header q1 a1 (back 1) q2 a2      the leaf a1: header q1 a1      the leaf a2: header q2 a2
// ```

/// For each of these leaves, in order, the records that say what is sent up to it; `None` if those alone would give a
/// different result.
pub(super) fn records_of_leaves(lines: &Lines<'_>, leaves: &[usize]) -> Vec<Option<Vec<usize>>> {
    let (mut path, mut history) = (Path::default(), History::default());
    // The first header and the last one.
    let mut headers: [Option<usize>; 2] = [None, None];
    // A rollback after a compaction may have undone it.
    let (mut has_history, mut may_be_undone) = (false, false);
    let mut res = Vec::with_capacity(leaves.len());
    for at in 0..=leaves.last().copied().unwrap_or(0) {
        if let Some((object, (kind, payload))) = lines.object(at).zip(envelope_of(lines, at)) {
            path.record(lines, at, &kind, &object, &payload);
            match &*kind {
                "session_meta" => {
                    headers = [headers[0].or(Some(at)), Some(at)];
                    if path.is_paginated {
                        history = History::default();
                    }
                }
                "compacted" if payload.list("replacement_history").is_empty() => {
                    history.kept = in_history(&path);
                    history.summary = Some(at);
                }
                "event_msg"
                    if payload.text("type").is_some_and(|it| it == "thread_rolled_back") =>
                {
                    may_be_undone |= has_history;
                }
                "compacted" => {
                    (has_history, may_be_undone) = (true, false);
                    let all = in_history(&path);
                    history = History { all, kept: all, summary: None };
                }
                _ => {}
            }
        }
        while leaves.get(res.len()) == Some(&at) {
            let is_whole = !may_be_undone && history.is_whole(&path);
            res.push(is_whole.then(|| records(&path, &headers)));
        }
    }
    res
}

/// The items of a record that replaced the history.
#[derive(Default)]
struct History {
    all: usize,
    /// How many a later compaction keeps, and the record of that compaction.
    kept: usize,
    summary: Option<usize>,
}

impl History {
    /// Whether the remaining items are those that the records contain.
    fn is_whole(&self, path: &Path<'_>) -> bool {
        let (left, mut items) = (in_history(path), path.items.iter());
        let mut is_kept =
            || items.any(|it| it.kind == Kind::Summary && Some(it.record) == self.summary);
        left == 0 || left == self.all || left == self.kept && is_kept()
    }
}

fn in_history(path: &Path<'_>) -> usize {
    path.items.iter().filter(|it| it.block.is_some()).count()
}

fn records(path: &Path<'_>, headers: &[Option<usize>]) -> Vec<usize> {
    let mut res: BTreeSet<usize> = headers.iter().flatten().copied().collect();
    for it in &path.items {
        res.insert(it.record);
        let before = path.models.partition_point(|model| model.0 <= it.record);
        res.extend(before.checked_sub(1).map(|it| path.models[it].0));
    }
    res.into_iter().collect()
}
