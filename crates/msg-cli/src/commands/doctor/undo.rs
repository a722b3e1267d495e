//! `msg doctor --undo`: the newest backup of a session comes back (SE-145). What it is now becomes a backup, so that
//! another `--undo` takes this one back.

use std::path::{Path, PathBuf};

use msg_session::Dialect;
use serde::Serialize;

use super::mend::in_use_or;
use crate::exit::Failure;
use crate::output::json_line;
use crate::paths::explained;
use crate::render::safe;
use crate::sessions::load::{files_of, locate};
use crate::sessions::put_back::{newest_backup, put_backup_back};

/// What was put back.
#[derive(Debug, Serialize)]
pub(super) struct Undone {
    path: String,
    /// The backup that came back; it stays.
    restored: String,
    /// The backup of what was there.
    backup: String,
}

impl Undone {
    pub(super) fn json(&self) -> Vec<u8> {
        json_line(self)
    }

    pub(super) fn text(&self) -> String {
        let [path, restored, backup] =
            [&self.path, &self.restored, &self.backup].map(|it| safe(it));
        format!("{path}: {restored} is back; what was there is {backup}\n")
    }
}

/// Puts the newest backup of the session that `path` names back.
pub(super) fn undo(path: &Path, from: Option<Dialect>, force: bool) -> Result<Undone, Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::Usage("--undo needs a file, not standard input".to_owned()));
    }
    let path = locate(path, from)?.0;
    let name = path.display().to_string();
    let refuse = |it: String| Failure::Refused(format!("{}: {it}", safe(&name)));
    let files = files_of(&path).map_err(|it| Failure::read(&name, explained(&path, it)));
    let (root, stamps) = files?;
    let files: Vec<PathBuf> = stamps.iter().map(|it| it.path.clone()).collect();
    let Some(restored) = newest_backup(&root, &files) else {
        return Err(refuse("no backup of it (NAME.bakN beside it)".to_owned()));
    };
    if !force {
        in_use_or(&stamps).map_err(|it| refuse(format!("{it}, or use --force")))?;
    }
    let backup = put_backup_back(&root, &stamps, &restored);
    let backup = backup.map_err(|it| refuse(it.to_string()))?.display().to_string();
    Ok(Undone { path: name, restored: restored.display().to_string(), backup })
}
