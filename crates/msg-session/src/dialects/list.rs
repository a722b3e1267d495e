//! What sessions have in common whose records are messages with lists of blocks, one after the other, in
//! lines (goose) or in one array (cline): the edits of their records.

use std::{borrow::Cow, collections::HashMap};

use msg_core::Severity;

use super::Mends;
use crate::edit;
use crate::edit::Edit;
use crate::finding::{Finding, SessionPlace};
use crate::frame::{Array, Lines};
use crate::json::Value;
use crate::link::{Content, Plan, Rules, Sender, Sent};

/// The JSON of a record that comes; `like` is the one that it is beside: a message of goose has its time, in an export
/// also `metadata`, without which goose does not import it.
fn message(file: File<'_>, sender: Sender, content: &str, like: usize) -> String {
    let created = file.value(like).and_then(|it| it.get("created"));
    let created = created.map(|it| format!(",\"created\":{}", it.source)).unwrap_or_default();
    let is_export = matches!(file, File::Array(_));
    let has_metadata = is_export && file.value(like).is_some_and(|it| it.get("metadata").is_some());
    let metadata = if has_metadata { VISIBLE } else { "" };
    format!(r#"{{"role":"{}"{created},"content":[{content}]{metadata}}}"#, role(sender))
}

/// What goose's import wants of each message of an export.
const VISIBLE: &str = r#","metadata":{"userVisible":true,"agentVisible":true}"#;

fn role(sender: Sender) -> &'static str {
    match sender {
        Sender::User => "user",
        Sender::Assistant => "assistant",
    }
}

/// Checks the messages of a list, and writes the edits.
pub(super) fn check(
    file: File<'_>,
    sent: &[Sent<'_>],
    rules: &Rules,
    mut findings: Vec<Finding>,
) -> Mends {
    let mut plan = crate::link::check(sent, rules);
    crate::link::check_content(&mut plan);
    plan.findings.append(&mut findings);
    let mut findings = std::mem::take(&mut plan.findings);
    let mut edits = plan.take_edits();
    for it in sent {
        let found = file.value(it.record).map(|it| edit::mend(it, rules.has_marks));
        let found = found.unwrap_or_default();
        findings.extend(super::lone_surrogates(it.place, found.count));
        edits.extend(found.edits);
    }
    let gone: Vec<_> =
        (0..sent.len()).filter(|it| plan.is_gone(*it)).map(|it| sent[it].record).collect();
    edits.extend(file.drop(&gone));
    edits.extend(new_records(file, &plan));
    let left = file.len() - gone.len() + plan.new_records.len();
    Mends::new(file.len(), left, findings, edits)
}

/// The edits of records that come.
fn new_records(file: File<'_>, plan: &Plan<'_>) -> Vec<Edit> {
    let mut res = Vec::new();
    if let Some(first) = plan.missing_start.map(|it| plan.sent[it].record) {
        let text = r#"{"type":"text","text":"(start of the conversation)"}"#;
        res.push(file.insert_before(first, &message(file, Sender::User, text, first)));
    }
    let mut come = plan.new_records.iter().peekable();
    while let Some((after, block)) = come.next() {
        let mut content = block.clone();
        // Results of one message are one record.
        while let Some((_, block)) = come.next_if(|it| it.0 == *after) {
            content = format!("{content},{block}");
        }
        let record = plan.sent[*after].record;
        res.push(file.insert_after(record, &message(file, Sender::User, &content, record)));
    }
    res
}

/// Whether a record has something to say.
pub(super) fn says_something(sent: &Sent<'_>) -> bool {
    !matches!(sent.content, Content::None | Content::Null(_))
}

// The records of a session of one file: its lines (goose, gemini-cli), or the elements of one array (cline,
// exports of goose, older files of gemini-cli).

/// A session of one file.
#[derive(Clone, Copy)]
pub(super) enum File<'a> {
    Lines(&'a Lines<'a>),
    Array(&'a Array<'a>),
}

impl<'a> File<'a> {
    /// What was wrong with its frame.
    pub(super) fn findings(self) -> &'a [Finding] {
        match self {
            File::Lines(it) => &it.findings,
            File::Array(it) => &it.findings,
        }
    }

    /// Whether long values are marks.
    pub(super) fn has_marks(self) -> bool {
        matches!(self, File::Lines(it) if it.has_marks())
    }

    /// How many records there are.
    pub(super) fn len(self) -> usize {
        match self {
            File::Lines(it) => it.records.len(),
            File::Array(it) => it.records.len(),
        }
    }

    /// The value of a record.
    pub(super) fn value(self, record: usize) -> Option<Value<'a>> {
        match self {
            File::Lines(it) => it.value(record),
            File::Array(it) => it.value(record),
        }
    }

    /// Where a record is.
    pub(super) fn place(self, record: usize) -> SessionPlace {
        match self {
            File::Lines(it) => it.place(record),
            File::Array(it) => it.place(record),
        }
    }

    /// The edits that drop these records.
    pub(super) fn drop(self, records: &[usize]) -> Vec<Edit> {
        match self {
            File::Lines(it) => records.iter().map(|at| it.remove(*at)).collect(),
            File::Array(it) => it.drop(|at| records.binary_search(&at).is_ok()),
        }
    }

    /// The edit that puts a record after another one.
    pub(super) fn insert_after(self, record: usize, json: &str) -> Edit {
        match self {
            File::Lines(it) => it.insert_after(record, json),
            File::Array(it) => it.insert_after(record, json),
        }
    }

    /// The edit that puts a record before another one.
    pub(super) fn insert_before(self, record: usize, json: &str) -> Edit {
        match self {
            File::Lines(it) => it.insert_before(record, json),
            File::Array(it) => it.insert_before(record, json),
        }
    }
}

// Calls and results of agents that mend most of it themselves (pi, copilot-cli): what is left to be said (SE-32, SE-33,
// SE-35, SE-36).

/// What is on a path, in order.
pub(super) enum Event<'a> {
    /// Somebody begins to say something else than a result.
    Says,
    Call(Cow<'a, str>, SessionPlace),
    Result(Cow<'a, str>, SessionPlace),
}

/// What is wrong with calls and results.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) findings: Vec<Finding>,
    /// Results that answer no call, or one that has a result, by the number of their event.
    pub(super) dropped: Vec<usize>,
}

/// Checks a path; `severity` is that of a result too many. Linear.
pub(super) fn check_pairs(events: &[Event<'_>], severity: Severity) -> Pairs {
    let mut res = Pairs::default();
    // Of each id its last call: the number of its event, and whether it has a result.
    let mut calls: HashMap<&str, (usize, bool)> = HashMap::new();
    let mut open = Vec::new();
    let mut last_says = None;
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Says => last_says = Some(at),
            Event::Call(id, _) => {
                let before = calls.insert(id, (at, false));
                open.extend(before.filter(|it| !it.1).map(|it| it.0));
            }
            Event::Result(id, place) => {
                let (code, message) = match calls.get_mut(&**id) {
                    Some((_, is_answered)) if !*is_answered => {
                        *is_answered = true;
                        continue;
                    }
                    Some(_) => {
                        ("session::duplicate-result", format!("second result of call `{id}`"))
                    }
                    None => {
                        let message = format!("tool result `{id}` matches no earlier call");
                        ("session::orphan-result", message)
                    }
                };
                res.dropped.push(at);
                let finding = Finding::new(severity, code, *place, message);
                res.findings.push(finding);
            }
        }
    }
    open.extend(calls.into_values().filter(|it| !it.1).map(|it| it.0));
    open.sort_unstable();
    for at in open {
        let Event::Call(id, place) = &events[at] else { continue };
        let (code, message) = match last_says > Some(at) {
            true => ("session::unanswered-call", format!("call `{id}` has no result")),
            false => {
                let message = format!("the session ends with call `{id}`, which has no result yet");
                ("session::open-call", message)
            }
        };
        res.findings.push(Finding::warning(code, *place, message));
    }
    res
}
