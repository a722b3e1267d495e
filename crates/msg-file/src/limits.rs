//! How much is read. Nothing here limits what a document may say.

use serde::Deserialize;

/// Limits of a reading (section 10 of the format). The defaults are generous; hosts that read
/// strangers' files lower them.
///
/// ```
/// let limits = msg_file::Limits::default().with_max_bytes(1 << 20);
/// assert_eq!(limits.max_yaml_depth, 16);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a file; more fails with [`Error::Limit`](crate::Error::Limit). 1 GiB.
    pub max_bytes: usize,
    /// Bytes of frontmatter; more is kept but not interpreted. 1 MiB.
    pub max_frontmatter: usize,
    /// Nesting of the frontmatter; deeper is kept but not interpreted. 16.
    pub max_yaml_depth: usize,
    /// Cells that any file may have; beyond these a file may have one for each 48 of its bytes. More fails
    /// with [`Error::Cells`](crate::Error::Cells), so that no file takes memory out of proportion. 20 000.
    pub max_cells: usize,
    /// Diagnostics kept; more are counted. 10 000.
    pub max_diagnostics: usize,
}

impl Default for Limits {
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

impl Limits {
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
