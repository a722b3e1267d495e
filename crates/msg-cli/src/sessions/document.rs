//! A session as the one document that `check`, `convert`, `view`, `stats` and `fit` take: a folder, the id of a
//! session, `latest`, or `STORE#ID`.

use std::io;
use std::path::{Path, PathBuf};

use super::load::{load, locate};
use super::stores;
use crate::exit::Failure;

/// What a path names.
pub(crate) enum Named {
    /// The file of that path.
    File,
    /// A session of one file that is elsewhere.
    Session(PathBuf),
    /// A session of several files, or of a store: how it is called, and its document.
    Read(String, Vec<u8>),
}

/// What a path names. A session that has to be read may have so many bytes.
pub(crate) fn of(path: &Path, max_bytes: u64) -> Result<Named, Failure> {
    if path.is_file() && !stores::is_store(path) {
        return Ok(Named::File);
    }
    let (found, _) = locate(path, None)?;
    let is_named = found != path || found.to_str().is_some_and(|it| it.contains(".db#"));
    if !path.exists() && !is_named {
        return Ok(Named::File);
    }
    if found.is_file() && !stores::is_store(&found) {
        return Ok(Named::Session(found));
    }
    // A folder that is not a session means its files.
    let mut loaded = match load(&found, None, max_bytes) {
        Err(Failure::Read { source, .. })
            if found.is_dir() && source.kind() != io::ErrorKind::FileTooLarge =>
        {
            return Ok(Named::File);
        }
        loaded => loaded?,
    };
    let name = loaded.name.clone();
    let session = loaded.session(None);
    let session = session.map_err(|it| Failure::read(&name, io::Error::other(it.to_string())))?;
    Ok(Named::Read(name, session.into_document()))
}
