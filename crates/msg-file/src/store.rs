//! Message files on disk: durable append and replace. The only module with files, locks and a clock.
//!
//! An append locks the file, completes an interrupted append, detects saves by other programs, verifies in memory that
//! nothing above changes, and writes whole cells with one write (MF-41 to MF-47).
//!
//! ```no_run
//! use msg_core::{IdSource, SeededIds};
//! use msg_file::store::{Appender, AppenderOptions};
//! use msg_file::{NewCell, Nonce};
//! use std::path::Path;
//!
//! let mut log = Appender::open(Path::new("talk.msg.md"), AppenderOptions::default())?;
//! let mut random = SeededIds::new(1); // or the random numbers of your program
//! let mut nonce = || Nonce::from_random(random.next_u64());
//! let done = log.append(&NewCell::message("hi"), &mut nonce)?;
//! assert_eq!(done.id, "1");
//! # Ok::<(), msg_file::Error>(())
//! ```

#![allow(
    clippy::disallowed_methods,
    reason = "the store is where files, locks and the clock are used"
)]

mod appender;
mod disk;
mod lock;

use std::ops::Range;
use std::time::Duration;

use msg_core::Diagnostic;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::append::Force;
use crate::document::Span;

pub use appender::{Appender, GrowingMessage};
pub use disk::{Locked, hold_temporary, lock, remove_left_over, remove_temporary_files, replace};

/// When an append counts as done (MF-43).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// On the disk, the folder too when the file is new.
    #[default]
    Sync,
    /// Handed to the system, with a journal: it survives the death of the process.
    Flush,
    /// Neither journal nor sync: for imports that can be repeated.
    None,
}

/// What happens to cells that a person's save has removed (MF-45).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reconcile {
    /// They are appended again, marked `recovered`.
    #[default]
    Restore,
    /// They are only reported.
    Report,
}

/// How an appender works.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AppenderOptions {
    /// When an append counts as done.
    pub durability: Durability,
    /// How long to wait for another program's lock; as a number, in seconds. 10 s.
    #[serde(deserialize_with = "seconds")]
    pub lock_timeout: Duration,
    /// Switch Markdown files on, write to newer formats, take ids that are there.
    pub force: Force,
    /// What happens to cells that a person's save has removed.
    pub reconcile: Reconcile,
    /// Bytes of written cells that are remembered for that, of at most 64 cells. 16 MiB.
    pub keep_bytes: usize,
    /// Bytes of the largest file that is read. 1 GiB.
    pub max_bytes: usize,
}

impl Default for AppenderOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            lock_timeout: Duration::from_secs(10),
            force: Force::No,
            reconcile: Reconcile::Restore,
            keep_bytes: 16 << 20,
            max_bytes: 1 << 30,
        }
    }
}

impl AppenderOptions {
    /// When an append counts as done.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How long to wait for another program's lock.
    #[must_use]
    pub fn with_lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// Whether what is refused is done all the same.
    #[must_use]
    pub fn with_force(mut self, force: Force) -> Self {
        self.force = force;
        self
    }

    /// What happens to cells that a person's save has removed.
    #[must_use]
    pub fn with_reconcile(mut self, reconcile: Reconcile) -> Self {
        self.reconcile = reconcile;
        self
    }

    /// Bytes of written cells that are remembered, for a save that removes them.
    #[must_use]
    pub fn with_keep_bytes(mut self, bytes: usize) -> Self {
        self.keep_bytes = bytes;
        self
    }

    /// Bytes of the largest file that is read.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }
}

/// Seconds, whole or not.
fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(D::Error::custom)
}

/// A cell that is in the file, acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// Its id.
    pub id: String,
    /// Its bytes in the file.
    pub span: Range<u64>,
    /// What had to be mended before.
    pub mended: Option<CrashRepair>,
    /// Ids of cells that were gone and were appended again.
    pub recovered: Vec<String>,
    /// What else was noticed: lost cells, no place for a journal, an editor that has the file open.
    pub warnings: Vec<Diagnostic>,
}

/// How the traces of a crash were mended (MF-44).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CrashRepair {
    /// The rest of an interrupted append was written.
    Redone,
    /// The file was not as the journal says, so its cells were appended again.
    Recovered,
    /// The journal was missing; a newline ends the torn line.
    Newline,
}

impl CrashRepair {
    /// The word of the JSON form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Redone => "redone",
            Self::Recovered => "recovered",
            Self::Newline => "newline",
        }
    }
}

fn absolute(span: Span, base: u64) -> Range<u64> {
    span.start as u64 + base..span.end as u64 + base
}
