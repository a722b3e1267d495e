//! Reading, repairing and writing the sessions of each dialect: a file or folder per dialect, all with one trait.
//!
//! ```text
//! bytes -> frame (records) -> dialect (active path) -> view, or link rules -> edits -> bytes
//! ```

mod aider;
pub(crate) mod atif;
pub(crate) mod claude_code;
mod cline;
pub(crate) mod codex;
mod copilot_cli;
mod data_set;
pub(crate) mod frameworks;
pub(crate) mod gemini_cli;
mod goose;
mod inspect;
mod logs;
mod opencode;
mod openhands;
mod otel;
mod pi;
mod qwen_code;
mod records;
mod swe_agent;

use std::collections::HashMap;

use msg_core::{Message, Report, Usage};

pub(crate) use inspect::{is_archive as is_eval_archive, unpacked_size};

use crate::edit::{Edit, Object, Value, apply};
use crate::error::{Finding, SessionOptions, SessionPlace};
use crate::frame::{Lines, read_lines};
use crate::source::Blob;
use crate::view::View;
use crate::write::WriteOptions;
use crate::{Dialect, Error, edit};

/// Writes messages as a session.
pub(crate) type Write = fn(&[Message], &WriteOptions, &mut Report) -> Vec<u8>;

/// What a dialect can do with the blobs of a session.
pub(crate) trait Format: Sync {
    /// The messages of the active path. Called only without [`LineRules`].
    fn view(&self, _blobs: &[Blob], _options: &SessionOptions) -> Result<View, Error> {
        Ok(View::default())
    }

    /// What each conversation says, of a document that may hold several. Called only without [`LineRules`]. Linear.
    fn each_view(&self, blobs: &[Blob], to: &mut dyn FnMut(View)) -> Result<(), Error> {
        self.view(blobs, &SessionOptions::default()).map(to)
    }

    /// The findings, and the repaired session. Called only without [`LineRules`].
    fn check(&self, _blobs: &[Blob], _options: &SessionOptions) -> Result<Checked, Error> {
        Ok(Checked::default())
    }

    /// The function that writes messages as such a session; `None` if the dialect is read only.
    fn writer(&self) -> Option<Write> {
        None
    }

    /// The error that explains why nothing can be written.
    fn no_writer(&self, dialect: Dialect) -> Error {
        Error::NoWriter { dialect }
    }

    /// The rules for sessions of JSON lines, chosen by file name and first bytes. These sessions are checked on an
    /// excerpt.
    fn line_rules(&self, _name: &str, _start: &[u8]) -> Option<&dyn LineRules> {
        None
    }
}

/// What a dialect of JSON lines can do with the lines of a session, or with an excerpt of them.
pub(crate) trait LineRules: Sync {
    /// The messages of the active path.
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error>;

    /// The findings, and the edits that repair them.
    fn check_lines(
        &self,
        lines: &Lines<'_>,
        name: &str,
        options: &SessionOptions,
    ) -> Result<Mends, Error>;

    /// For each of these leaves (record numbers in order), the records that determine what is sent up to it, in file
    /// order: a session of only these records gives the same result. `None` for a leaf where it would not; empty if
    /// leaves are ids. One pass.
    fn leaves(&self, _lines: &Lines<'_>, _leaves: &[usize]) -> Vec<Option<Vec<usize>>> {
        Vec::new()
    }

    /// A predicate for records whose message is read; other records with a message are reported (SE-28). `None` if the
    /// dialect inspects each record anyway and reports them itself.
    fn reads(&self) -> Option<fn(&Object<'_>) -> bool> {
        None
    }
}

/// Findings, and the edits of a text that repair them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mends {
    pub(crate) findings: Vec<Finding>,
    pub(crate) edits: Vec<Edit>,
    /// Whether the text differs from the file: frame rules repaired it, or edits will.
    pub(crate) is_changed: bool,
}

impl Mends {
    /// The repairs of a session with `records` records, of which `left` remain. Nothing is repaired if no record would
    /// remain (SE-6).
    pub(crate) fn new(
        records: usize,
        left: usize,
        mut findings: Vec<Finding>,
        mut edits: Vec<Edit>,
    ) -> Self {
        edits.retain(|it| !it.is_nothing());
        if records == 0 || left == 0 {
            findings.push(empty_session(records));
            findings.iter_mut().for_each(promise_nothing);
            return Self { findings, ..Self::default() };
        }
        let is_changed = !edits.is_empty() || findings.iter().any(|it| it.done);
        Self { findings, edits, is_changed }
    }

    /// Adds the repairs of another part of the same text.
    pub(crate) fn join(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.edits.extend(other.edits);
        self.is_changed |= other.is_changed;
    }
}

/// Whether a dialect is what a framework stores, not the session of an agent.
pub(crate) fn is_of_a_framework(dialect: Dialect) -> bool {
    matches!(
        dialect,
        Dialect::LangChain
            | Dialect::PydanticAi
            | Dialect::VercelUi
            | Dialect::AgentsSdk
            | Dialect::AiSdk
            | Dialect::AgUi
            | Dialect::Adk
            | Dialect::Haystack
            | Dialect::LlamaIndex
            | Dialect::AutoGen
            | Dialect::AgentFramework
            | Dialect::SemanticKernel
    )
}

pub(crate) fn format(dialect: Dialect) -> &'static dyn Format {
    match dialect {
        Dialect::ClaudeCode => {
            agent(&JsonLines(&claude_code::ClaudeCode, Some(claude_code::write::write)))
        }
        Dialect::Cline => agent(&cline::Cline),
        Dialect::Goose => agent(&goose::Goose),
        Dialect::OpenAiJsonl => &data_set::OPENAI_JSONL,
        Dialect::ShareGpt => &data_set::SHARE_GPT,
        Dialect::LangChain => &frameworks::langchain::STORE,
        Dialect::PydanticAi => &frameworks::pydantic_ai::STORE,
        Dialect::VercelUi => &frameworks::vercel_ui::STORE,
        Dialect::AgentsSdk => &frameworks::agents_sdk::STORE,
        Dialect::AiSdk => &frameworks::ai_sdk::STORE,
        Dialect::AgUi => &frameworks::ag_ui::STORE,
        Dialect::Adk => &frameworks::adk::STORE,
        Dialect::Haystack => &frameworks::haystack::STORE,
        Dialect::LlamaIndex => &frameworks::llama_index::STORE,
        Dialect::AutoGen => &frameworks::autogen::STORE,
        Dialect::AgentFramework => &frameworks::agent_framework::STORE,
        Dialect::SemanticKernel => &frameworks::semantic_kernel::STORE,
        Dialect::SweAgent => agent(&swe_agent::SweAgent),
        Dialect::Aider => agent(&aider::Aider),
        Dialect::Inspect => agent(&inspect::Inspect),
        Dialect::Otel => agent(&otel::Otel),
        Dialect::OpenCode => agent(&opencode::OpenCode),
        Dialect::OpenHands => agent(&openhands::OpenHands),
        Dialect::Codex => agent(&JsonLines(&codex::Codex, Some(codex::write))),
        Dialect::GeminiCli => agent(&gemini_cli::GeminiCli),
        Dialect::QwenCode => agent(&JsonLines(&qwen_code::QwenCode, Some(qwen_code::write))),
        Dialect::Pi => agent(&JsonLines(&pi::Pi, Some(pi::write))),
        Dialect::CopilotCli => {
            agent(&JsonLines(&copilot_cli::CopilotCli, Some(copilot_cli::write)))
        }
        Dialect::ClaudeStream => agent(&JsonLines(&logs::ClaudeStream, None)),
        Dialect::CodexExec => agent(&JsonLines(&logs::CodexExec, None)),
        Dialect::Atif => agent(&atif::Atif),
        Dialect::Kimi => agent(&JsonLines(&logs::KIMI, None)),
        Dialect::Droid => agent(&JsonLines(&logs::DROID, None)),
        Dialect::Grok => agent(&JsonLines(&logs::GROK, None)),
    }
}

/// The reader and writer for the logs of an agent. Without the feature `agents`, a build contains none of them.
fn agent(it: &'static dyn Format) -> &'static dyn Format {
    if cfg!(feature = "agents") { it } else { &Absent }
}

/// A dialect whose sessions are always JSON Lines: its rules and its writer.
struct JsonLines(&'static dyn LineRules, Option<Write>);

impl Format for JsonLines {
    fn line_rules(&self, _: &str, _: &[u8]) -> Option<&dyn LineRules> {
        Some(self.0)
    }

    fn writer(&self) -> Option<Write> {
        self.1
    }
}

/// Agent logs that this build does not support.
struct Absent;

impl Format for Absent {
    fn view(&self, _blobs: &[Blob], _options: &SessionOptions) -> Result<View, Error> {
        Err(Error::NotInBuild)
    }

    fn check(&self, _blobs: &[Blob], _options: &SessionOptions) -> Result<Checked, Error> {
        Err(Error::NotInBuild)
    }

    fn no_writer(&self, _dialect: Dialect) -> Error {
        Error::NotInBuild
    }
}

/// The messages along the active path of a session.
pub(crate) fn view(
    dialect: Dialect,
    blobs: &[Blob],
    options: &SessionOptions,
) -> Result<View, Error> {
    let (format, name) = (format(dialect), blobs.first().map_or("", |it| &it.name));
    match format.line_rules(name, only(blobs)) {
        Some(rules) => {
            let lines = read_lines(only(blobs), options.max_record);
            let mut view = rules.view_lines(&lines, options)?;
            view.findings.extend(unread_messages(rules, &lines));
            Ok(view)
        }
        None => format.view(blobs, options),
    }
}

/// The outcome of a check.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checked {
    pub(crate) findings: Vec<Finding>,
    /// The changed blobs; empty if nothing is repaired.
    pub(crate) changed: Vec<Change>,
}

/// A change of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) name: String,
    /// The new bytes; `None` if the blob is removed.
    pub(crate) bytes: Option<Vec<u8>>,
}

impl Checked {
    /// The outcome for an unreadable session, in which nothing is repaired.
    pub(crate) fn unreadable(mut findings: Vec<Finding>) -> Self {
        findings.iter_mut().for_each(promise_nothing);
        Self { findings, changed: Vec::new() }
    }

    /// The outcome for a session with one blob. `text` is the blob after the frame rules.
    pub(crate) fn of_text(
        text: &str,
        records: usize,
        left: usize,
        findings: Vec<Finding>,
        edits: Vec<Edit>,
    ) -> Self {
        Self::of_mends(text, Mends::new(records, left, findings, edits))
    }

    /// [`Checked::of_text`] for [`Mends`].
    pub(crate) fn of_mends(text: &str, mends: Mends) -> Self {
        let bytes = mends.is_changed.then(|| apply(text, mends.edits).into_bytes());
        let changed = bytes.map(|it| Change { name: String::new(), bytes: Some(it) });
        Self { findings: mends.findings, changed: changed.into_iter().collect() }
    }
}

/// Removes the promised repair from a finding in a session that is not repaired.
fn promise_nothing(finding: &mut Finding) {
    (finding.fix, finding.done) = (None, false);
}

/// The finding about a session without records, or of which none would remain (SE-28).
fn empty_session(records: usize) -> Finding {
    let message = match records {
        0 => "no records",
        _ => "no record would be left, so nothing is mended",
    };
    Finding::error("session::empty-session", SessionPlace::line(1), message)
}

/// The bytes of a session with one blob.
pub(crate) fn only(blobs: &[Blob]) -> &[u8] {
    blobs.first().map_or(&[], |it| &it.bytes)
}

/// The leaf, which must exist if one was requested.
pub(crate) fn checked_leaf<T>(
    options: &SessionOptions,
    leaf: Option<T>,
) -> Result<Option<T>, Error> {
    match (&options.leaf, leaf) {
        (Some(wanted), None) => Err(Error::NoLeaf(wanted.clone())),
        (_, leaf) => Ok(leaf),
    }
}

/// How many of `count` sequential records to read: all, or those up to the one whose number is the leaf (SE-3).
pub(crate) fn records_to_leaf(options: &SessionOptions, count: usize) -> Result<usize, Error> {
    let Some(leaf) = &options.leaf else { return Ok(count) };
    let last = leaf.parse().ok().filter(|it: &usize| *it < count);
    last.map(|it| it + 1).ok_or_else(|| Error::NoLeaf(leaf.clone()))
}

/// Refuses a leaf in a dialect whose sessions have a single path.
pub(crate) fn leaf_is_not_chosen(options: &SessionOptions) -> Result<(), Error> {
    options.leaf.as_ref().map_or(Ok(()), |it| Err(Error::NoLeaf(it.clone())))
}

/// The header of a session must be its first line: moves it there, or reports it as missing.
pub(crate) fn header_first(
    lines: &Lines<'_>,
    is_header: impl Fn(&Object<'_>) -> bool,
    agent: &str,
    findings: &mut Vec<Finding>,
    edits: &mut Vec<Edit>,
) {
    let mut records = 0..lines.records.len();
    match records.find(|it| lines.object(*it).is_some_and(|it| is_header(&it))) {
        Some(0) => {}
        Some(at) => {
            let message =
                format!("the header of the session is not its first line, and {agent} refuses it");
            let finding = Finding::error("session::misplaced-header", lines.place(at), message);
            findings.push(finding.mended("move the header to the front", false));
            edits.push(lines.insert_before(0, &lines.copied(lines.records[at].span())));
            edits.push(lines.remove(at));
        }
        None if lines.records.is_empty() => {}
        None => {
            let message = format!(
                "the session has no header: do not open it with {agent}, which may empty the file"
            );
            findings.push(Finding::error("session::missing-header", lines.place(0), message));
        }
    }
}

/// The finding about a record of an unknown kind (SE-28): a warning if the record contains, or claims to contain, a
/// message, which is not read.
pub(crate) fn unknown_record(place: SessionPlace, record: Option<&Object<'_>>) -> Finding {
    const CODE: &str = "session::unknown-record";
    if record.is_some_and(holds_message) {
        let message = "a message in a record of no known kind; it is not read";
        return Finding::warning(CODE, place, message);
    }
    if record.is_some_and(lacks_message) {
        let message = "a record of a message has no member `message`; it is not read";
        return Finding::warning(CODE, place, message);
    }
    Finding::info(CODE, place, "a record of no known kind; it is kept as it is")
}

/// Whether a record claims to be a message but contains none: the member may have another name (SE-28).
fn lacks_message(record: &Object<'_>) -> bool {
    let kind = record.text("type");
    let is_named = kind.is_some_and(|it| matches!(&*it, "user" | "assistant" | "message"));
    is_named && !record.has("message") && !record.has("role")
}

/// Whether a record is, or contains, a non-empty message of any dialect.
pub(crate) fn holds_message(record: &Object<'_>) -> bool {
    let is_filled = |it: Value<'_>| match it.text() {
        Some(text) => !text.is_empty(),
        None => {
            let has_members = it.object().is_some_and(|it| it.len() > 0);
            has_members || it.array().is_some_and(|it| !it.is_empty())
        }
    };
    let says = |it: &Object<'_>| {
        it.has("role")
            && ["content", "parts"].iter().any(|name| it.get(name).is_some_and(is_filled))
    };
    says(record) || record.inner("message").is_some_and(|it| says(&it))
}

/// The findings about records with a message that the dialect does not read.
pub(crate) fn unread_messages(rules: &dyn LineRules, lines: &Lines<'_>) -> Vec<Finding> {
    let Some(reads) = rules.reads() else { return Vec::new() };
    let unread = |at: usize| {
        let record = lines.object(at).filter(|it| holds_message(it) || lacks_message(it))?;
        if reads(&record) {
            return None;
        }
        Some(unknown_record(lines.place(at), Some(&record)))
    };
    (0..lines.records.len()).filter_map(unread).collect()
}

/// The finding about records that are not sent although nothing explains why: no compaction, and no step back to a sent
/// record.
pub(crate) fn off_path(place: SessionPlace, count: usize, what: &str) -> Option<Finding> {
    let (s, are) = if count == 1 { ("", "is") } else { ("s", "are") };
    let message = format!(
        "{count} {what}{s} {are} on no path to the last record; `msg doctor --branches` lists what is not sent"
    );
    (count > 0).then(|| Finding::info("session::off-path", place, message))
}

/// How many of the counted records are in trees that have no record on the path. Linear.
pub(crate) fn count_off_path(
    records: usize,
    path: &[usize],
    parent: impl Fn(usize) -> Option<usize>,
    counts: impl Fn(&usize) -> bool,
) -> usize {
    let mut joins = vec![None; records];
    path.iter().for_each(|it| joins[*it] = Some(true));
    let mut is_off = |at: &usize| {
        let (mut walk, mut next) = (Vec::new(), Some(*at));
        while let Some(it) = next.filter(|it| joins[*it].is_none()) {
            joins[it] = Some(false);
            walk.push(it);
            next = parent(it);
        }
        let found = next.and_then(|it| joins[it]).unwrap_or(false);
        walk.into_iter().for_each(|it| joins[it] = Some(found));
        !joins[*at].unwrap_or(found)
    };
    (0..records).filter(counts).filter(|it| is_off(it)).count()
}

/// Replaces the lone surrogate escapes of a value that is sent, and reports them.
pub(crate) fn replace_lone_surrogates(
    value: Option<Value<'_>>,
    place: SessionPlace,
    has_marks: bool,
    (findings, edits): (&mut Vec<Finding>, &mut Vec<Edit>),
) {
    let found = value.map(|it| edit::lone_surrogates(it, has_marks)).unwrap_or_default();
    findings.extend(lone_surrogates(place, found.count));
    edits.extend(found.edits);
}

/// The finding about lone surrogates in a record.
fn lone_surrogates(place: SessionPlace, count: u64) -> Option<Finding> {
    (count > 0).then(|| {
        let message = "unpaired surrogate escape in text that is sent";
        let finding = Finding::error("session::lone-surrogate", place, message);
        Finding { count: (count > 1).then_some(count), ..finding }
            .mended("replace each unpaired surrogate with U+FFFD", false)
    })
}

/// The sum of two usages.
pub(crate) fn add_usage(a: Usage, b: Usage) -> Usage {
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    Usage {
        input: add(a.input, b.input),
        output: add(a.output, b.output),
        total: add(a.total, b.total),
        cached: add(a.cached, b.cached),
        cache_write: add(a.cache_write, b.cache_write),
        reasoning: add(a.reasoning, b.reasoning),
        raw: None,
    }
}

/// Applies the changes; returns whether there were any. A change without a name applies to the only blob. Linear.
pub(crate) fn make(changes: Vec<Change>, blobs: &mut Vec<Blob>) -> bool {
    let places: HashMap<String, usize> =
        blobs.iter().enumerate().map(|(at, it)| (it.name.clone(), at)).collect();
    let mut gone = vec![false; blobs.len()];
    let mut changed = false;
    for it in changes {
        let at = if it.name.is_empty() { Some(0) } else { places.get(&it.name).copied() };
        match (at.filter(|it| *it < gone.len()), it.bytes) {
            (Some(at), Some(bytes)) => {
                let old = std::mem::replace(&mut blobs[at].bytes, bytes);
                changed |= old != blobs[at].bytes || std::mem::take(&mut gone[at]);
            }
            (Some(at), None) => changed |= !std::mem::replace(&mut gone[at], true),
            (None, Some(bytes)) => {
                blobs.push(Blob { name: it.name, bytes });
                changed = true;
            }
            (None, None) => {}
        }
    }
    let mut at = 0;
    blobs.retain(|_| {
        at += 1;
        !gone.get(at - 1).is_some_and(|it| *it)
    });
    changed
}
