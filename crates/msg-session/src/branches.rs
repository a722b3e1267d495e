//! The other ways through a session (SE-3): what a resume does not send, and can be read along its leaf.

use crate::dialects::{self, claude_code};
use crate::{Dialect, Error, RepairOptions, Session};

/// A way through a session beside the active path. [`RepairOptions::with_leaf`] reads along it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Branch {
    /// The id of its last record.
    pub leaf: String,
    /// Index of that record.
    pub record: u32,
    /// Why it is not sent.
    pub kind: BranchKind,
    /// How many records it has that are not on the active path.
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
    /// It stands before a compaction.
    Compacted,
}

impl Session {
    /// The branches beside the active path, in the order of their leaves; none where the sessions of the
    /// dialect are no trees. Linear.
    ///
    /// ```
    /// use msg_session::{Blob, BranchKind, Dialect, RepairOptions, Session};
    ///
    /// let line = |id: &str, parent: &str| {
    ///     format!(r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"message":{{"content":"{id}"}}}}"#)
    /// };
    /// let lines = [line("a", "null"), line("b", "\"a\""), line("c", "\"a\"")].join("\n");
    /// let session = Session::new(Dialect::ClaudeCode, vec![Blob::new("s.jsonl", lines)]);
    /// let branches = session.branches()?;
    /// assert_eq!((branches[0].leaf.as_str(), branches[0].kind), ("b", BranchKind::Abandoned));
    /// let along = RepairOptions::default().with_leaf("b");
    /// assert_eq!(session.read(&along)?.messages[1].text(), "b");
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// It has no record of its dialect.
    pub fn branches(&self) -> Result<Vec<Branch>, Error> {
        match self.dialect() {
            Dialect::ClaudeCode => {
                let bytes = dialects::only(self.blobs());
                Ok(claude_code::branches(bytes, &RepairOptions::default()))
            }
            _ => self.read(&RepairOptions::default()).map(|_| Vec::new()),
        }
    }
}
