//! What the program takes from the machine: the folder of a path, what a missing file is probably called, the time of
//! day, and random bits for ids and nonces.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::words::did_you_mean;

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that is not there is probably called a little otherwise.
pub(crate) fn explained(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    if fs::symlink_metadata(path).is_ok() {
        return io::Error::new(error.kind(), "a link to a file that is not there");
    }
    let names = fs::read_dir(folder(path)).into_iter().flatten().flatten();
    let names: Vec<String> = names.filter_map(|it| it.file_name().into_string().ok()).collect();
    let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let near = did_you_mean(&name, names.iter().map(String::as_str));
    io::Error::new(error.kind(), format!("no such file{near}"))
}

/// Whether a path names a folder: one that is there, or one to be made, whose name ends in a separator.
pub(crate) fn is_folder(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    path.is_dir() || name.last().is_some_and(|it| std::path::is_separator(char::from(*it)))
}

// The time of day, as files write it.

/// Now, in UTC, as RFC 3339 has it: `2026-05-30T12:00:00Z`.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    msg_file::rfc3339(since.map_or(0, |it| it.as_secs()))
}

// Random bits, for ids and nonces.

/// Of the system's generator.
pub(crate) fn random() -> u64 {
    let mut bits = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bits));
    match read {
        Ok(()) => u64::from_ne_bytes(bits),
        Err(_) => {
            // Systems without the device: the standard library's hash keys are random too.
            std::collections::hash_map::RandomState::new().build_hasher().finish()
        }
    }
}
