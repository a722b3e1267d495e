//! What a file was like when it was read, so that one that changed since is not written over (SE-92).
//!
//! It looks at size and time; who has the file open is `in_use`'s.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::exit::Failure;

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) path: PathBuf,
    pub(crate) len: u64,
    pub(crate) changed: Option<SystemTime>,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let meta = fs::metadata(path)?;
        Ok(Self { path: path.to_owned(), len: meta.len(), changed: meta.modified().ok() })
    }

    /// The refusal of a file that changed while it was read.
    pub(crate) fn grew(&self) -> Failure {
        let text = format!("{} changed while it was read: it is in use", self.path.display());
        Failure::Refused(text)
    }

    /// Whether the file is still as it was.
    pub(crate) fn holds(&self) -> bool {
        Self::of(&self.path).is_ok_and(|it| it == *self)
    }
}
