//! Locks, always in this order: in the process, on the file itself, on its sidecar (MF-41).

use super::disk::{at, identity, read_range, sync_folder};
use super::sidecar::{self, Holder, Sidecar};
use crate::error::Error;
use std::collections::HashSet;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A locked file. Dropping it lets go, in the reverse order.
#[derive(Debug)]
pub(super) struct Lock {
    /// The sidecar that is there; who has something to write into it asks for [`Lock::sidecar`].
    pub(super) found: Option<Sidecar>,
    /// Open for reading and appending.
    pub(super) file: File,
    /// The file is new.
    created: bool,
    pub(super) real: PathBuf,
    timeout: Duration,
    _held: Held,
}

impl Lock {
    /// Locks the file at `real`, which is made if it is missing.
    pub(super) fn take(real: &Path, timeout: Duration) -> Result<Self, Error> {
        let deadline = Instant::now() + timeout;
        let held = Held::take(real, deadline)?;
        loop {
            let created = !real.exists();
            let file = OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .open(real)
                .map_err(at("open", real))?;
            wait(&file, real, deadline)?;
            // Somebody may have put another file in its place while we waited.
            let ours = file.metadata().map_err(at("examine", real))?;
            let named = std::fs::metadata(real).ok();
            if named.is_none_or(|n| identity(&n) != identity(&ours)) {
                continue;
            }
            let found = sidecar::open(real).ok();
            if let Some(file) = &found {
                wait(file, real, deadline)?;
            }
            return Ok(Self {
                found: found.map(|file| Sidecar { file }),
                file,
                created: created && ours.len() == 0,
                real: real.to_owned(),
                timeout,
                _held: held,
            });
        }
    }

    /// The sidecar, made and locked if it is missing: whoever is refused leaves none behind. None where
    /// it cannot be made; there is no journal then.
    pub(super) fn sidecar(&mut self) -> Result<Option<&mut Sidecar>, Error> {
        if self.found.is_none()
            && let Ok(file) = sidecar::create(&self.real)
        {
            wait(&file, &self.real, Instant::now() + self.timeout)?;
            self.found = Some(Sidecar { file });
        }
        Ok(self.found.as_mut())
    }

    pub(super) fn meta(&self) -> Result<Metadata, Error> {
        self.file.metadata().map_err(at("examine", &self.real))
    }

    pub(super) fn len(&self) -> Result<u64, Error> {
        Ok(self.meta()?.len())
    }

    /// The bytes from `start` to `end`.
    pub(super) fn read(&mut self, start: u64, end: u64) -> Result<Vec<u8>, Error> {
        read_range(&mut self.file, start, end).map_err(at("read", &self.real))
    }

    /// Puts bytes to the end, which is at `len`: one write, and more only where the system takes less than
    /// all of it. What was written before a failure is taken back.
    pub(super) fn append(&mut self, bytes: &[u8], len: u64) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|source| {
            let _ = self.file.set_len(len);
            Error::WriteFailed { at: len, source }
        })
    }

    /// Makes what was written durable, the folder too when the file is new.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(at("sync", &self.real))?;
        if self.created {
            sync_folder(&self.real);
        }
        Ok(())
    }

    /// Takes back a file that was made for nothing: it is empty, or holds the `fresh` bytes only.
    pub(super) fn take_back(&self, fresh: Option<u64>) {
        let len = self.file.metadata().map_or(u64::MAX, |it| it.len());
        if (self.created && len == 0) || Some(len) == fresh {
            let _ = std::fs::remove_file(&self.real);
        }
    }
}

/// Waits for an advisory lock of the system.
fn wait(file: &File, real: &Path, deadline: Instant) -> Result<(), Error> {
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(locked(real));
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(10));
            }
            Err(TryLockError::Error(source)) => return Err(at("lock", real)(source)),
        }
    }
}

fn locked(real: &Path) -> Error {
    let unknown = || Holder { pid: 0, host: "?".to_owned(), since: "?".to_owned() };
    let Holder { pid, host, since } = sidecar::holder(real).unwrap_or_else(unknown);
    Error::Locked { pid, host, since }
}

/// The paths that this process holds: locks of the system need not keep its own threads apart.
static HELD: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
static FREED: Condvar = Condvar::new();

#[derive(Debug)]
struct Held(PathBuf);

impl Held {
    fn take(real: &Path, deadline: Instant) -> Result<Self, Error> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        while !held.get_or_insert_default().insert(real.to_owned()) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(locked(real));
            }
            held = FREED.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(Self(real.to_owned()))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.get_or_insert_default().remove(&self.0);
        FREED.notify_all();
    }
}
