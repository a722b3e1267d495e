//! Errors: limits, refusals, locks and files; and the limits themselves.
//!
//! Malformed documents are not errors: they are read, and diagnostics report the problems.

use std::io;
use std::path::PathBuf;

use msg_core::{Code, Diagnostic};
use serde::Deserialize;

/// Why something was not done.
///
/// Refusals carry the code of the rule that refuses (`bad-id`, `not-activated` …, MF-59).
///
/// ```
/// use msg_file::{MessageFile, Error, Mode};
/// let err = MessageFile::parse(&b"\xFF\xFE#"[..], Mode::MessageFile).unwrap_err();
/// assert_eq!(err.code().as_str(), "msgfile::utf16-unsupported");
/// assert!(matches!(err, Error::Strict(_)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is larger than the caller allows.
    #[error("the file is {found} bytes long, the limit is {limit}")]
    Limit {
        /// Bytes of the file.
        found: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The file has more cells than its size lets expect ([`FileLimits::max_cells`](FileLimits::max_cells)).
    /// A call without a result counts twice, since a model is sent two messages for it, and so do a picture
    /// and an agent.
    #[error("the file has more than {limit} cells, which is too many for its size")]
    Cells {
        /// Cells allowed.
        limit: usize,
    },
    /// Strict reading met an error diagnostic.
    #[error("{0}")]
    Strict(Box<Diagnostic>),
    /// A rule of the format refuses it.
    #[error("{what}")]
    Refused {
        /// The code.
        code: &'static str,
        /// What was refused and why.
        what: String,
    },
    /// Another program holds the file's lock and did not let go in time (MF-41).
    #[error("the file is locked by process {pid} on {host} since {since}")]
    Locked {
        /// Process id of the holder, 0 if unknown.
        pid: u32,
        /// Host name of the holder, `?` if unknown.
        host: String,
        /// Since when, in seconds of the Unix epoch, `?` if unknown.
        since: String,
    },
    /// The file is not what was parsed: somebody saved it in between (MF-46).
    #[error("the file was changed on disk after it was read")]
    ChangedOnDisk,
    /// No regular file with one name, so it cannot be replaced (MF-46).
    #[error("cannot replace {}: expected a regular file with a single name", .0.display())]
    NotReplaceable(PathBuf),
    /// A write stopped early; the file was cut back to what it was (MF-42).
    #[error("cannot append to the file at byte {at}: {source}")]
    WriteFailed {
        /// Length that the file has again.
        at: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Any other failure of the file system.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried: `open`, `lock`, `read` …
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What a function gives that refuses something.
pub(crate) fn refuse<T>(code: &'static str, what: impl Into<String>) -> Result<T, Error> {
    Err(Error::refused(code, what))
}

impl Error {
    pub(crate) fn refused(code: &'static str, what: impl Into<String>) -> Self {
        Self::Refused { code, what: what.into() }
    }

    /// The stable code, with its prefix.
    #[must_use]
    pub fn code(&self) -> Code {
        let code = match self {
            Self::Limit { .. } => "msgfile::too-large",
            Self::Cells { .. } => "msgfile::too-many-cells",
            Self::Strict(d) => return d.code.clone(),
            Self::Refused { code, .. } => code,
            Self::Locked { .. } => "msgfile::locked",
            Self::ChangedOnDisk => "msgfile::changed-on-disk",
            Self::NotReplaceable(_) => "msgfile::not-replaceable",
            Self::WriteFailed { .. } => "msgfile::write-failed",
            Self::Io { .. } => "msgfile::io",
        };
        Code::new(code)
    }

    /// The same as a diagnostic, for the JSON form.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::Strict(d) => (**d).clone(),
            _ => Diagnostic::error(self.code(), self.to_string()),
        }
    }
}

// Limits on the size of input. They do not limit the content of a document.

/// Limits of a reading (section 10 of the format). The defaults are generous; hosts that read
/// strangers' files lower them.
///
/// ```
/// let limits = msg_file::FileLimits::default().with_max_bytes(1 << 20);
/// assert_eq!(limits.max_yaml_depth, 16);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileLimits {
    /// Bytes of a file; more fails with [`Error::Limit`](Error::Limit). 1 GiB.
    pub max_bytes: usize,
    /// Bytes of frontmatter; more is kept but not interpreted. 1 MiB.
    pub max_frontmatter: usize,
    /// Nesting of the frontmatter; deeper is kept but not interpreted. 16.
    pub max_yaml_depth: usize,
    /// Cells that any file may have; beyond these a file may have one for each 48 of its bytes. More fails
    /// with [`Error::Cells`](Error::Cells), so that no file takes memory out of proportion. 20 000.
    pub max_cells: usize,
    /// Diagnostics kept; more are counted. 10 000.
    pub max_diagnostics: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 30,
            max_frontmatter: 1 << 20,
            max_yaml_depth: 16,
            max_cells: 20_000,
            max_diagnostics: 10_000,
        }
    }
}

/// Bytes of a file for each of its cells, where there are many: what a message of two words takes that a
/// program writes. A cell with its message takes about ten times as much in memory, and up to thirty times while
/// a compaction that repairs first is under way.
const BYTES_A_CELL: usize = 48;

impl FileLimits {
    /// Bytes of a file.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Cells that any file may have.
    #[must_use]
    pub fn with_max_cells(mut self, cells: usize) -> Self {
        self.max_cells = cells;
        self
    }

    /// Diagnostics that are kept.
    #[must_use]
    pub fn with_max_diagnostics(mut self, diagnostics: usize) -> Self {
        self.max_diagnostics = diagnostics;
        self
    }

    /// Those of a piece of a file that was read within its own.
    pub(crate) fn of_piece() -> Self {
        Self { max_cells: usize::MAX, ..Self::default() }
    }

    /// The most cells of a file of so many bytes.
    pub(crate) fn cells_of(&self, bytes: usize) -> usize {
        self.max_cells.max(bytes / BYTES_A_CELL)
    }
}
