//! Small things about files: identity, reading a range, syncing a folder, errors with their path.

use crate::error::Error;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) file: (u64, u64),
    pub(super) len: u64,
    pub(super) modified: Option<SystemTime>,
}

impl Seen {
    pub(super) fn of(meta: &Metadata) -> Self {
        Self { file: identity(meta), len: meta.len(), modified: meta.modified().ok() }
    }
}

/// Device and number of a file; the same for all files where the system has none.
#[cfg(unix)]
pub(super) fn identity(meta: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (meta.dev(), meta.ino())
}

/// Device and number of a file; the same for all files where the system has none.
#[cfg(not(unix))]
pub(super) fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// Makes an error that names file and action.
pub(super) fn at<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + 'a {
    move |source| Error::Io { action, path: path.to_owned(), source }
}

/// The file behind all links, which may not exist so far.
pub(super) fn resolved(path: &Path) -> Result<PathBuf, Error> {
    match std::fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            let name = path.file_name().ok_or_else(|| Error::NotReplaceable(path.to_owned()))?;
            // A link that leads nowhere is followed by hand, so that its target is made.
            if let Ok(target) = std::fs::read_link(path) {
                let target = folder(path).join(target);
                let real = std::fs::canonicalize(folder(&target)).map_err(at("find", &target))?;
                return Ok(real.join(target.file_name().unwrap_or(name)));
            }
            let real = std::fs::canonicalize(folder(path)).map_err(at("find", folder(path)))?;
            Ok(real.join(name))
        }
        Err(source) => Err(at("find", path)(source)),
    }
}

/// The folder that a file stands in.
pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes a new name durable. Systems that cannot sync a folder are left alone.
pub(super) fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder(path)) {
        let _ = folder.sync_all();
    }
}

/// The bytes from `start` to `end`.
pub(super) fn read_range(
    file: &mut (impl Read + Seek),
    start: u64,
    end: u64,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity((end - start) as usize);
    file.seek(SeekFrom::Start(start))?;
    file.take(end - start).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// FNV-1a, 64 bits: it finds accidents, not forgers.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
