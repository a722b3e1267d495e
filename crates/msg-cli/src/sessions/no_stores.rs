//! A program that was built without SQLite: stores are named and refused.

use std::io::Read;
use std::path::Path;

use msg_session::{Blob, Dialect};

/// Whether a file is a store.
pub(crate) fn is_store(path: &Path) -> bool {
    let mut start = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut it| it.read_exact(&mut start));
    read.is_ok() && start == *b"SQLite format 3\0"
}

/// Refuses.
pub(crate) fn sessions(_: &Path) -> Result<(Dialect, Vec<String>), String> {
    Err("it is a store of SQLite, which this program was built without (feature `sqlite`)"
        .to_owned())
}

/// Refuses.
pub(crate) fn blobs(path: &Path, _: &str) -> Result<(Dialect, Vec<Blob>), String> {
    sessions(path).map(|it| (it.0, Vec::new()))
}

/// There is nothing to mend.
pub(crate) fn script(_: &[Blob], _: &[Blob]) -> Option<String> {
    None
}

/// None.
pub(crate) fn codex_titles(path: &Path) -> Result<Vec<(String, String)>, String> {
    sessions(path).map(|_| Vec::new())
}
