//! The SQLite stores of agents as files: opened once by a run, never locked or written, and refused while a transaction is
//! being written into them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use msg_session::{Blob, Dialect, SessionStore, StoreSource};

use super::load::FileSource;
use super::places::Stamp;

/// What the journal of a transaction begins with.
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Whether a file is a store.
pub(crate) fn is_store(path: &Path) -> bool {
    let mut start = [0; 16];
    let read = File::open(path).and_then(|mut it| it.read_exact(&mut start));
    read.is_ok() && SessionStore::begins(&start)
}

/// The ids of the sessions of a store, and whose they are.
pub(crate) fn sessions(path: &Path) -> Result<(Dialect, Vec<String>), String> {
    let open = Open::at(path)?;
    let ids = open.store.ids().map_err(said)?;
    open.unchanged((open.store.dialect(), ids))
}

/// The blobs of a session of a store.
pub(crate) fn blobs(path: &Path, id: &str) -> Result<(Dialect, Vec<Blob>), String> {
    let open = Open::at(path)?;
    let blobs = open.store.blobs(id).map_err(said)?;
    open.unchanged((open.store.dialect(), blobs))
}

/// The titles of Codex's threads by id, out of the index `state_*.sqlite` that it keeps beside its sessions.
pub(crate) fn codex_titles(path: &Path) -> Result<Vec<(String, String)>, String> {
    let (source, log) = bytes_of(path)?;
    SessionStore::codex_titles(source, &log).map_err(said)
}

/// A store that was opened, and what its file was like.
struct Open {
    path: PathBuf,
    stamp: Stamp,
    store: SessionStore,
}

impl Open {
    /// Each file is opened once by a run of the program.
    fn at(path: &Path) -> Result<Arc<Self>, String> {
        static OPEN: Mutex<Vec<Arc<Open>>> = Mutex::new(Vec::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.iter().find(|it| it.path == path && it.stamp.holds()) {
            return Ok(Arc::clone(known));
        }
        let stamp = Stamp::of(path).map_err(said)?;
        let (source, log) = bytes_of(path)?;
        let store = SessionStore::open(source, &log).map_err(said)?;
        let opened = Arc::new(Self { path: path.to_owned(), stamp, store });
        open.push(Arc::clone(&opened));
        Ok(opened)
    }

    fn unchanged<T>(&self, res: T) -> Result<T, String> {
        match self.stamp.holds() {
            true => Ok(res),
            false => Err("it changed while it was read: it is in use".to_owned()),
        }
    }
}

/// A file and its write-ahead log.
fn bytes_of(path: &Path) -> Result<(StoreSource, Vec<u8>), String> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut start = [0; 8];
    let journal = File::open(beside("-journal")).and_then(|mut it| it.read_exact(&mut start));
    if journal.is_ok() && start == JOURNAL {
        return Err("a transaction is being written into it: end its program first".to_owned());
    }
    let source = File::open(path).and_then(FileSource::new).map_err(said)?;
    Ok((Box::new(source), fs::read(beside("-wal")).unwrap_or_default()))
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn said(error: io::Error) -> String {
    error.to_string()
}
