//! Checks calls and results of a store (SE-30 to SE-36, SE-147) on its messages, and edits the records that they came
//! from.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use msg_core::{Part, Role};

use super::{Closing, Open, Store};
use crate::dialects::Mends;
use crate::dialects::records::File;
use crate::edit::{Edit, Object, Value, apply, drop_elements, quoted, set_member};
use crate::error::{Finding, SessionOptions, SessionPlace};
use crate::view::{PartOrigin, View};

/// A call or a result, and its origin.
#[derive(Clone)]
struct Seen {
    id: String,
    name: String,
    message: usize,
    origin: PartOrigin,
    is_call: bool,
    /// How many calls in its record before it have the same id.
    nth: usize,
}

/// A parsed record.
struct Parsed<'a> {
    object: Object<'a>,
    style: u8,
    /// The list that contains its parts, and its elements.
    blocks: Option<(Value<'a>, Vec<Value<'a>>)>,
    /// The lists of calls that are not among its parts.
    calls: Vec<Calls<'a>>,
}

/// A list of calls, and the indexes of those with each id.
struct Calls<'a>(Vec<Value<'a>>, HashMap<String, Vec<usize>>);

impl<'a> Calls<'a> {
    fn of(list: Vec<Value<'a>>) -> Self {
        let mut said: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, call) in list.iter().enumerate() {
            for (id, _) in ids(*call) {
                let places = said.entry(id).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
        }
        Self(list, said)
    }
}

impl<'a> Parsed<'a> {
    fn of(value: Value<'a>, store: &Store) -> Option<Self> {
        let object = value.object()?;
        let list = |path: &&str| {
            let list = at_path(value, path)?;
            Some((list, list.array()?))
        };
        let blocks = store.blocks.iter().find_map(list);
        let calls = CALLS.iter().filter_map(|path| Some(Calls::of(list(path)?.1))).collect();
        Some(Self { style: (store.style)(&object), object, blocks, calls })
    }

    /// The position of a call or result that is not among the parts: list and element.
    fn call(&self, it: &Seen) -> Option<(usize, usize)> {
        let mut lists = self.calls.iter().enumerate();
        lists.find_map(|(n, list)| Some((n, *list.1.get(&it.id)?.get(it.nth)?)))
    }

    /// The element for a call or result.
    fn block(&self, it: &Seen) -> Option<Value<'a>> {
        match it.origin.block {
            Some(block) => self.blocks.as_ref()?.1.get(block as usize).copied(),
            None => self.call(it).map(|(n, at)| self.calls[n].0[at]),
        }
    }
}

/// The findings, and the planned changes of records.
struct Plan<'f, 'a> {
    store: &'f Store,
    file: File<'a>,
    /// The records parsed so far.
    parsed: HashMap<usize, Option<Rc<Parsed<'a>>>>,
    all: bool,
    findings: Vec<Finding>,
    edits: Vec<Edit>,
    /// Blocks to remove, by record.
    dropped: BTreeMap<usize, BTreeSet<usize>>,
    /// Calls to remove that are not among the parts, by record and list.
    dropped_calls: BTreeMap<(usize, usize), BTreeSet<usize>>,
    /// Records to remove.
    gone: BTreeSet<usize>,
    /// New records, each after an existing one.
    come: Vec<(usize, String)>,
    /// Blocks to insert at the front of a record.
    front: BTreeMap<usize, Vec<String>>,
}

/// Checks the records of a store.
pub(super) fn check(store: &Store, file: File<'_>, view: &View, options: &SessionOptions) -> Mends {
    let mut plan = Plan {
        store,
        file,
        parsed: HashMap::new(),
        all: options.all,
        findings: file.findings().to_vec(),
        edits: Vec::new(),
        dropped: BTreeMap::new(),
        dropped_calls: BTreeMap::new(),
        gone: BTreeSet::new(),
        come: Vec::new(),
        front: BTreeMap::new(),
    };
    let seen = seen(view);
    let (seen, renamed) = reused(&mut plan, seen);
    let answers = answers(&mut plan, view, &seen);
    complete(&mut plan, view, &seen, &answers);
    plan.rename(&renamed);
    for record in 0..file.len() {
        let to = (&mut plan.findings, &mut plan.edits);
        crate::dialects::replace_lone_surrogates(file.value(record), file.place(record), false, to);
    }
    plan.finish()
}

/// The calls and results of the messages, in order. A call without an id cannot be paired and is skipped.
fn seen(view: &View) -> Vec<Seen> {
    let mut res: Vec<Seen> = Vec::new();
    let mut counts: HashMap<(u32, String), usize> = HashMap::new();
    for (message, origins) in view.origins.iter().enumerate() {
        for (part, origin) in view.messages[message].parts.iter().zip(origins) {
            let (id, name, is_call) = match part {
                Part::ToolCall(it) => (&it.id, it.name.clone(), true),
                Part::ToolResult(it) => (&it.call_id, it.name.clone().unwrap_or_default(), false),
                _ => continue,
            };
            if id.is_empty() {
                continue;
            }
            let count = counts.entry((origin.record, id.clone())).or_default();
            let nth = *count;
            *count += usize::from(is_call);
            let id = id.clone();
            res.push(Seen { id, name, message, origin: *origin, is_call, nth });
        }
    }
    res
}

/// Renamed calls and results: the original, and the new id.
type Renamed = Vec<(Seen, String)>;

/// Handles calls with duplicate ids (SE-30, SE-31). Returns the remaining calls and results under their new ids.
fn reused(plan: &mut Plan<'_, '_>, seen: Vec<Seen>) -> (Vec<Seen>, Renamed) {
    let mut used: HashSet<String> = seen.iter().map(|it| it.id.clone()).collect();
    // For each id, the message of its last call and its current id.
    let mut calls: HashMap<String, (usize, Option<String>)> = HashMap::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let (mut left, mut renamed) = (Vec::with_capacity(seen.len()), Vec::new());
    for mut it in seen {
        if !it.is_call {
            if let Some((_, Some(new))) = calls.get(&it.id) {
                renamed.push((it.clone(), new.clone()));
                it.id.clone_from(new);
            }
            left.push(it);
            continue;
        }
        match calls.get(&it.id).map(|it| it.0) {
            Some(before) if before == it.message => {
                let message = format!("duplicate call `{}` in one message", it.id);
                let finding = Finding::error("session::duplicate-call", plan.place(&it), message);
                plan.drop(&it, finding, "remove the later call");
                continue;
            }
            Some(_) => {
                let number = numbers.entry(it.id.clone()).or_insert(1);
                let new = loop {
                    *number += 1;
                    let new = format!("{}-{number}", it.id);
                    if used.insert(new.clone()) {
                        break new;
                    }
                };
                let message = format!("call id `{}` belongs to an earlier call", it.id);
                let finding = Finding::error("session::reused-call-id", plan.place(&it), message);
                if plan.id_of(&it).is_none() {
                    plan.findings.push(finding);
                    calls.insert(it.id.clone(), (it.message, None));
                    left.push(it);
                    continue;
                }
                let fix = format!("give this call and its result the id `{new}`");
                plan.findings.push(finding.mended(fix, plan.all));
                calls.insert(it.id.clone(), (it.message, Some(new.clone())));
                renamed.push((it.clone(), new.clone()));
                it.id = new;
            }
            None => {
                calls.insert(it.id.clone(), (it.message, None));
            }
        }
        left.push(it);
    }
    (left, renamed)
}

/// For each call, by its index in `seen`, whether it has a result. A result without a call is removed (SE-32, SE-33); a
/// result that does not directly follow its call is moved (SE-34).
fn answers(plan: &mut Plan<'_, '_>, view: &View, seen: &[Seen]) -> HashSet<usize> {
    let spoken = last_spoken(view);
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut answered = HashSet::new();
    for (at, it) in seen.iter().enumerate() {
        if it.is_call {
            calls.insert(&it.id, at);
            continue;
        }
        let Some(&call) = calls.get(&*it.id) else {
            let message = format!("tool result `{}` matches no tool call", it.id);
            let finding = Finding::error("session::orphan-result", plan.place(it), message);
            plan.drop(it, finding, "remove the result");
            continue;
        };
        if !answered.insert(call) {
            let message = format!("call `{}` has a result already", it.id);
            let finding = Finding::error("session::duplicate-result", plan.place(it), message);
            plan.drop(it, finding, "remove the later result");
            continue;
        }
        let is_late = spoken[it.message] != Some(seen[call].message);
        if is_late && plan.store.finds_late && it.message != seen[call].message {
            let message = format!("the result of call `{}` is not right after it", it.id);
            let finding = Finding::error("session::late-result", plan.place(it), message);
            plan.move_result(view, it, &seen[call], finding);
        }
    }
    answered
}

/// For each message, the last earlier one that is not a tool message.
fn last_spoken(view: &View) -> Vec<Option<usize>> {
    let mut last = None;
    let mut res = Vec::with_capacity(view.messages.len());
    for (at, it) in view.messages.iter().enumerate() {
        res.push(last);
        if it.role != Role::Tool {
            last = Some(at);
        }
    }
    res
}

/// Calls that have no result (SE-35, SE-36).
fn complete(plan: &mut Plan<'_, '_>, view: &View, seen: &[Seen], answered: &HashSet<usize>) {
    let went_on = view.messages.iter().rposition(|it| it.role != Role::Tool);
    for (at, call) in seen.iter().enumerate().filter(|it| it.1.is_call) {
        if answered.contains(&at) {
            continue;
        }
        let place = plan.place(call);
        let finding = match went_on > Some(call.message) {
            true => {
                let message = format!("call `{}` has no result", call.id);
                Finding::error("session::unanswered-call", place, message)
            }
            false => {
                let message =
                    format!("the session ends with call `{}`, which has no result", call.id);
                Finding::warning("session::open-call", place, message)
            }
        };
        let is_made = finding.is_error() || plan.all;
        let can_be_made = !is_made || plan.close(view, call).is_some();
        let fix = "insert an error result that says the call was interrupted";
        plan.found(finding, can_be_made.then_some(fix));
    }
}

impl<'a> Plan<'_, 'a> {
    fn place(&self, it: &Seen) -> SessionPlace {
        let place = match (it.origin.record as usize) < self.file.len() {
            true => self.file.place(it.origin.record as usize),
            false => SessionPlace::line(1),
        };
        it.origin.block.map_or(place, |block| place.with_block(block as usize))
    }

    fn parsed(&mut self, record: usize) -> Option<Rc<Parsed<'a>>> {
        let (file, store) = (self.file, self.store);
        let read = || file.value(record).and_then(|it| Parsed::of(it, store)).map(Rc::new);
        self.parsed.entry(record).or_insert_with(read).clone()
    }

    /// Adds a finding, with its fix if it has one.
    fn found(&mut self, finding: Finding, fix: Option<&'static str>) {
        self.findings.push(match fix {
            Some(fix) => finding.mended(fix, self.all),
            None => finding,
        });
    }

    fn drop(&mut self, it: &Seen, finding: Finding, fix: &'static str) {
        let is_out = self.take_out(it).is_some();
        self.found(finding, is_out.then_some(fix));
    }

    /// Returns `None` if the block cannot be identified.
    fn take_out(&mut self, it: &Seen) -> Option<()> {
        let record = it.origin.record as usize;
        let parsed = self.parsed(record);
        let call = parsed.as_ref().and_then(|parsed| parsed.call(it)).filter(|_| it.is_call);
        match (it.origin.block, call) {
            (Some(block), _) => {
                parsed?.block(it)?;
                self.dropped.entry(record).or_default().insert(block as usize);
            }
            (None, Some((list, at))) => {
                self.dropped_calls.entry((record, list)).or_default().insert(at);
            }
            // The whole record is the call or the result.
            (None, None) => {
                self.gone.insert(record);
            }
        }
        Some(())
    }

    fn move_result(&mut self, view: &View, it: &Seen, call: &Seen, finding: Finding) {
        let record = it.origin.record as usize;
        let source = match it.origin.block {
            Some(_) => self.parsed(record).and_then(|parsed| parsed.block(it)),
            None => self.file.value(record),
        };
        let is_block = it.origin.block.is_some();
        let moved = source.and_then(|source| {
            self.put(view, call, source.source.to_owned(), is_block)?;
            self.take_out(it)
        });
        self.found(finding, moved.map(|()| "the result is moved after its call"));
    }

    /// Answers a call that has no result.
    fn close(&mut self, view: &View, call: &Seen) -> Option<()> {
        let parsed = self.parsed(call.origin.record as usize)?;
        let (record, style, block) = (&parsed.object, parsed.style, parsed.block(call));
        let open = Open { id: &call.id, name: &call.name, record, style, block };
        let (object, members) = match (self.store.close)(&open) {
            Closing::Members(members) => (block?.object()?, members),
            Closing::MembersOf(name, members) => (block?.inner(name)?, members),
            Closing::Result(json) => return self.put(view, call, json, true),
        };
        self.edits.extend(members.iter().map(|(name, json)| set_member(&object, name, &**json)));
        Some(())
    }

    /// Inserts a result after the records of its call.
    fn put(&mut self, view: &View, call: &Seen, json: String, is_block: bool) -> Option<()> {
        let origins = view.origins[call.message].iter().map(|it| it.record as usize);
        let last = origins.filter(|it| *it < self.file.len()).max()?;
        let wrap = &self.store.wrap;
        let takes = |it: Rc<Parsed<'_>>| it.blocks.is_some() && (wrap.takes_results)(&it.object);
        if is_block && self.parsed(last + 1).is_some_and(takes) {
            self.front.entry(last + 1).or_default().push(json);
            return Some(());
        }
        let beside = self.parsed(last).filter(|_| is_block);
        let json = beside.map_or(json.clone(), |it| (wrap.record)(&json, &it.object, it.style));
        self.come.push((last, json));
        Some(())
    }

    /// The value that contains the id of a call or result, in its block or record; `None` if none is found.
    fn id_of(&mut self, it: &Seen) -> Option<Value<'a>> {
        let record = it.origin.record as usize;
        let block = self.parsed(record).and_then(|parsed| parsed.block(it));
        let value = block.or_else(|| self.file.value(record))?;
        let says = value.get("message_data").is_some() || those(value, &it.id).next().is_some();
        says.then_some(value)
    }

    fn rename(&mut self, renamed: &Renamed) {
        let mut done = HashSet::new();
        for (it, new) in renamed {
            let Some(value) = self.id_of(it) else { continue };
            if let Some(row) = value.get("message_data").filter(|it| done.insert(it.at)) {
                self.edits.extend(renamed_in_text(row, &it.id, new));
            }
            for id in those(value, &it.id).filter(|id| done.insert(id.at)) {
                self.edits.push(Edit::replace(id.span(), quoted(new)));
            }
        }
    }

    fn finish(mut self) -> Mends {
        for (record, dropped) in std::mem::take(&mut self.dropped) {
            let parsed = self.parsed(record);
            let Some((_, blocks)) = parsed.as_ref().and_then(|it| it.blocks.as_ref()) else {
                continue;
            };
            let front = self.front.contains_key(&record);
            if dropped.len() >= blocks.len() && !front {
                self.gone.insert(record);
                continue;
            }
            if dropped.len() >= blocks.len() {
                let all = blocks[0].at..blocks[blocks.len() - 1].end();
                let new = self.front.remove(&record).unwrap_or_default().join(",");
                self.edits.push(Edit::replace(all, new));
                continue;
            }
            self.edits.extend(drop_elements(blocks, |it| dropped.contains(&it)));
        }
        for ((record, list), dropped) in std::mem::take(&mut self.dropped_calls) {
            let Some(parsed) = self.parsed(record) else { continue };
            self.edits.extend(drop_elements(&parsed.calls[list].0, |it| dropped.contains(&it)));
        }
        for (record, new) in std::mem::take(&mut self.front) {
            let parsed = self.parsed(record);
            let Some((list, blocks)) = parsed.as_ref().and_then(|it| it.blocks.as_ref()) else {
                continue;
            };
            let comma = if blocks.is_empty() { "" } else { "," };
            self.edits.push(Edit::insert(list.at + 1, new.join(",") + comma));
        }
        let gone: Vec<usize> = self.gone.iter().copied().collect();
        self.edits.extend(self.file.drop(&gone));
        for (after, json) in &self.come {
            self.edits.push(self.file.insert_after(*after, json));
        }
        let left = self.file.len() - gone.len() + self.come.len();
        Mends::new(self.file.len(), left, self.findings, self.edits)
    }
}

/// The edit that renames an id in JSON stored as text in a column.
fn renamed_in_text(column: Value<'_>, id: &str, new: &str) -> Option<Edit> {
    let source = column.text()?;
    let found = those(Value::whole(&source, 0)?, id);
    let edits = found.map(|it| Edit::replace(it.span(), quoted(new))).collect();
    Some(Edit::replace(column.span(), quoted(&apply(&source, edits))))
}

/// Paths to lists of calls that are not among the parts of a record.
const CALLS: [&str; 7] = [
    "tool_calls",
    "toolCalls",
    "data.tool_calls",
    "kwargs.tool_calls",
    "additional_kwargs.tool_calls",
    "data.additional_kwargs.tool_calls",
    "toolInvocations",
];

fn at_path<'a>(value: Value<'a>, path: &str) -> Option<Value<'a>> {
    path.split('.').try_fold(value, |it, name| it.get(name))
}

/// Members that contain a call id, and members that such a member may be nested in.
const IDS: [&str; 7] = ["id", "call_id", "callId", "tool_call_id", "toolCallId", "Id", "CallId"];
const AROUND: [&str; 12] = [
    "additional_kwargs",
    "data",
    "functionCall",
    "functionResponse",
    "function_call",
    "function_response",
    "kwargs",
    "origin",
    "raw_item",
    "toolInvocation",
    "tool_call",
    "tool_call_result",
];

/// The ids of a call or result; never ids inside arguments or output.
fn ids(value: Value<'_>) -> Vec<(String, Value<'_>)> {
    let (mut res, mut open) = (Vec::new(), vec![(value, 0)]);
    while let Some((value, depth)) = open.pop() {
        let Some(object) = value.object() else { continue };
        for (name, it) in object.iter() {
            match it.text().filter(|_| IDS.contains(&name)) {
                Some(id) => res.push((id.into_owned(), it)),
                None if AROUND.contains(&name) && depth < 3 => open.push((it, depth + 1)),
                None => {}
            }
        }
    }
    res
}

/// The values that contain this id.
fn those<'a>(value: Value<'a>, id: &str) -> impl Iterator<Item = Value<'a>> {
    ids(value).into_iter().filter(move |it| it.0 == id).map(|it| it.1)
}
