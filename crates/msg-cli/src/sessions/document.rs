//! A session as the one document that `check`, `convert`, `view`, `stats` and `fit` take: a folder, the id of a
//! session, `latest`, or `STORE#ID`.

use std::fs;
use std::io;
use std::path::Path;

use super::load::{load, locate};
use super::stores;
use crate::exit::Failure;

/// The name and bytes of the session that a path names, if the path is no plain file.
pub(crate) fn of(path: &Path) -> Result<Option<(String, Vec<u8>)>, Failure> {
    if path.is_file() && !stores::is_store(path) {
        return Ok(None);
    }
    let (found, _) = locate(path, None)?;
    let is_named = found != path || found.to_str().is_some_and(|it| it.contains(".db#"));
    if !path.exists() && !is_named {
        return Ok(None);
    }
    if found.is_file() && !stores::is_store(&found) {
        let name = found.display().to_string();
        let bytes = fs::read(&found).map_err(|it| Failure::read(&name, it))?;
        return Ok(Some((name, bytes)));
    }
    // Of a folder that is no session its files are meant.
    let mut loaded = match load(&found, None) {
        Err(_) if found.is_dir() => return Ok(None),
        loaded => loaded?,
    };
    let name = loaded.name.clone();
    let session = loaded.session(None);
    let session = session.map_err(|it| Failure::read(&name, io::Error::other(it.to_string())))?;
    Ok(Some((name, session.into_document())))
}
