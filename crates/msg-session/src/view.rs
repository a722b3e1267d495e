//! A session as messages, each part with the record and block that it came from (SE-4); and the other ways through
//! a session (SE-3), which a resume does not send.

use std::{borrow::Cow, fmt};

use msg_core::{Message, Part, Provenance, Role, Usage};

use crate::finding::Finding;
use crate::json::Value;
use crate::link::shapes::{self, read_block};
use crate::link::{Content, Sender, Sent, results};
use crate::{Error, Session, SessionOptions};

/// What a session says along its active path.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// Where each message's parts came from, a list a message.
    pub origins: Vec<Vec<PartOrigin>>,
    /// What the responses cost, each counted once (SE-40).
    pub usage: Usage,
    /// What was mended in memory to read the session (SE-7).
    pub findings: Vec<Finding>,
    /// How many messages or items the agent puts before those of the session.
    pub(crate) in_front: usize,
    /// The other ways through the session (SE-3), in the order of their leaves.
    pub branches: Vec<Branch>,
}

/// The record and block that a part came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct PartOrigin {
    /// Index of the record, from 0.
    pub record: u32,
    /// Index of the block in its record, if it has blocks.
    pub block: Option<u32>,
}

impl PartOrigin {
    pub(crate) fn record(record: usize) -> Self {
        Self { record: u32::try_from(record).unwrap_or(u32::MAX), block: None }
    }

    pub(crate) fn block(record: usize, block: usize) -> Self {
        Self { block: u32::try_from(block).ok(), ..Self::record(record) }
    }
}

/// A message as it grows.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) message: Message,
    pub(crate) origins: Vec<PartOrigin>,
}

impl Draft {
    pub(crate) fn new(role: Role) -> Self {
        Self { message: Message::new(role), origins: Vec::new() }
    }

    pub(crate) fn push(&mut self, part: Part, origin: PartOrigin) {
        self.message.parts.push(part);
        self.origins.push(origin);
    }

    /// Says who made the message, where the record does (MS-1).
    pub(crate) fn made_by(&mut self, model: Option<Cow<'_, str>>, provider: Option<Cow<'_, str>>) {
        note_maker(&mut self.message, maker(model, provider));
    }
}

/// Who asks the models of others: what they give back, another made.
const HOSTS: [&str; 14] = [
    "amazon-bedrock",
    "aws.bedrock",
    "azure",
    "azure.ai.openai",
    "bedrock",
    "cline",
    "gcp.vertex_ai",
    "github-copilot",
    "google-vertex",
    "litellm",
    "opencode",
    "openrouter",
    "vercel",
    "vertex",
];

/// The maker of a message: what a signature in it is bound to.
pub(crate) fn maker(model: Option<Cow<'_, str>>, provider: Option<Cow<'_, str>>) -> Provenance {
    let said = |it: Option<Cow<'_, str>>| it.filter(|it| !it.is_empty()).map(Cow::into_owned);
    let provider = said(provider).filter(|it| !HOSTS.contains(&it.as_str()));
    Provenance { model: said(model), provider, ..Provenance::default() }
}

fn note_maker(message: &mut Message, maker: Provenance) {
    if maker != Provenance::default() {
        message.set_provenance(maker);
    }
}

impl View {
    /// Says who made each answer, by the record that it begins in.
    pub(crate) fn note_makers(&mut self, maker: impl Fn(usize) -> Provenance) {
        for (message, origins) in self.messages.iter_mut().zip(&self.origins) {
            if let Some(first) = origins.first().filter(|_| message.role == Role::Assistant) {
                note_maker(message, maker(first.record as usize));
            }
        }
    }

    /// Adds a message that says something.
    pub(crate) fn push(&mut self, draft: Draft) {
        if !draft.message.parts.is_empty() {
            self.messages.push(draft.message);
            self.origins.push(draft.origins);
        }
    }
}

/// The messages of a path of block lists: of a user's turn the results first, as one tool message, then
/// each record's other content (SE-42); an answer is one message.
pub(crate) fn messages(
    view: &mut View,
    sent: &[Sent<'_>],
    joins_answers: bool,
    part: fn(Value<'_>) -> Option<Part>,
) {
    for message in crate::link::messages(sent, joins_answers) {
        let records = &sent[message];
        match records[0].sender {
            Sender::Assistant => {
                let mut answer = Draft::new(Role::Assistant);
                records.iter().for_each(|it| take(it, part, &mut answer, |_| true));
                view.push(answer);
            }
            Sender::User => {
                if !joins_answers {
                    view.findings.extend(late_results(records));
                }
                user_turn(view, records, part);
            }
        }
    }
}

/// The results of a user's turn that something else is before, which the view puts first (SE-34).
fn late_results(records: &[Sent<'_>]) -> Vec<Finding> {
    let (mut after_others, mut res) = (false, Vec::new());
    for record in records {
        after_others |= matches!(record.content, Content::Text(_) | Content::Other(..));
        for (at, block) in record.blocks().iter().enumerate() {
            match block.result_id() {
                Some((_, id)) if after_others => {
                    let sentence = results::late_result(&id) + ", `msg doctor --fix` moves it";
                    let place = record.place.with_block(at);
                    res.push(Finding::error("session::late-result", place, sentence));
                }
                Some(_) => {}
                None => after_others = true,
            }
        }
    }
    res
}

fn user_turn(view: &mut View, records: &[Sent<'_>], part: fn(Value<'_>) -> Option<Part>) {
    let is_result = |it: &Part| it.as_tool_result().is_some();
    let mut results = Draft::new(Role::Tool);
    records.iter().for_each(|it| take(it, part, &mut results, is_result));
    view.push(results);
    for record in records {
        let mut draft = Draft::new(Role::User);
        take(record, part, &mut draft, |it| !is_result(it));
        view.push(draft);
    }
}

fn take(
    record: &Sent<'_>,
    part: fn(Value<'_>) -> Option<Part>,
    draft: &mut Draft,
    wanted: impl Fn(&Part) -> bool,
) {
    match &record.content {
        Content::Text(value) => {
            let text = value.text().unwrap_or_default().into_owned();
            let part = Part::text(text);
            if part.as_text() != Some("") && wanted(&part) {
                draft.push(part, PartOrigin::record(record.record));
            }
        }
        Content::Blocks(_, blocks) => {
            for (at, it) in blocks.iter().enumerate() {
                if let Some(part) = read_block(it.value, part).filter(&wanted) {
                    draft.push(part, PartOrigin::block(record.record, at));
                }
            }
        }
        Content::Other(value, _) => {
            if let Some(part) = shapes::read(*value, part).filter(&wanted) {
                draft.push(part, PartOrigin::record(record.record));
            }
        }
        Content::Null(_) | Content::None => {}
    }
}

// The other ways through a session (SE-3): what a resume does not send, and can be read along its leaf.

/// A way through a session beside the active path. [`SessionOptions::with_leaf`] reads along it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Branch {
    /// What [`SessionOptions::with_leaf`] takes: the id of its last record, or that record's number where records
    /// follow one another.
    pub leaf: String,
    /// Index of that record.
    pub record: u32,
    /// Why it is not sent.
    pub kind: BranchKind,
    /// How many records (of Codex: items) it has that are not on the active path.
    pub records: usize,
}

/// Why a branch is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BranchKind {
    /// The user went back and said something else.
    Abandoned,
    /// A subagent's.
    Sidechain,
    /// It is before a compaction.
    Compacted,
}

impl fmt::Display for BranchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BranchKind::Abandoned => "abandoned",
            BranchKind::Sidechain => "sidechain",
            BranchKind::Compacted => "compacted",
        })
    }
}

impl Session {
    /// The branches beside the active path, in the order of their leaves: [`View::branches`](crate::View) alone.
    /// Linear.
    ///
    /// ```
    /// use msg_session::{Blob, BranchKind, Dialect, SessionOptions, Session};
    ///
    /// let line = |id: &str, parent: &str| {
    ///     format!(r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"message":{{"content":"{id}"}}}}"#)
    /// };
    /// let lines = [line("a", "null"), line("b", "\"a\""), line("c", "\"a\"")].join("\n");
    /// let session = Session::new(Dialect::ClaudeCode, vec![Blob::new("s.jsonl", lines)]);
    /// let branches = session.branches()?;
    /// assert_eq!((branches[0].leaf.as_str(), branches[0].kind), ("b", BranchKind::Abandoned));
    /// let along = SessionOptions::default().with_leaf("b");
    /// assert_eq!(session.read(&along)?.messages[1].text(), "b");
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::read`].
    pub fn branches(&self) -> Result<Vec<Branch>, Error> {
        self.read(&SessionOptions::default()).map(|it| it.branches)
    }
}

impl Branch {
    /// What was there before record `at`, of which `records` left the path then; none if nothing did.
    pub(crate) fn before(at: usize, kind: BranchKind, records: usize) -> Option<Self> {
        let last = at.checked_sub(1).filter(|_| records > 0)?;
        Some(Self::until(last, kind, records))
    }

    /// What was there when record `last` was the last one.
    pub(crate) fn until(last: usize, kind: BranchKind, records: usize) -> Self {
        let record = u32::try_from(last).unwrap_or(u32::MAX);
        Self { leaf: last.to_string(), record, kind, records }
    }
}
