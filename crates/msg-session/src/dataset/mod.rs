//! Training samples from sessions (SE-161): one per view that a model had, each answer supervised once.
//!
//! ```text
//! session ─ views ▶ before each compaction, each branch, now ─ mend, cut ▶ candidates
//!         ─ longest of those that begin alike ▶ samples ─ weights ▶ lines of JSON
//! ```
//!
//! The law: the calls of the answers with weight 1 are the calls of the sessions, each once, but for those that the
//! report names with the reason.

mod account;
mod sample;
mod views;

use std::collections::HashSet;

use msg_core::{Message, Role};
use serde::Serialize;

use self::account::{Account, Seen};
use self::views::Candidate;
use crate::{Error, Session};

pub use self::sample::{Sample, SampleFormat};

/// How samples are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatasetOptions {
    /// Whether thinking leaves the answers.
    pub drop_thinking: bool,
    /// Samples with fewer calls are left out.
    pub min_calls: usize,
    /// Whether a sample of a session that does not define its tools lists their names.
    pub tool_names: bool,
}

impl DatasetOptions {
    /// Removes thinking from the answers.
    #[must_use]
    pub fn with_drop_thinking(mut self) -> Self {
        self.drop_thinking = true;
        self
    }

    /// Leaves out samples with fewer calls.
    #[must_use]
    pub fn with_min_calls(mut self, calls: usize) -> Self {
        self.min_calls = calls;
        self
    }

    /// Lists the names of the tools of sessions that do not define them.
    #[must_use]
    pub fn with_tool_names(mut self) -> Self {
        self.tool_names = true;
        self
    }
}

/// What became of the sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DatasetReport {
    /// How many sessions were read.
    pub sessions: usize,
    /// How many samples there are.
    pub samples: usize,
    /// How many answers have weight 1.
    pub answers: usize,
    /// How many calls the answers of the sessions have, copies of earlier answers not counted.
    pub calls_in: usize,
    /// How many calls the answers with weight 1 have.
    pub calls_out: usize,
    /// The views that became no sample, each with the reason. One that begins another view, and one without an answer of
    /// its own, is not listed.
    pub left_out: Vec<LeftOut>,
    /// The calls that no answer with weight 1 has, each with the reason.
    pub missing: Vec<MissingCall>,
}

/// A view of which no sample was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The name of the session.
    pub session: String,
    /// The leaf of the view, as [`RepairOptions::with_leaf`](crate::RepairOptions::with_leaf) takes it; none of the
    /// view that a resume sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf: Option<String>,
    /// Why, with the code of the finding where one is the reason.
    pub reason: String,
}

/// A call that is not supervised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MissingCall {
    /// The name of the session.
    pub session: String,
    /// The id of the call.
    pub call: String,
    /// Why.
    pub reason: String,
}

/// Collects sessions, and makes samples of them.
///
/// ```
/// use msg_session::{Blob, Dataset, DatasetOptions, Dialect, SampleFormat, Session};
///
/// let line = |id: &str, parent: &str, role: &str, text: &str| {
///     format!(r#"{{"type":"{role}","uuid":"{id}","parentUuid":{parent},"message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#)
/// };
/// let lines = [line("a", "null", "user", "Hi"), line("b", "\"a\"", "assistant", "Hello.")];
/// let session = Session::new(Dialect::ClaudeCode, vec![Blob::new("s.jsonl", lines.join("\n"))]);
/// let mut dataset = Dataset::new(DatasetOptions::default());
/// dataset.add("s", &session)?;
/// let (samples, report) = dataset.finish();
/// assert_eq!((samples.len(), report.answers), (1, 1));
/// assert_eq!(
///     samples[0].to_json(SampleFormat::OpenAiJsonl).0,
///     r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello.","weight":1}]}"#,
/// );
/// # Ok::<(), msg_session::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Dataset {
    options: DatasetOptions,
    candidates: Vec<Candidate>,
    account: Account,
    report: DatasetReport,
}

impl Dataset {
    /// A data set without sessions.
    pub fn new(options: DatasetOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds the views of a session. It is read once per view: linear in the session where it has no branches.
    ///
    /// # Errors
    /// Nothing of the session can be read.
    pub fn add(&mut self, name: &str, session: &Session) -> Result<(), Error> {
        let number = self.report.sessions;
        let views = views::of(session)?;
        self.report.sessions += 1;
        for view in views {
            self.account.session_has(number, name, &view);
            match view.candidate(session, number, name, &mut self.account) {
                Ok(candidate) => self.candidates.push(candidate),
                // A view without an answer has nothing to train on.
                Err(None) => {}
                Err(Some(reason)) => self.leave_out(name, view.leaf, reason),
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, name: &str, leaf: Option<String>, reason: String) {
        self.report.left_out.push(LeftOut { session: name.to_owned(), leaf, reason });
    }

    /// The samples in the order of the sessions and their views, and what became of everything. Linear.
    pub fn finish(mut self) -> (Vec<Sample>, DatasetReport) {
        let mut samples = Vec::new();
        let mut seen = Seen::default();
        let begins_another = begins_another(&self.candidates);
        let candidates = std::mem::take(&mut self.candidates);
        for (candidate, begins_another) in candidates.into_iter().zip(begins_another) {
            if begins_another {
                continue;
            }
            let calls: usize = candidate.messages.iter().map(|it| it.tool_calls().count()).sum();
            let (name, leaf) = (candidate.name.clone(), candidate.leaf.clone());
            if calls < self.options.min_calls {
                let reason = format!("it has {calls} calls, fewer than {}", self.options.min_calls);
                self.account.explain(&candidate, &format!("its sample was left out: {reason}"));
                self.leave_out(&name, leaf, reason);
                continue;
            }
            let weights = self.account.weights(&candidate, &mut seen);
            if !weights.contains(&Some(true)) {
                continue;
            }
            let sample = Sample::new(candidate, weights, &self.options);
            self.report.answers += sample.weights.iter().filter(|it| **it == Some(true)).count();
            samples.push(sample);
        }
        let mut report = self.report;
        report.samples = samples.len();
        (report.calls_in, report.calls_out, report.missing) = self.account.finish();
        (samples, report)
    }
}

/// Of each candidate, whether another one begins with it; of equal ones the first stays.
fn begins_another(candidates: &[Candidate]) -> Vec<bool> {
    let proper = candidates.iter().flat_map(|it| it.parts.iter().rev().skip(1).copied());
    let proper: HashSet<u128> = proper.collect();
    let mut whole = HashSet::new();
    let one = |it: &Candidate| {
        it.parts.last().is_none_or(|last| proper.contains(last) || !whole.insert(*last))
    };
    candidates.iter().map(one).collect()
}

fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant
}
