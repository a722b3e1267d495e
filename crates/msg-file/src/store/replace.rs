//! Replacing a file as a whole, for edits and formatting (MF-46).

use super::disk::{at, folder, sync_folder};
use super::lock::Lock;
use super::temporary::{hold_temporary, remove_left_over};
use crate::append::Force;
use crate::error::Error;
use std::fs::{File, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Puts `new` in the place of `seen`: under the lock, only if the file still holds `seen`, by a
/// temporary file of the same mode, owner and extended attributes (access lists are such) that is renamed over it. A link stays, its target is
/// replaced. A file with several names is refused, and with `force` written in place.
///
/// # Errors
/// [`Error::ChangedOnDisk`], [`Error::NotReplaceable`], [`Error::Locked`], [`Error::Io`]; the file is
/// as it was then.
///
/// ```no_run
/// use std::path::Path;
/// let path = Path::new("talk.msg.md");
/// let seen = std::fs::read(path)?;
/// msg_file::store::replace(path, &seen, b"# %%\n\nhi\n", msg_file::Force::No)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn replace(path: &Path, seen: &[u8], new: &[u8], force: Force) -> Result<(), Error> {
    let refused = || Error::NotReplaceable(path.to_owned());
    let real = std::fs::canonicalize(path).map_err(|_| refused())?;
    let meta = std::fs::metadata(&real).map_err(at("examine", &real))?;
    if !meta.is_file() {
        return Err(refused());
    }
    let mut lock = Lock::take(&real, Duration::from_secs(10))?;
    let len = lock.len()?;
    if lock.read(0, len)? != seen {
        return Err(Error::ChangedOnDisk);
    }
    replace_locked(&lock, new, force)
}

/// A file that is locked as an append locks it, until this is dropped.
#[derive(Debug)]
pub struct Locked {
    _lock: Lock,
}

/// Locks the file at `path`, for a program that replaces it by means of its own: no append comes in between (MF-41).
///
/// # Errors
/// [`Error::Locked`] if somebody else holds it for longer than `timeout`; [`Error::Io`].
pub fn lock(path: &Path, timeout: Duration) -> Result<Locked, Error> {
    let real = std::fs::canonicalize(path).map_err(at("find", path))?;
    Ok(Locked { _lock: Lock::take(&real, timeout)? })
}

/// The same under a lock under which the file was read.
pub(super) fn replace_locked(lock: &Lock, new: &[u8], force: Force) -> Result<(), Error> {
    let (real, meta) = (&lock.real, lock.meta()?);
    match force {
        _ if names(&meta) == 1 => temporary(real, new, Some((&lock.file, &meta))),
        Force::Yes => in_place(real, new),
        Force::No => Err(Error::NotReplaceable(real.clone())),
    }
}

/// Makes a new file that appears whole or not at all.
pub(super) fn create(real: &Path, bytes: &[u8]) -> Result<(), Error> {
    temporary(real, bytes, None)
}

/// The temporary files of replacements that are under way.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of replacements that are under way, and lets no other begin: for a program
/// that a signal is about to end, called from a thread and not from the handler.
pub fn remove_temporary_files() {
    let all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    for path in all.iter() {
        let _ = std::fs::remove_file(path);
    }
    // Whoever wants to begin waits for this.
    std::mem::forget(all);
}

/// A temporary file that is known as such; it is made while nobody removes them.
fn begin(real: &Path) -> Result<NamedTempFile, Error> {
    let mut all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    remove_left_over(real);
    let made = loop {
        let made = tempfile::Builder::new().prefix(".msg-file-").tempfile_in(folder(real));
        let made = made.map_err(at("make a temporary file beside", real))?;
        if hold_temporary(made.as_file(), made.path()) {
            break made;
        }
    };
    all.push(made.path().to_owned());
    Ok(made)
}

fn temporary(real: &Path, bytes: &[u8], like: Option<(&File, &Metadata)>) -> Result<(), Error> {
    let file = begin(real)?;
    let name = file.path().to_owned();
    let done = fill(file, real, bytes, like);
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| *it != name);
    done
}

fn fill(
    mut temporary: NamedTempFile,
    real: &Path,
    bytes: &[u8],
    like: Option<(&File, &Metadata)>,
) -> Result<(), Error> {
    temporary.write_all(bytes).map_err(at("write", real))?;
    match like {
        Some((original, meta)) => {
            keep_owner(temporary.as_file(), meta);
            temporary
                .as_file()
                .set_permissions(meta.permissions())
                .map_err(at("set the mode of", real))?;
            // Behind the mode, which an access list refines.
            keep_attributes(temporary.as_file(), original);
        }
        None => ordinary(temporary.as_file()),
    }
    temporary.as_file().sync_all().map_err(at("sync", real))?;
    temporary.persist(real).map_err(|e| at("replace", real)(e.error))?;
    sync_folder(real);
    Ok(())
}

/// The mode of a new file, which is private until it has its name.
#[cfg(unix)]
fn ordinary(file: &File) {
    use std::os::unix::fs::PermissionsExt;
    let _ = file.set_permissions(std::fs::Permissions::from_mode(0o644));
}

#[cfg(not(unix))]
fn ordinary(_: &File) {}

/// Only some users may give files away; the mode is kept in any case.
#[cfg(unix)]
fn keep_owner(file: &File, meta: &Metadata) {
    use std::os::unix::fs::MetadataExt;
    let _ = std::os::unix::fs::fchown(file, Some(meta.uid()), Some(meta.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// Some attributes are the system's own and cannot be given; they are its to set.
#[cfg(unix)]
fn keep_attributes(file: &File, original: &File) {
    use xattr::FileExt;
    for name in original.list_xattr().into_iter().flatten() {
        if let Ok(Some(value)) = original.get_xattr(&name) {
            let _ = file.set_xattr(&name, &value);
        }
    }
}

#[cfg(not(unix))]
fn keep_attributes(_: &File, _: &File) {}

#[cfg(unix)]
fn names(meta: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    meta.nlink()
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

fn in_place(real: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut file =
        File::options().write(true).truncate(true).open(real).map_err(at("open", real))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(at("write", real))
}
