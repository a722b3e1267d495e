//! Temporary files beside a file that is to be replaced: a program that is killed leaves one, and the next one that
//! writes into the folder takes it away.
//!
//! Who makes one holds its lock as long as it runs, so that what nobody holds is left over:
//!
//! ```text
//! .msg-x7Kq2P         locked      somebody is writing it
//! .msg-file-Ab3dE9    not locked  its program is gone: removed
//! ```

use super::disk::{folder, identity};
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What the names of temporary files begin with; six letters or digits follow.
const PREFIXES: [&str; 2] = [".msg-file-", ".msg-"];

/// The folders that were looked through: once is enough for a program.
static CLEANED: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// Holds a temporary file that was just made; false if somebody took it for one that was left over, and another is to
/// be made. It is held until `file` is closed.
#[must_use]
pub fn hold_temporary(file: &File, path: &Path) -> bool {
    // Where the system has no locks nobody removes anything.
    if file.lock().is_err() {
        return true;
    }
    let (ours, named) = (file.metadata(), std::fs::metadata(path));
    ours.ok().zip(named.ok()).is_some_and(|(a, b)| identity(&a) == identity(&b))
}

/// Removes the temporary files beside `path` that programs left which were killed. Looks through a folder once.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let left = folder.path().join(".msg-a1B2c3");
/// std::fs::write(&left, "half")?;
/// msg_file::store::remove_left_over(&folder.path().join("talk.msg.md"));
/// assert!(!left.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_left_over(path: &Path) {
    let folder = folder(path);
    let mut cleaned = CLEANED.lock().unwrap_or_else(PoisonError::into_inner);
    if !cleaned.get_or_insert_default().insert(folder.to_owned()) {
        return;
    }
    drop(cleaned);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|it| it.is_file());
        if is_file && is_temporary(&entry.file_name().to_string_lossy()) {
            remove_if_free(&entry.path());
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let rest = PREFIXES.iter().find_map(|it| name.strip_prefix(it));
    rest.is_some_and(|it| it.len() == 6 && it.bytes().all(|it| it.is_ascii_alphanumeric()))
}

fn remove_if_free(path: &Path) {
    // Removed while it is locked, so that nobody holds it in between.
    if let Ok(file) = File::options().write(true).open(path)
        && file.try_lock().is_ok()
    {
        let _ = std::fs::remove_file(path);
    }
}
