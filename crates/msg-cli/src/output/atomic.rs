//! A file that appears whole or not at all: a temporary one in the same folder, synced, renamed over the
//! target (SE-92). Dropped before that, it leaves no file.
//!
//! Where the target is an input, it must still be what was read, and it is left alone if it would get the
//! bytes that it has. The session of an agent must not be in use, and gets a backup first.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use msg_file::store;
use tempfile::NamedTempFile;

use super::Finished;
use crate::paths::folder;
use crate::sessions::in_use;
use crate::sessions::places::Stamp;
use crate::sessions::put_back::{back_up_file, held, keep_owner, persist, sync};
use crate::signals;

/// How long is waited for who appends to the file.
const LONGEST_LOCK: Duration = Duration::from_secs(10);

/// How much of two files is compared at once.
const BLOCK: usize = 64 << 10;

pub(super) struct Atomic {
    temporary: NamedTempFile,
    path: PathBuf,
    replaces: Option<Replaces>,
}

/// An input that is replaced.
struct Replaces {
    /// As it was when it was read.
    stamp: Stamp,
    is_session: bool,
}

impl Atomic {
    /// A new file at `path`, with the permissions of the one that is there.
    pub(super) fn new(path: PathBuf, existing: Option<fs::Permissions>) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".msg-");
        #[cfg(unix)]
        if existing.is_none() {
            use std::os::unix::fs::PermissionsExt;
            // What any program would create; the process's mask still applies.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let folder = folder(&path);
        let made = signals::temporary(|| held(&mut builder, folder), |it| it.path().to_owned());
        let temporary = made.map_err(|it| explained(it, folder))?;
        if let Some(permissions) = existing {
            temporary.as_file().set_permissions(permissions)?;
        }
        Ok(Atomic { temporary, path, replaces: None })
    }

    /// What replaces the input at `path`.
    pub(super) fn replacing(path: PathBuf, stamp: Stamp) -> io::Result<Self> {
        let permissions = fs::metadata(&path)?.permissions();
        if permissions.readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is write-protected"));
        }
        let replaces = Some(Replaces { stamp, is_session: false });
        Ok(Atomic { replaces, ..Atomic::new(path, Some(permissions))? })
    }

    pub(super) fn replaces_a_session(&mut self) {
        if let Some(it) = &mut self.replaces {
            it.is_session = true;
        }
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.replaces.is_some()
    }

    pub(super) fn is_blank(&self) -> bool {
        self.temporary.as_file().metadata().is_ok_and(|it| it.len() == 0)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.temporary.write_all(bytes)
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> io::Result<Finished> {
        let mut held = None;
        if let Some(replaces) = &self.replaces {
            if is_same_text(self.temporary.path(), &self.path)? {
                return Ok(Finished::Unchanged);
            }
            // From here on no process appends to it; what takes long is done before.
            sync(&self.temporary)?;
            let lock = store::lock(&self.path, LONGEST_LOCK).map_err(io::Error::other)?;
            replaces.prepare(&self.path)?;
            held = Some(lock);
            keep_owner(self.temporary.path(), &fs::metadata(&self.path)?);
        }
        let name = self.temporary.path().to_owned();
        persist(self.temporary, &self.path)?;
        drop(held);
        signals::forget(&name);
        Ok(Finished::Written)
    }
}

impl Replaces {
    /// Fails where the file must not be replaced; makes the backup of a session.
    fn prepare(&self, path: &Path) -> io::Result<()> {
        if self.is_session {
            if let Some(why) = in_use::why(&self.stamp) {
                return Err(io::Error::other(why));
            }
            back_up_file(path)?;
        }
        match self.stamp.holds() {
            true => Ok(()),
            false => Err(io::Error::other("it changed since it was read; nothing is written")),
        }
    }
}

/// The system's error names a temporary file that the user never named.
fn explained(error: io::Error, folder: &Path) -> io::Error {
    let text = match error.kind() {
        io::ErrorKind::NotFound => format!("no such folder: {}", folder.display()),
        io::ErrorKind::PermissionDenied => format!("no file may be made in {}", folder.display()),
        _ => return error,
    };
    io::Error::new(error.kind(), text)
}

fn is_same_text(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    loop {
        let (mut a, mut b) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        (&mut one).take(BLOCK as u64).read_to_end(&mut a)?;
        (&mut other).take(BLOCK as u64).read_to_end(&mut b)?;
        if a != b || a.is_empty() {
            return Ok(a == b);
        }
    }
}
