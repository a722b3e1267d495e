//! The types of requests and answers: options, errors that prevent reading or writing, findings with place and repair
//! (SE-91); and the diagnostic codes of this crate.

use std::borrow::Cow;

use msg_core::{Code, CodeInfo, Diagnostic, Severity, codes};
use serde::{Deserialize, Serialize};

use crate::Dialect;

/// Why a session cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Unknown name of a dialect.
    #[error("no session dialect is called {0:?}, expected {all}", all = names())]
    NoDialect(String),
    /// The input of a line is not base64.
    #[error("input_b64 is not base64")]
    BadBase64,
    /// The dialect of the input was not recognised.
    #[error("not a session of a known dialect; name the dialect if you know it")]
    UnknownDialect,
    /// The input is a known file that cannot be read on its own.
    #[error("this is {what}")]
    NotRead {
        /// The kind of file, and what to pass instead.
        what: &'static str,
    },
    /// The input has no record of the named dialect.
    #[error("not a session of {dialect}{}", seen_as(.looks_like))]
    WrongDialect {
        /// The named dialect.
        dialect: Dialect,
        /// The dialect that the input looks like, if any.
        looks_like: Option<Dialect>,
    },
    /// An element of a list of messages is not a message.
    #[error("element {element} of the list is not a message of {dialect}")]
    NotAMessage {
        /// The named or recognised dialect.
        dialect: Dialect,
        /// The index of the element.
        element: usize,
    },
    /// The dialect has no writer.
    #[error("sessions of {dialect} are read and not written")]
    NoWriter {
        /// The named dialect.
        dialect: Dialect,
    },
    /// This build does not contain the logs of agents.
    #[error("this build reads and writes no logs of agents")]
    NotInBuild,
    /// The dialect has no record for a compaction.
    #[error(
        "sessions of {dialect} have no record that compacts them; write the result to another file"
    )]
    NotCompacted {
        /// The dialect of the session.
        dialect: Dialect,
    },
    /// The compacted session would not contain the requested messages.
    #[error("the session has no form for what is left of it; write the result to another file")]
    CompactedOtherwise,
    /// A document that is a single JSON value cannot be read.
    #[error("the document is not readable as {dialect} at byte {offset}: {reason}")]
    Unreadable {
        /// The named or recognised dialect.
        dialect: Dialect,
        /// The byte offset.
        offset: usize,
        /// The problem at that offset.
        reason: String,
    },
    /// The bytes of the session cannot be read or written.
    #[error("byte {offset} of the session cannot be read: {reason}")]
    Source {
        /// The byte offset.
        offset: u64,
        /// The reason.
        reason: String,
    },
    /// The repaired session cannot be written.
    #[error("the mended session cannot be written: {0}")]
    Written(String),
    /// The session is not JSON Lines; only JSON Lines can be read piece by piece.
    #[error("a session of {dialect} is not a file of JSON lines; read it as a whole")]
    NotLines {
        /// The dialect of the session.
        dialect: Dialect,
    },
    /// A data set contains several conversations, and none was selected.
    #[error(
        "it holds {count} conversations: read it line by line, a list with `--field '[]'`, or name the number of one as leaf"
    )]
    Several {
        /// The number of conversations.
        count: usize,
    },
    /// No record has the id of the requested leaf.
    #[error("no record has the id {0:?}, along which the session should be read")]
    NoLeaf(String),
}

impl Error {
    /// The stable name of the error, a diagnostic code.
    pub fn code(&self) -> Code {
        Code::new(match self {
            Error::NoLeaf(_) => "session::no-leaf",
            Error::Several { .. } => "session::several",
            Error::NotCompacted { .. } | Error::CompactedOtherwise => "session::not-compacted",
            Error::NoWriter { .. } => "session::no-writer",
            Error::NotInBuild => "session::not-in-build",
            Error::BadBase64 => "session::bad-base64",
            Error::Unreadable { .. } | Error::Source { .. } => "session::not-readable",
            Error::Written(_) => "session::not-written",
            Error::NotLines { .. } => "session::not-lines",
            _ => "session::unknown-dialect",
        })
    }

    /// The same as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(self.code(), self.to_string())
    }
}

impl Error {
    pub(crate) fn source(offset: u64, error: &std::io::Error) -> Self {
        Error::Source { offset, reason: error.to_string() }
    }

    pub(crate) fn shorter(offset: u64) -> Self {
        Error::Source { offset, reason: "it ends earlier than before".to_owned() }
    }

    pub(crate) fn written(error: &std::io::Error) -> Self {
        Error::Written(error.to_string())
    }
}

/// The names of all dialects.
fn names() -> String {
    let names: Vec<_> = Dialect::ALL.iter().map(|it| it.name()).collect();
    names.join(", ")
}

fn seen_as(dialect: &Option<Dialect>) -> String {
    dialect.map(|it| format!("; it looks like {it}")).unwrap_or_default()
}

// The diagnostic codes of this crate. The message of a finding is written where the finding is made, not here.

/// The diagnostic codes of sessions.
pub const CODES: &[CodeInfo] = codes! {
    error "session::unknown-dialect" "SE-10" "cannot tell which agent wrote the session";
    error "session::no-leaf" "SE-3" "no record has the requested leaf id";
    error "session::bad-base64" "SE-91" "the input of a line is not valid base64";
    error "session::several" "SE-70" "a data set with several conversations, and no line was named";
    error "session::not-compacted" "SE-97" "a session that cannot be compacted in place";
    error "session::not-written" "SE-92" "the mended session cannot be written";
    error "session::not-lines" "SE-2" "a session that can only be read as a whole";
    error "session::no-writer" "SE-81" "`msg` does not write sessions of this dialect";
    error "session::not-in-build" "SE-1" "a log of an agent, which this build of `msg` neither reads nor writes";
    warning "session::written-anew" "SE-81" "an edited session is written as its messages alone";
    warning "session::record-too-large" "SE-2" "a record exceeds the size limit, not inspected";
    error "session::bom" "SE-20" "the file begins with a byte order mark";
    error "session::nul-bytes" "SE-21" "NUL bytes in a line";
    error "session::invalid-utf8" "SE-22" "a record is not UTF-8";
    error "session::joined-lines" "SE-23" "several records in one line";
    error "session::merged-line" "SE-24" "a record follows a truncated one in the same line";
    error "session::torn-tail" "SE-25" "truncated file: the last record is incomplete";
    error "session::bad-line" "SE-26" "a line is not a JSON object";
    warning "session::duplicate-record" "SE-27" "duplicate record";
    warning "session::reused-record-id" "SE-27" "several records have the same id";
    error "session::empty-session" "SE-28" "the session has no records, or a mend would leave none";
    error "session::not-readable" "SE-28" "a value is not the list that the dialect requires";
    info "session::off-path" "SE-3" "messages on no path to the last record, and not before a compaction";
    info "session::unknown-record" "SE-28" "a record of an unknown kind";
    error "session::lone-surrogate" "SE-29" "unpaired surrogate escape in text that is sent";
    error "session::duplicate-call" "SE-30" "duplicate call id in one message";
    error "session::reused-call-id" "SE-31" "a call id that an earlier message already used";
    error "session::orphan-result" "SE-32" "a result without a call before it";
    error "session::duplicate-result" "SE-33" "a second result for one call";
    error "session::late-result" "SE-34" "a result does not follow its call";
    error "session::unanswered-call" "SE-35" "a call without a result";
    warning "session::open-call" "SE-36" "the session ends with an unanswered call";
    error "session::empty-text" "SE-38" "an empty text";
    warning "session::blank-text" "SE-38" "a text of white space only";
    error "session::empty-message" "SE-38" "a message without content";
    error "session::content-type" "SE-38" "a content or a block of another type than the provider takes";
    error "session::image-too-large" "SE-39" "an image exceeds the size limit";
    error "session::first-not-user" "SE-39" "the session begins with an assistant message";
    warning "session::split-results" "SE-42" "parallel results outside the path";
    error "session::missing-parent" "SE-43" "the parent of a record is missing";
    info "session::starts-inside" "SE-43" "the session continues another file";
    error "session::parent-cycle" "SE-44" "a record is its own ancestor";
    warning "session::missing-logical-parent" "SE-44" "the record that a compaction replaced is missing";
    info "session::emptied-thinking" "SE-45" "signed thinking without text";
    error "session::refused-thinking" "SE-45" "thinking that the provider refused";
    error "session::dropped-thinking" "SE-45" "thinking, removed on request";
    error "session::orphan-reasoning" "SE-53" "a reasoning item without the item that must follow it";
    error "session::foreign-encrypted" "SE-54" "an encrypted item, removed on request";
    error "session::missing-header" "SE-55" "missing session header";
    error "session::misplaced-header" "SE-55" "the session header is not the first line";
    error "session::id-mismatch" "SE-55" "the file name and the header have different session ids";
    error "session::bad-ordinal" "SE-56" "line numbers that do not increase";
    error "session::result-id" "SE-63" "a result names another call than its own";
    error "session::result-form" "SE-162" "a result that is not a response to its call";
    error "session::lost-by-rewind" "SE-63" "a rewind to a message that is missing";
    warning "session::stuck-tool" "SE-65" "a tool that is still marked as running";
    warning "session::orphan-part" "SE-65" "a part without its message";
    warning "session::orphan-message" "SE-65" "a message without its session";
    warning "session::ambiguous-line" "SE-68" "a line that may be the user's";
    error "session::missing-event" "SE-69" "a gap in the numbers of events";
    error "session::bad-shape" "SE-70" "a line does not have the shape of the data set";
    error "session::unknown-role" "SE-70" "a role that the data set does not have";
    error "session::bad-weight" "SE-70" "a weight that is not 0 or 1, or not on an answer";
    error "session::bad-arguments" "SE-70" "arguments are not a JSON object";
    error "session::no-assistant" "SE-70" "a line without an assistant message";
    error "session::last-not-assistant" "SE-70" "a line does not end with an assistant message";
    error "session::alternation" "SE-70" "turns that do not alternate";
    error "session::misplaced-system" "SE-70" "a system message that is not the first message";
    warning "session::blank-line" "SE-70" "a blank line in a data set";
    error "session::raw-control" "SE-142" "an unescaped control character in a record";
    error "session::media-type" "SE-139" "the media type of an image differs from its bytes";
    error "session::bad-media" "SE-140" "an image or PDF that cannot be decoded, or has no data";
    error "session::server-tool" "SE-141" "a server tool block without its call or result";
    info "session::too-long" "SE-143" "the size of a session that was refused as too long";
    info "session::not-found" "SE-144" "the place where the agent looks for a session";
    error "session::lost-preserved" "SE-125" "a message that a compaction keeps is missing";
    error "session::missing-parent-member" "SE-127" "a record without the member that names its parent";
    error "session::missing-time" "SE-127" "a record without a required time";
    error "session::lost-reply" "SE-128" "an answer whose place another record took";
    error "session::reasoning-content" "SE-132" "plain reasoning of another provider";
    error "session::bad-header" "SE-132" "a header that the agent does not accept";
    info "session::is-a-log" "SE-153" "a log, which cannot be resumed";
};

/// One finding about a session.
///
/// The JSON form is the serde form; members that do not apply are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable name of the finding: `session::…`.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The sentence for people: lower case, without a full stop.
    pub message: Cow<'static, str>,
    /// The place in the input.
    pub at: SessionPlace,
    /// The repair, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Cow<'static, str>>,
    /// Whether the repair was made.
    #[serde(skip_serializing_if = "is_false")]
    pub done: bool,
    /// The number of places that it represents, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// How the agent handles it when it resumes the session, if that is known (SE-136).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<MendOutcome>,
    /// Its case, if the outcome depends on it.
    #[serde(skip)]
    pub(crate) case: Case,
}

/// How an agent handles a fault when it resumes a session (SE-136).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum MendOutcome {
    /// It has no effect.
    None,
    /// The agent resumes, and repairs the fault in each request.
    Healed,
    /// The agent resumes, and silently leaves something out.
    Cut,
    /// The agent does not resume, or the provider refuses its request.
    Refused,
}

/// The case of a finding, if outcomes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Case {
    /// The only one.
    #[default]
    Any,
    /// In a user message.
    OfUser,
    /// In an answer with other content.
    BesideOthers,
    /// In an answer without other content.
    Alone,
    /// Content that is `null`.
    Null,
}

/// A place in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize)]
pub struct SessionPlace {
    /// The index of the blob, from 0; not in JSON.
    #[serde(skip)]
    pub blob: u32,
    /// Line in that blob, from 1.
    pub line: u32,
    /// Index of the record among those that could be read, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u32>,
    /// Index of the block in its record, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
}

impl SessionPlace {
    /// A line, from 1, that is not a readable record.
    pub fn line(line: u32) -> Self {
        Self { line, ..Self::default() }
    }

    /// Sets the block of the record.
    #[must_use]
    pub fn with_block(self, block: usize) -> Self {
        Self { block: u32::try_from(block).ok(), ..self }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(it: &bool) -> bool {
    !it
}

impl Finding {
    pub(crate) fn new(
        severity: Severity,
        code: &'static str,
        at: SessionPlace,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (code, message) = (Code::new(code), message.into());
        let (outcome, case) = (None, Case::default());
        Self { code, severity, message, at, fix: None, done: false, count: None, outcome, case }
    }

    pub(crate) fn error(
        code: &'static str,
        at: SessionPlace,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(Severity::Error, code, at, message)
    }

    pub(crate) fn warning(
        code: &'static str,
        at: SessionPlace,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(Severity::Warning, code, at, message)
    }

    pub(crate) fn info(
        code: &'static str,
        at: SessionPlace,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(Severity::Info, code, at, message)
    }

    /// Sets the repair. It is made for every error, and for warnings if `all`.
    pub(crate) fn mended(mut self, fix: impl Into<Cow<'static, str>>, all: bool) -> Self {
        self.fix = Some(fix.into());
        self.done = self.severity == Severity::Error || all;
        self
    }

    /// Adds the findings of a second repair to those of the first, so every edit is reported. Lines are those of the
    /// repaired session. Findings that are already known are not repeated.
    pub fn add_mended(known: &mut Vec<Finding>, found: &[Finding]) {
        let is_known =
            |it: &Finding| known.iter().any(|one| (one.at, &one.code) == (it.at, &it.code));
        let mut more: Vec<_> =
            found.iter().filter(|it| it.done && !is_known(it)).cloned().collect();
        for it in &mut more {
            it.message = format!("{}, in the session as it was mended", it.message).into();
        }
        known.append(&mut more);
        sort(known);
    }

    /// Sets the case of its code.
    pub(crate) fn in_case(self, case: Case) -> Self {
        Self { case, ..self }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The order of a report: line, record, code, block (SE-91).
    pub(crate) fn order(&self) -> (u32, u32, Option<u32>, &str, Option<u32>) {
        (self.at.blob, self.at.line, self.at.record, self.code.as_str(), self.at.block)
    }
}

impl From<&Finding> for Diagnostic {
    fn from(it: &Finding) -> Self {
        let mut res = Diagnostic::new(it.severity, it.code.clone(), it.message.clone());
        res.at.line = usize::try_from(it.at.line).ok();
        match &it.fix {
            Some(fix) => res.with_fix(fix.clone()),
            None => res,
        }
    }
}

/// Sorts findings into the order of a report.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| a.order().cmp(&b.order()));
}

/// Options for reading, checking and repairing, as in `msg doctor --jsonl` (SE-91).
///
/// ```
/// use msg_session::SessionOptions;
/// assert!(SessionOptions::default().with_all().all);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionOptions {
    /// Whether to repair warnings too.
    pub all: bool,
    /// Whether to remove thinking blocks of the active path (SE-45).
    pub drop_thinking: bool,
    /// Whether to remove items that only another account can decrypt (SE-54).
    pub drop_encrypted: bool,
    /// Whether to remove lines with errors from a data set (SE-70).
    pub drop: bool,
    /// The provider's error message whose cause is sought (SE-45, SE-90).
    pub error: Option<String>,
    /// The version of the agent for which findings are judged [default: the newest known version] (SE-136).
    pub agent_version: Option<String>,
    /// The record whose branch is read [default: the branch that a resume sends].
    pub leaf: Option<String>,
    /// The maximum size of a record in bytes; larger records are not parsed (SE-2).
    pub max_record: u64,
    /// Whether to read tool calls in the text of older sessions (SE-67).
    pub xml: bool,
}

/// The default maximum record size: 256 MiB (SE-2).
const MAX_RECORD: u64 = 256 << 20;

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            all: false,
            drop_thinking: false,
            drop_encrypted: false,
            drop: false,
            error: None,
            agent_version: None,
            leaf: None,
            max_record: MAX_RECORD,
            xml: false,
        }
    }
}

impl SessionOptions {
    /// These options over `base`: switches are on if either is on; for other members, these win over `base`.
    pub(crate) fn over(self, base: &Self) -> Self {
        Self {
            all: base.all || self.all,
            drop_thinking: base.drop_thinking || self.drop_thinking,
            drop_encrypted: base.drop_encrypted || self.drop_encrypted,
            drop: base.drop || self.drop,
            error: self.error.or_else(|| base.error.clone()),
            agent_version: self.agent_version.or_else(|| base.agent_version.clone()),
            leaf: self.leaf.or_else(|| base.leaf.clone()),
            max_record: if self.max_record == MAX_RECORD {
                base.max_record
            } else {
                self.max_record
            },
            xml: base.xml || self.xml,
        }
    }
}

impl SessionOptions {
    msg_core::setters! {
        new;
        /// Makes the mends of warnings too.
        with_all() all = true;
        /// Drops thinking blocks of the active path.
        with_drop_thinking() drop_thinking = true;
        /// Drops items that only another account can decrypt.
        with_drop_encrypted() drop_encrypted = true;
        /// Drops lines of a data set that have errors.
        with_drop() drop = true;
        /// Reads tool calls in the text of older sessions.
        with_xml() xml = true;
        /// Looks for the cause of this message of a provider.
        with_error(error: impl Into<String>) error = Some(error.into());
        /// Judges findings by this version of the agent.
        with_agent_version(version: impl Into<String>) agent_version = Some(version.into());
        /// Reads along this record.
        with_leaf(leaf: impl Into<String>) leaf = Some(leaf.into());
        /// Does not look into records above this size, in bytes.
        with_max_record(bytes: impl Into<u64>) max_record = bytes.into();
    }
}
