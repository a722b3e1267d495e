//! Codex: JSON lines, each a record around a Responses item, an event or a header (SE-50 to SE-56).
//!
//! ```text
//! {"timestamp":"…","type":"session_meta","payload":{"id":"019b…","cwd":"/srv/app",…}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"function_call","call_id":"call_1",…}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1",…}}
//! {"timestamp":"…","type":"event_msg","payload":{"type":"user_message",…}}      shown, not sent
//! {"timestamp":"…","type":"compacted","payload":{"message":"…","replacement_history":[…]}}
//! ```

mod mend;
mod rollbacks;

use std::borrow::Cow;
use std::collections::HashSet;

use msg_core::{Message, Provenance, Report, Role, Usage};
use msg_json::{Writer, to_text};
use msg_openai::responses;

use super::{LineRules, Mends};
use crate::edit::{Object, Value};
use crate::error::{Finding, SessionOptions, SessionPlace};
use crate::excerpt::Mark;
use crate::frame::Lines;
use crate::parts::Items;
use crate::view::{Branch, BranchKind, PartOrigin, View, maker};
use crate::write::{WriteOptions, in_a_line};
use crate::{Error, texts};

/// The dialect.
pub(crate) struct Codex;

impl LineRules for Codex {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        let path = Path::of(lines, options)?;
        let mut view = of_view(&path);
        view.usage = of(lines);
        view.findings.clone_from(&lines.findings);
        view.findings.extend(path.findings);
        view.branches = path.branches;
        Ok(view)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        name: &str,
        options: &SessionOptions,
    ) -> Result<Mends, Error> {
        let path = Path::of(lines, options)?;
        let mut findings = lines.findings.clone();
        if lines.records.is_empty() || path.is_bare && !path.items.is_empty() {
            // Files of the first versions have no envelope and are only read (SE-50).
            return Ok(Mends::new(lines.records.len(), 1, findings, Vec::new()));
        }
        findings.extend_from_slice(&path.findings);
        let mut edits = Vec::new();
        let header = mend::check_header(lines, name, &mut findings, &mut edits);
        let mut plan = mend::check_rules(&path, options);
        findings.append(&mut plan.findings);
        edits.append(&mut plan.edits);
        for it in &path.items {
            let to = (&mut findings, &mut edits);
            super::replace_lone_surrogates(Some(it.value), it.place, lines.has_marks(), to);
        }
        let left = mend::write(lines, &path, &plan, header, &mut findings, &mut edits);
        Ok(Mends::new(lines.records.len(), left, findings, edits))
    }

    fn leaves(&self, lines: &Lines<'_>, leaves: &[usize]) -> Vec<Option<Vec<usize>>> {
        rollbacks::records_of_leaves(lines, leaves)
    }
}

/// The kind of a record and its payload.
fn envelope<'a>(record: &Object<'a>) -> Option<(String, Object<'a>)> {
    let payload = record.get("payload")?.object()?;
    Some((record.text("type")?.into_owned(), payload))
}

/// [`envelope`] for a line.
fn envelope_of<'a>(lines: &'a Lines<'_>, record: usize) -> Option<(String, Object<'a>)> {
    envelope(&lines.object(record)?)
}

// What Codex sends on a resume (SE-51): the items in order, with compactions and rollbacks applied.

/// The active path.
#[derive(Default)]
struct Path<'a> {
    items: Vec<Item<'a>>,
    /// Findings about records of an unknown kind, and about what comes before another header of a paginated session.
    findings: Vec<Finding>,
    /// The requested models, each with the first record that it applies to.
    models: Vec<(usize, String)>,
    provider: Option<String>,
    /// Items that a compaction or rollback removed from the path.
    branches: Vec<Branch>,
    /// The records that report that the user stopped a turn.
    stops: Vec<usize>,
    has_header: bool,
    /// Whether Codex reads the session from its last header on (SE-130).
    is_paginated: bool,
    /// Whether records have no envelope: the records are the items.
    is_bare: bool,
    /// Compactions that a later rollback undid.
    undone: HashSet<usize>,
}

impl<'a> Path<'a> {
    /// The path, up to the leaf.
    fn of(lines: &'a Lines<'_>, options: &SessionOptions) -> Result<Self, Error> {
        let end = crate::dialects::records_to_leaf(options, lines.records.len())?;
        let is_bare = !(0..end).any(|it| envelope_of(lines, it).is_some());
        let mut res =
            Self { is_bare, undone: rollbacks::undone_compactions(lines, end), ..Self::default() };
        for at in 0..end {
            let Some(object) = lines.object(at) else { continue };
            match envelope(&object) {
                Some((kind, payload)) => res.record(lines, at, &kind, &object, &payload),
                None => res.without_envelope(lines, at, &object),
            }
        }
        Ok(res)
    }

    fn record(
        &mut self,
        lines: &'a Lines<'_>,
        at: usize,
        kind: &str,
        record: &Object<'a>,
        payload: &Object<'a>,
    ) {
        match kind {
            "response_item" => {
                let value = record.get("payload");
                let item = value.and_then(|it| Item::new((at, None), lines.place(at), it));
                self.items.extend(item.filter(Item::is_sent));
            }
            "session_meta" => {
                self.provider = payload.text("model_provider").map(Into::into);
                let is_again = std::mem::replace(&mut self.has_header, true);
                if !is_again {
                    self.is_paginated = mend::is_paginated(lines, payload);
                }
                // Codex writes its header again when a session is resumed or renamed.
                if !is_again || !self.is_paginated {
                    return;
                }
                let gone = std::mem::take(&mut self.items).len();
                self.branches.extend(Branch::before(at, BranchKind::Abandoned, gone));
                self.findings.extend(super::off_path(lines.place(at), gone, "item"));
            }
            "turn_context" => {
                self.models.extend(payload.text("model").map(|it| (at, it.into_owned())));
            }
            "compacted" => self.compacted(lines, at, payload),
            "event_msg" => self.event(at, payload),
            _ => {}
        }
    }

    fn event(&mut self, at: usize, payload: &Object<'_>) {
        match payload.text("type").as_deref() {
            Some("thread_rolled_back") => {
                let turns = payload.get("num_turns").and_then(|it| it.number()).unwrap_or(0);
                self.roll_back(at, turns);
            }
            Some("turn_aborted") => self.stops.push(at),
            _ => {}
        }
    }

    /// Whether the user stopped a turn between two records.
    fn is_stopped(&self, after: usize, before: usize) -> bool {
        let next = self.stops.partition_point(|it| *it <= after);
        self.stops.get(next).is_some_and(|it| *it < before)
    }

    /// The provenance of a record's content.
    fn maker(&self, record: usize) -> Provenance {
        let before = self.models.partition_point(|it| it.0 <= record);
        let model = before.checked_sub(1).map(|it| self.models[it].1.as_str().into());
        maker(model, self.provider.as_deref().map(Into::into))
    }

    /// A replacement history replaces everything before it; without one, the user's messages are kept.
    fn compacted(&mut self, lines: &'a Lines<'_>, at: usize, payload: &Object<'a>) {
        if let Some(list) = payload.get("replacement_history").and_then(|it| it.array()) {
            if self.undone.contains(&at) {
                return;
            }
            self.branches.extend(Branch::before(at, BranchKind::Compacted, self.items.len()));
            let place = lines.place(at);
            let items = list.into_iter().enumerate();
            self.items =
                items.filter_map(|(block, it)| Item::new((at, Some(block)), place, it)).collect();
            return;
        }
        let before = self.items.len();
        self.items.retain(Item::is_a_turn);
        let gone = before - self.items.len();
        self.branches.extend(Branch::before(at, BranchKind::Compacted, gone));
        self.items.extend(Item::summary(at, lines.place(at), payload));
    }

    /// Drops the last turns, counted by user messages.
    fn roll_back(&mut self, at: usize, turns: u64) {
        let before = self.items.len();
        let mut left = turns;
        while left > 0 {
            let last = self.items.iter().rposition(|it| it.is_a_turn());
            self.items.truncate(last.unwrap_or(0));
            if last.is_none() {
                break;
            }
            left -= 1;
        }
        let gone = before - self.items.len();
        self.branches.extend(Branch::before(at, BranchKind::Abandoned, gone));
    }

    /// Older files: bare items after a header. In a file with envelopes, Codex skips such a record.
    fn without_envelope(&mut self, lines: &'a Lines<'_>, at: usize, object: &Object<'a>) {
        if !self.is_bare || object.has("payload") || !object.has("type") {
            let is_header = object.has("id") && object.has("timestamp");
            let unknown = || super::unknown_record(lines.place(at), Some(object));
            self.findings.extend((!is_header).then(unknown));
            return;
        }
        let value = lines.value(at);
        self.items.extend(value.and_then(|it| Item::new((at, None), lines.place(at), it)));
    }
}

// The part of Responses items that the rules of a Codex session need (SE-52, SE-53).

/// An item of the active path.
struct Item<'a> {
    record: usize,
    /// Its index in the replacement history.
    block: Option<usize>,
    place: SessionPlace,
    value: Value<'a>,
    object: Object<'a>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    UserMessage,
    /// A user message that contains only context added by Codex.
    Context,
    /// The summary of a compaction, which is sent as a user message.
    Summary,
    AssistantMessage,
    Message,
    Call(Family),
    /// A call that the server answers itself.
    ServerCall,
    Output(Family),
    Reasoning,
    Compaction,
    Other,
}

/// Determines which outputs answer which calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Family {
    Function,
    Custom,
    ToolSearch,
}

impl Family {
    /// The type of the output.
    fn output(self) -> &'static str {
        match self {
            Family::Function => "function_call_output",
            Family::Custom => "custom_tool_call_output",
            Family::ToolSearch => "tool_search_output",
        }
    }
}

impl<'a> Item<'a> {
    fn new(
        (record, block): (usize, Option<usize>),
        place: SessionPlace,
        value: Value<'a>,
    ) -> Option<Self> {
        let object = value.object()?;
        let kind = kind(&object);
        let place = block.map_or(place, |it| place.with_block(it));
        Some(Self { record, block, place, value, kind, object })
    }

    /// The summary of the compaction `payload`, in the record `record`.
    fn summary(record: usize, place: SessionPlace, payload: &Object<'a>) -> Option<Self> {
        let value = payload.get("message")?;
        let object = payload.clone();
        Some(Self { record, block: None, place, value, object, kind: Kind::Summary })
    }

    /// The non-empty id that links call and output.
    fn call_id(&self) -> Option<(Value<'a>, Cow<'a, str>)> {
        let id = self.object.get("call_id")?;
        id.text().filter(|it| !it.is_empty()).map(|it| (id, it))
    }

    /// Whether Codex sends it at all.
    fn is_sent(&self) -> bool {
        self.object.text("type").is_none_or(|it| it != "ghost_snapshot")
    }

    /// Whether it starts a user turn.
    fn is_a_turn(&self) -> bool {
        matches!(self.kind, Kind::UserMessage | Kind::Summary)
    }

    /// Whether it contains data that only the originating account can decrypt.
    fn is_encrypted(&self) -> bool {
        matches!(self.kind, Kind::Reasoning | Kind::Compaction)
            && self.object.text("encrypted_content").is_some_and(|it| !it.is_empty())
    }
}

/// Whether all texts of a message are context.
fn is_context(message: &Object<'_>) -> bool {
    let is_context = |it: Value<'_>| match Mark::read(it.source) {
        Some(mark) => mark.is_context,
        None => it.text().is_some_and(|it| texts::is_context(&it)),
    };
    let texts = message.list("content");
    !texts.is_empty() && texts.into_iter().all(|it| it.get("text").is_some_and(is_context))
}

fn kind(item: &Object<'_>) -> Kind {
    let Some(kind) = item.text("type") else { return Kind::Other };
    match &*kind {
        "message" => match item.text("role").as_deref() {
            Some("user") if is_context(item) => Kind::Context,
            Some("user") => Kind::UserMessage,
            Some("assistant") => Kind::AssistantMessage,
            _ => Kind::Message,
        },
        "function_call" | "local_shell_call" => Kind::Call(Family::Function),
        "custom_tool_call" => Kind::Call(Family::Custom),
        "tool_search_call" if item.text("execution").is_some_and(|it| it == "server") => {
            Kind::ServerCall
        }
        "tool_search_call" => Kind::Call(Family::ToolSearch),
        "function_call_output" => Kind::Output(Family::Function),
        "custom_tool_call_output" => Kind::Output(Family::Custom),
        "tool_search_output" if item.text("execution").is_some_and(|it| it == "server") => {
            Kind::Other
        }
        "tool_search_output" => Kind::Output(Family::ToolSearch),
        "reasoning" => Kind::Reasoning,
        "compaction" | "context_compaction" => Kind::Compaction,
        other if other.ends_with("_call") => Kind::ServerCall,
        _ => Kind::Other,
    }
}

// Token usage of a Codex session (SE-40). Its counts are totals, so the last one counts. A forked session repeats the
// counts of its origin after the origin's header.

fn of(lines: &Lines<'_>) -> Usage {
    let mut thread = None;
    let mut last = None;
    for at in 0..lines.records.len() {
        let Some((kind, payload)) = envelope_of(lines, at) else { continue };
        match &*kind {
            "session_meta" => {
                let id = payload.text("id").map(|it| it.into_owned());
                if thread.is_some() && thread != id && last.is_some() {
                    break;
                }
                thread = thread.or(id);
            }
            "event_msg" if payload.text("type").is_some_and(|it| it == "token_count") => {
                let info = payload.get("info").and_then(|it| it.get("total_token_usage"));
                last = info.and_then(|it| it.object()).or(last);
            }
            _ => {}
        }
    }
    let number = |name: &str| last.as_ref().and_then(|it| it.get(name)?.number());
    Usage {
        input: number("input_tokens"),
        output: number("output_tokens"),
        total: number("total_tokens"),
        cached: number("cached_input_tokens"),
        reasoning: number("reasoning_output_tokens"),
        ..Usage::default()
    }
}

// A Codex session as messages: items are read by msg-openai and combined as in Responses.

fn of_view(path: &Path<'_>) -> View {
    let mut res = Items::default();
    path.items.iter().for_each(|it| add(&mut res, it));
    let mut res = res.finish();
    // The instructions are item 0.
    res.in_front = 1;
    res.note_makers(|record| path.maker(record));
    res
}

fn add(res: &mut Items, item: &Item<'_>) {
    let origin = match item.block {
        Some(block) => PartOrigin::block(item.record, block),
        None => PartOrigin::record(item.record),
    };
    if item.kind == Kind::Summary {
        return res.user_text(&item.value.text().unwrap_or_default(), origin);
    }
    // Codex writes the type of every item and skips items without one.
    match item.object.has("type") {
        true => res.item(item.value, origin),
        false => res.unknown(item.value, origin),
    }
}

// Writes a Codex session (SE-82): a header, then each turn's items with the events that display them. msg-openai writes
// the items.

pub(super) fn write(messages: &[Message], options: &WriteOptions, report: &mut Report) -> Vec<u8> {
    let mut lines = CodexLines { options, out: Vec::new() };
    lines.line("session_meta", |it| {
        it.key("id").str(&options.session_id);
        it.key("timestamp").str(&options.now);
        it.key("cwd").str(&options.cwd);
        it.key("originator").str("msg");
        it.key("cli_version").str(&options.version);
    });
    let mut in_turn = false;
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::User {
            lines.end_turn(&mut in_turn);
            lines.event("task_started", None);
            in_turn = true;
        }
        let mut found = Report::new();
        for item in items(std::slice::from_ref(message), &mut found) {
            lines.raw("response_item", &item);
        }
        for mut it in found.into_vec() {
            it.at.message = Some(at);
            report.push(it);
        }
        let text = message.text();
        match message.role {
            _ if text.is_empty() => {}
            Role::User => lines.event("user_message", Some(&text)),
            Role::Assistant => lines.event("agent_message", Some(&text)),
            _ => {}
        }
    }
    lines.end_turn(&mut in_turn);
    lines.out
}

/// The items of messages, as JSON each.
pub(crate) fn items(messages: &[Message], report: &mut Report) -> Vec<String> {
    let mut out = Vec::new();
    report.append(responses::write(messages, &msg_openai::WriteOptions::canonical(), &mut out));
    let text = String::from_utf8(out).unwrap_or_default();
    let list = Value::whole(&text, 0).and_then(|it| it.array()).unwrap_or_default();
    list.into_iter().map(|it| it.source.to_owned()).collect()
}

struct CodexLines<'o> {
    options: &'o WriteOptions,
    out: Vec<u8>,
}

impl CodexLines<'_> {
    fn line(&mut self, kind: &str, payload: impl FnOnce(&mut Writer<'_>)) {
        let payload = to_text(|it| it.object(payload));
        self.raw(kind, &payload);
    }

    fn raw(&mut self, kind: &str, payload: &str) {
        Writer::new(&mut self.out).object(|it| {
            it.key("timestamp").str(&self.options.now);
            it.key("type").str(kind);
            it.key("payload").raw(&in_a_line(payload));
        });
        self.out.push(b'\n');
    }

    fn event(&mut self, kind: &str, message: Option<&str>) {
        self.line("event_msg", |it| {
            it.key("type").str(kind);
            if let Some(message) = message {
                it.key("message").str(message);
            }
        });
    }

    fn end_turn(&mut self, in_turn: &mut bool) {
        if std::mem::take(in_turn) {
            self.event("task_complete", None);
        }
    }
}
