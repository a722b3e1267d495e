//! The other ways through a session (SE-3): what a resume does not send, and can be read along its leaf.

use std::fmt;

use crate::{Error, Session, SessionOptions};

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
