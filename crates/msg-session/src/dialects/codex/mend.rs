//! The problems of a Codex session, and its edits: removed and added items, a moved header, numbered lines.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::dialects::codex::{Family, Item, Kind, Path, envelope_of};
use crate::edit::{
    Edit, Kind as JsonKind, Object, Value, drop_elements, in_order, quoted, set_member,
};
use crate::error::{Finding, SessionOptions, SessionPlace};
use crate::frame::Lines;

/// Writes the edits; returns how many records are left.
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

/// The lines of the file in their new order.
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

    /// The lines, with new lines inserted after their records.
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

/// The time of a record, if another record may reuse it: in an excerpt, a long text is only a marker.
fn time<'a>(record: &Object<'a>) -> Option<Value<'a>> {
    const LONGEST: usize = 40;
    // An excerpt may have a character as its escape.
    let is_plain = |it: &Value<'_>| {
        it.source.len() <= LONGEST && it.source.is_ascii() && !it.source.contains('\\')
    };
    record.get("timestamp").filter(is_plain)
}

/// The line for an output (SE-52), with the time of its call.
fn line(call: &Object<'_>, ordinal: Option<u64>, json: &str) -> String {
    let time = time(call).map(|it| format!("\"timestamp\":{},", it.source));
    let time = time.unwrap_or_default();
    let ordinal = ordinal.map(|it| format!("\"ordinal\":{it},")).unwrap_or_default();
    format!(r#"{{{time}{ordinal}"type":"response_item","payload":{json}}}"#)
}

/// Removes items from, and adds items to, the replacement history of a compaction.
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

/// Moves a line to the front, with the edits inside it.
fn move_to_front(lines: &Lines<'_>, record: usize, edits: &mut Vec<Edit>) {
    let span = lines.records[record].span();
    // A new line before it keeps its place.
    let is_inside = |it: &Edit| {
        span.start <= it.span.start && span.start < it.span.end && it.span.end <= span.end
    };
    let (inside, others): (Vec<_>, Vec<_>) = edits.drain(..).partition(is_inside);
    *edits = others;
    let mut text = String::new();
    let mut at = span.start;
    for edit in in_order(inside) {
        text.push_str(&lines.copied(at..edit.span.start));
        text.push_str(&edit.text);
        at = edit.span.end;
    }
    text.push_str(&lines.copied(at..span.end));
    edits.push(lines.insert_before(0, &text));
    edits.push(lines.remove(record));
}

// The line numbers of a paginated session (SE-56): they increase from line to line.
//
// ```text
// 0 1 2 3 4 5 3 4 9     ->     0 1 2 3 4 5 6 7 9
// ```

/// A line of the repaired file: an existing one, or the index of a new one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Line {
    Record(usize),
    New(usize),
}

/// Checks the numbers of the existing lines in their new order.
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

/// Numbers the lines: returns the edits of existing lines and the numbers of new ones.
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

/// Sets the number of a line; the member goes after the time.
fn set(record: &Object<'_>, ordinal: u64) -> Edit {
    match (record.get("ordinal"), record.get("timestamp")) {
        (None, Some(time)) => Edit::insert(time.end(), format!(",\"ordinal\":{ordinal}")),
        _ => crate::edit::set_member(record, "ordinal", ordinal.to_string()),
    }
}

// The header of a Codex session (SE-55).

/// The header as far as it is known.
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
    let is_paginated = is_paginated(lines, &payload);
    if payload.text("history_mode").is_some_and(|it| !is_known_mode(&it)) {
        let known = if is_paginated { "\"paginated\"" } else { "\"legacy\"" };
        let edit = set_member(&payload, "history_mode", known);
        let message = "the header has a history_mode that Codex does not know";
        bad(message, Some(("set the one that the lines are written in", edit)));
    }
    Header { misplaced, is_paginated }
}

fn is_known_mode(mode: &str) -> bool {
    matches!(mode, "legacy" | "paginated")
}

/// Whether the lines are numbered. The header says so; if its value is unknown to Codex, the lines themselves decide.
pub(super) fn is_paginated(lines: &Lines<'_>, header: &Object<'_>) -> bool {
    match header.text("history_mode") {
        Some(mode) if is_known_mode(&mode) => mode == "paginated",
        Some(_) => {
            let has_number = |it: usize| lines.object(it).is_some_and(|it| it.has("ordinal"));
            (0..lines.records.len()).all(has_number)
        }
        None => false,
    }
}

/// The UUID at the end of a rollout file name.
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

// The rules between the items of a Codex session (SE-30 to SE-35, SE-52 to SE-54). Codex repairs some problems itself
// before each request, so an unanswered call is only a warning.

/// The planned changes of the items.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) findings: Vec<Finding>,
    /// New ids.
    pub(super) edits: Vec<Edit>,
    /// Indexes of items to remove.
    pub(super) dropped: Vec<bool>,
    /// Calls that get a new output after them, with its JSON.
    pub(super) outputs: Vec<(usize, String)>,
}

pub(super) fn check_rules(path: &Path<'_>, options: &SessionOptions) -> Plan {
    let mut plan = Plan { dropped: vec![false; path.items.len()], ..Plan::default() };
    if options.drop_encrypted {
        encrypted(path, &mut plan);
    }
    let mut links = Links::of(path);
    for at in 0..path.items.len() {
        if !plan.dropped[at] {
            links.item(&path.items[at], at, &mut plan);
        }
    }
    links.unanswered(path, options.all, &mut plan);
    reasoning(path, &mut plan);
    reasoning_content(path, &mut plan);
    plan
}

fn encrypted(path: &Path<'_>, plan: &mut Plan) {
    for (at, item) in path.items.iter().enumerate().filter(|it| it.1.is_encrypted()) {
        let message = "an item that only its own account can decrypt";
        plan.drop(item, at, "session::foreign-encrypted", message);
    }
}

impl Plan {
    fn drop(
        &mut self,
        item: &Item<'_>,
        at: usize,
        code: &'static str,
        message: impl Into<std::borrow::Cow<'static, str>>,
    ) {
        self.dropped[at] = true;
        let finding = Finding::error(code, item.place, message);
        self.findings.push(finding.mended("remove the item", false));
    }
}

/// A call seen so far.
struct Call {
    at: usize,
    /// Its current id.
    id: String,
    family: Family,
    is_answered: bool,
}

struct Links {
    calls: Vec<Call>,
    /// The last call of each id in the file.
    by_id: HashMap<String, usize>,
    used: HashSet<String>,
    numbers: HashMap<String, usize>,
}

impl Links {
    fn of(path: &Path<'_>) -> Self {
        let used = path.items.iter().filter_map(|it| it.call_id()).map(|it| it.1.into_owned());
        Self {
            calls: Vec::new(),
            by_id: HashMap::new(),
            used: used.collect(),
            numbers: HashMap::new(),
        }
    }

    fn item(&mut self, item: &Item<'_>, at: usize, plan: &mut Plan) {
        match item.kind {
            Kind::Call(family) => self.call(item, at, family, plan),
            Kind::Output(family) => self.output(item, at, family, plan),
            _ => {}
        }
    }

    fn call(&mut self, item: &Item<'_>, at: usize, family: Family, plan: &mut Plan) {
        let Some((value, id)) = item.call_id() else { return };
        let mut now = id.clone().into_owned();
        if let Some(before) = self.by_id.get(&*id) {
            if !self.calls[*before].is_answered {
                let message = format!("duplicate call `{id}` before its output");
                return plan.drop(item, at, "session::duplicate-call", message);
            }
            now = self.free(&id);
            plan.edits.push(Edit::replace(value.span(), quoted(&now)));
            let message = format!("call id `{id}` is already used by an earlier call");
            let finding = Finding::error("session::reused-call-id", item.place, message);
            let fix = format!("rename this call and its output to `{now}`");
            plan.findings.push(finding.mended(fix, false));
        }
        self.by_id.insert(id.into_owned(), self.calls.len());
        self.calls.push(Call { at, id: now, family, is_answered: false });
    }

    fn output(&mut self, item: &Item<'_>, at: usize, family: Family, plan: &mut Plan) {
        let Some((value, id)) = item.call_id() else { return };
        let call = self.by_id.get(&*id).map(|it| &mut self.calls[*it]);
        let Some(call) = call.filter(|it| it.family == family) else {
            let message = format!("output `{id}` matches no earlier call");
            return plan.drop(item, at, "session::orphan-result", message);
        };
        if call.is_answered {
            let message = format!("second output of call `{id}`");
            return plan.drop(item, at, "session::duplicate-result", message);
        }
        call.is_answered = true;
        if call.id != *id {
            plan.edits.push(Edit::replace(value.span(), quoted(&call.id)));
        }
    }

    fn free(&mut self, id: &str) -> String {
        let number = self.numbers.entry(id.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let res = format!("{id}_{number}");
            if self.used.insert(res.clone()) {
                return res;
            }
        }
    }

    fn unanswered(&self, path: &Path<'_>, all: bool, plan: &mut Plan) {
        for call in self.calls.iter().filter(|it| !it.is_answered) {
            let message = format!("call `{}` has no output", call.id);
            let place = path.items[call.at].place;
            let finding = Finding::warning("session::unanswered-call", place, message);
            plan.findings
                .push(finding.mended("insert an output that says the call was aborted", all));
            if all {
                let (kind, id) = (call.family.output(), quoted(&call.id));
                let json = format!(r#"{{"type":"{kind}","call_id":{id},"output":"aborted"}}"#);
                plan.outputs.push((call.at, json));
            }
        }
    }
}

/// Plain-text reasoning of another provider is rejected (SE-132).
fn reasoning_content(path: &Path<'_>, plan: &mut Plan) {
    for (at, item) in path.items.iter().enumerate() {
        if item.kind != Kind::Reasoning || plan.dropped[at] {
            continue;
        }
        let content = item.object.get("content").filter(|it| it.kind() == JsonKind::Array);
        let Some(content) = content.filter(|it| it.array().is_some_and(|it| !it.is_empty())) else {
            continue;
        };
        let message = "reasoning in plain text, which the API refuses";
        let finding = Finding::error("session::reasoning-content", item.place, message);
        plan.findings.push(finding.mended("remove the content", false));
        plan.edits.push(Edit::replace(content.span(), "null"));
    }
}

/// Reasoning must be followed by its outcome (SE-53): an answer or a call before the next user message or output, or
/// the note that the user stopped the turn.
fn reasoning(path: &Path<'_>, plan: &mut Plan) {
    let mut is_followed = false;
    let mut next = usize::MAX;
    for at in (0..path.items.len()).rev() {
        if plan.dropped[at] {
            continue;
        }
        let item = &path.items[at];
        match item.kind {
            Kind::AssistantMessage | Kind::Call(_) | Kind::ServerCall => is_followed = true,
            Kind::Context => is_followed = path.is_stopped(item.record, next),
            Kind::UserMessage | Kind::Summary | Kind::Output(_) => is_followed = false,
            Kind::Reasoning if !is_followed => {
                let message = "reasoning without the item that must follow it";
                plan.drop(item, at, "session::orphan-reasoning", message);
            }
            _ => {}
        }
        next = item.record;
    }
}
