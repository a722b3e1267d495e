//! What is wrong with a session, where, and what would mend it (SE-91).

use std::borrow::Cow;

use msg_core::{Code, Diagnostic, Severity};
use serde::Serialize;

/// One finding about a session.
///
/// The JSON form is the serde form; members that do not apply are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable name of the finding: `session::…`.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence for people. Lower case, without a full stop.
    pub message: Cow<'static, str>,
    /// Where it is in the input.
    pub at: SessionPlace,
    /// The mend, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Cow<'static, str>>,
    /// Whether the mend was made.
    #[serde(skip_serializing_if = "is_false")]
    pub done: bool,
    /// How many places it represents, if not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// What the agent makes of it when it resumes the session, where that is known (SE-136).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<MendOutcome>,
    /// Which case of its code it is, where the outcome depends on it.
    #[serde(skip)]
    pub(crate) case: Case,
}

/// What an agent makes of a fault when it resumes a session (SE-136).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum MendOutcome {
    /// Nothing: it has no effect.
    None,
    /// It resumes, and repairs the fault at each request.
    Healed,
    /// It resumes, silently without something.
    Cut,
    /// It does not resume, or the provider refuses what it sends.
    Refused,
}

/// Which case of its code a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Case {
    /// The only one.
    #[default]
    Any,
    /// In what the user says.
    OfUser,
    /// In an answer, beside something else.
    BesideOthers,
    /// In an answer, which says nothing else.
    Alone,
    /// Content that is `null`.
    Null,
}

/// A place in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize)]
pub struct SessionPlace {
    /// Which of the session's blobs, from 0; not in JSON.
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
    /// A line, from 1, of which no record could be read.
    pub fn line(line: u32) -> Self {
        Self { line, ..Self::default() }
    }

    /// With the block of the record.
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

    /// With a mend, which is made for every error, and for a warning if all are wanted.
    pub(crate) fn mended(mut self, fix: impl Into<Cow<'static, str>>, all: bool) -> Self {
        self.fix = Some(fix.into());
        self.done = self.severity == Severity::Error || all;
        self
    }

    /// Adds what was mended in a session that was mended already, so that no edit is unnamed: lines are those of the
    /// mended session. What is said already is not said again.
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

    /// As this case of its code.
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

/// Puts findings in the order of a report.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| a.order().cmp(&b.order()));
}
