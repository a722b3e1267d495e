//! Whether a file is in use (SE-92): open for writing, locked, or changed a moment ago.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::sessions::places::Stamp;

/// How long a file must have been left alone.
const QUIET: Duration = Duration::from_secs(5);

/// Why the file of a stamp must not be written now; none if it may be. A file that changed a moment ago
/// is watched until it has been left alone for five seconds.
pub(crate) fn why(stamp: &Stamp) -> Option<String> {
    let path = fs::canonicalize(&stamp.path).unwrap_or_else(|_| stamp.path.clone());
    if let Some(lock) = locks(&path).into_iter().find(|it| it.exists()) {
        return Some(format!("{} is beside it: the session is in use", lock.display()));
    }
    if let Some(program) = writer(&path) {
        return Some(format!("process {program} has it open for writing"));
    }
    let age = stamp.changed.and_then(|it| SystemTime::now().duration_since(it).ok());
    if let Some(rest) = age.and_then(|it| QUIET.checked_sub(it)) {
        thread::sleep(rest);
    }
    (!stamp.holds()).then(|| "it changed in the last seconds: the session is in use".to_owned())
}

fn locks(path: &Path) -> Vec<PathBuf> {
    ["-wal", ".lock", "-journal"]
        .into_iter()
        .map(|suffix| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        })
        .collect()
}

/// The process that has a file open for writing, where the system tells.
fn writer(path: &Path) -> Option<String> {
    let own = std::process::id().to_string();
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let id = process.file_name().to_string_lossy().into_owned();
        if id == own || !id.bytes().all(|it| it.is_ascii_digit()) {
            continue;
        }
        let Ok(files) = fs::read_dir(process.path().join("fd")) else { continue };
        for file in files.flatten() {
            let is_it = fs::read_link(file.path()).is_ok_and(|it| it == path);
            if is_it && is_written(&process.path(), &file.file_name().to_string_lossy()) {
                return Some(id);
            }
        }
    }
    None
}

/// Whether an open file may be written: the last octal digit of its flags is not 0 modulo 4.
fn is_written(process: &Path, fd: &str) -> bool {
    let info = fs::read_to_string(process.join("fdinfo").join(fd)).unwrap_or_default();
    let flags = info.lines().find_map(|it| it.strip_prefix("flags:"));
    let flags = flags.and_then(|it| u32::from_str_radix(it.trim(), 8).ok());
    flags.is_none_or(|it| it & 3 != 0)
}
