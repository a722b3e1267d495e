//! The edits of a Codex session: items that go and come, the header that moves, lines that are numbered.

use std::collections::{BTreeMap, HashSet};

use super::rules::Plan;
use crate::dialects::codex::{Path, envelope_of};
use crate::edit::{Edit, drop_elements, set_member};
use crate::finding::{Finding, SessionPlace};
use crate::frame::Lines;
use crate::json::{Object, Value};

/// Writes the edits; gives how many records are left.
pub(super) fn write(
    lines: &Lines<'_>,
    path: &Path<'_>,
    plan: &Plan,
    header: Header,
    findings: &mut Vec<Finding>,
    edits: &mut Vec<Edit>,
) -> usize {
    let dropped = path.items.iter().zip(&plan.dropped).filter(|it| *it.1).map(|it| it.0);
    let gone: HashSet<usize> =
        dropped.filter(|it| it.block.is_none()).map(|it| it.record).collect();
    let new: Vec<_> = plan
        .outputs
        .iter()
        .filter(|it| path.items[it.0].block.is_none())
        .map(|(at, json)| (path.items[*at].record, json.as_str()))
        .collect();
    replacements(path, plan, edits);
    let order = Order::new(lines.records.len(), header, &gone);
    let numbers = match header.is_paginated {
        true => {
            findings.extend(check(lines, order.records()));
            number(lines, order.with_new(&new), edits)
        }
        false => Vec::new(),
    };
    for (at, (record, json)) in new.iter().enumerate() {
        let ordinal = numbers.iter().find(|it| it.0 == at).map(|it| it.1);
        if let Some(call) = lines.object(*record) {
            edits.push(lines.insert_after(*record, &line(&call, ordinal, json)));
        }
    }
    edits.extend(gone.iter().map(|it| lines.remove(*it)));
    if let Some(record) = header.misplaced {
        move_to_front(lines, record, edits);
    }
    lines.records.len() - gone.len() + new.len()
}

/// The lines of the file in the order that they will have.
struct Order {
    records: Vec<usize>,
}

impl Order {
    fn new(count: usize, header: Header, gone: &HashSet<usize>) -> Self {
        let stays = |it: &usize| Some(*it) != header.misplaced && !gone.contains(it);
        Self { records: header.misplaced.into_iter().chain((0..count).filter(stays)).collect() }
    }

    fn records(&self) -> impl Iterator<Item = usize> + '_ {
        self.records.iter().copied()
    }

    /// With the lines that come, each after its record.
    fn with_new<'o>(&'o self, new: &'o [(usize, &str)]) -> impl Iterator<Item = Line> + 'o {
        let mut following: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, (record, _)) in new.iter().enumerate() {
            following.entry(*record).or_default().push(at);
        }
        self.records.iter().flat_map(move |record| {
            let come = following.get(record).into_iter().flatten().map(|it| Line::New(*it));
            [Line::Record(*record)].into_iter().chain(come.collect::<Vec<_>>())
        })
    }
}

/// The time of a record, where it is one that another record may have: a long text is only a mark in an excerpt.
fn time<'a>(record: &Object<'a>) -> Option<Value<'a>> {
    const LONGEST: usize = 40;
    let is_plain = |it: &Value<'_>| it.source.len() <= LONGEST && it.source.is_ascii();
    record.get("timestamp").filter(is_plain)
}

/// A line for an output (SE-52): the time is that of its call.
fn line(call: &Object<'_>, ordinal: Option<u64>, json: &str) -> String {
    let time = time(call).map(|it| format!("\"timestamp\":{},", it.source));
    let time = time.unwrap_or_default();
    let ordinal = ordinal.map(|it| format!("\"ordinal\":{it},")).unwrap_or_default();
    format!(r#"{{{time}{ordinal}"type":"response_item","payload":{json}}}"#)
}

/// Items that go from, and come into, the replacement history of a compaction.
fn replacements(path: &Path<'_>, plan: &Plan, edits: &mut Vec<Edit>) {
    for (at, json) in &plan.outputs {
        let item = &path.items[*at];
        if item.block.is_some() {
            edits.push(Edit::insert(item.value.end(), format!(",{json}")));
        }
    }
    let blocks: Vec<_> =
        (0..path.items.len()).filter(|it| path.items[*it].block.is_some()).collect();
    if !blocks.iter().any(|it| plan.dropped[*it]) {
        return;
    }
    let values: Vec<_> = blocks.iter().map(|it| path.items[*it].value).collect();
    if blocks.iter().all(|it| plan.dropped[*it]) {
        if let (Some(first), Some(last)) = (values.first(), values.last()) {
            edits.push(Edit::remove(first.at..last.end()));
        }
        return;
    }
    edits.extend(drop_elements(&values, |it| plan.dropped[blocks[it]]));
}

/// Moves a line to the front, with the edits that are made inside it.
fn move_to_front(lines: &Lines<'_>, record: usize, edits: &mut Vec<Edit>) {
    let span = lines.records[record].span();
    let is_inside = |it: &Edit| span.start <= it.span.start && it.span.end <= span.end;
    let (mut inside, others): (Vec<_>, Vec<_>) = edits.drain(..).partition(is_inside);
    *edits = others;
    inside.sort_by_key(|it| it.span.start);
    let mut text = String::new();
    let mut at = span.start;
    for edit in &inside {
        if edit.span.start < at {
            continue;
        }
        text.push_str(&lines.copied(at..edit.span.start));
        text.push_str(&edit.text);
        at = edit.span.end;
    }
    text.push_str(&lines.copied(at..span.end));
    edits.push(lines.insert_before(0, &text));
    edits.push(lines.remove(record));
}

// The numbers of the lines of a paginated session (SE-56): they rise from line to line.
//
// ```text
// 0 1 2 3 4 5 3 4 9     ->     0 1 2 3 4 5 6 7 9
// ```

/// A line of the file as it will be: one that is there, or the index of one that comes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Line {
    Record(usize),
    New(usize),
}

/// Checks the numbers of the lines that are there, in the order that they will have.
pub(super) fn check(lines: &Lines<'_>, order: impl Iterator<Item = usize>) -> Option<Finding> {
    let mut last = None;
    let mut bad = None;
    let mut count = 0;
    for record in order {
        let ordinal = ordinal(lines, record);
        match ordinal.filter(|it| Some(*it) > last) {
            Some(it) => last = Some(it),
            None => {
                count += 1;
                bad = bad.or(Some(record));
                last = Some(last.map_or(0, |it| it + 1));
            }
        }
    }
    let message = "the lines are not numbered upwards from here";
    let finding = Finding::error("session::bad-ordinal", lines.place(bad?), message);
    let fix = "renumber them; Codex rebuilds its index";
    Some(Finding { count: Some(count), ..finding.mended(fix, false) })
}

/// Numbers the lines: gives the edits of those that are there, and the numbers of those that come.
pub(super) fn number(
    lines: &Lines<'_>,
    order: impl Iterator<Item = Line>,
    edits: &mut Vec<Edit>,
) -> Vec<(usize, u64)> {
    let mut last = None;
    let mut new = Vec::new();
    for line in order {
        let next = last.map_or(0, |it: u64| it.saturating_add(1));
        match line {
            Line::New(it) => new.push((it, next)),
            Line::Record(it) => {
                if let Some(kept) = ordinal(lines, it).filter(|it| Some(*it) > last) {
                    last = Some(kept);
                    continue;
                }
                edits.extend(lines.object(it).map(|it| set(&it, next)));
            }
        }
        last = Some(next);
    }
    new
}

fn ordinal(lines: &Lines<'_>, record: usize) -> Option<u64> {
    lines.object(record)?.get("ordinal")?.number()
}

/// Sets the number of a line: it follows the time.
fn set(record: &Object<'_>, ordinal: u64) -> Edit {
    match (record.get("ordinal"), record.get("timestamp")) {
        (None, Some(time)) => Edit::insert(time.end(), format!(",\"ordinal\":{ordinal}")),
        _ => crate::edit::set_member(record, "ordinal", ordinal.to_string()),
    }
}

// The header of a Codex session (SE-55).

/// What is known of the header.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Header {
    /// Its record, if it must move to the front.
    pub(super) misplaced: Option<usize>,
    /// Whether lines are numbered.
    pub(super) is_paginated: bool,
}

pub(super) fn check_header(
    lines: &Lines<'_>,
    name: &str,
    findings: &mut Vec<Finding>,
    edits: &mut Vec<Edit>,
) -> Header {
    let headers = (0..lines.records.len()).find_map(|at| {
        let (kind, payload) = envelope_of(lines, at)?;
        (kind == "session_meta").then_some((at, payload))
    });
    let Some((at, payload)) = headers else {
        let message = "the session has no header, without which Codex does not load it";
        findings.push(Finding::error("session::missing-header", SessionPlace::line(1), message));
        return Header::default();
    };
    let misplaced = (at > 0).then_some(at);
    if misplaced.is_some() {
        let message = "the header of the session is not its first line";
        let finding = Finding::error("session::misplaced-header", lines.place(at), message);
        findings.push(finding.mended("move the header to the front", false));
    }
    let id = payload.text("id").unwrap_or_default();
    if let Some(named) = uuid_of(name)
        && named != id
    {
        let message = format!("the file is named after the session {named}, its header says {id}");
        findings.push(Finding::error("session::id-mismatch", lines.place(at), message));
    }
    let mut bad = |message: &'static str, fix: Option<(&'static str, Edit)>| {
        let finding = Finding::error("session::bad-header", lines.place(at), message);
        match fix {
            Some((text, edit)) => {
                findings.push(finding.mended(text, false));
                edits.push(edit);
            }
            None => findings.push(finding),
        }
    };
    if !payload.has("timestamp") {
        let time = lines.object(at).and_then(|it| time(&it));
        let fix = time
            .map(|it| ("set the time of its record", set_member(&payload, "timestamp", it.source)));
        bad("the header has no timestamp, without which Codex does not load the session", fix);
    }
    let mode = payload.text("history_mode");
    let is_known = |it: &str| matches!(it, "legacy" | "paginated");
    let mut is_paginated = mode.as_deref() == Some("paginated");
    if mode.is_some_and(|it| !is_known(&it)) {
        let has_number = |it: usize| lines.object(it).is_some_and(|it| it.has("ordinal"));
        is_paginated = (0..lines.records.len()).all(has_number);
        let known = if is_paginated { "\"paginated\"" } else { "\"legacy\"" };
        let edit = set_member(&payload, "history_mode", known);
        let message = "the header has a history_mode that Codex does not know";
        bad(message, Some(("set the one that the lines are written in", edit)));
    }
    Header { misplaced, is_paginated }
}

/// The uuid that the name of a rollout file ends with.
fn uuid_of(name: &str) -> Option<&str> {
    let name = name.rsplit(['/', '\\']).next()?;
    let stem = name.strip_suffix(".jsonl")?;
    let uuid = stem.get(stem.len().checked_sub(36)?..)?;
    let is_uuid = uuid.bytes().enumerate().all(|(at, it)| match at {
        8 | 13 | 18 | 23 => it == b'-',
        _ => it.is_ascii_hexdigit(),
    });
    is_uuid.then_some(uuid)
}
