//! Where agents put their sessions (SE-11). Read only: nothing is locked, written or followed out of its
//! folder.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use msg_session::{Dialect, Machine, SessionFolder, System};

use super::stores;
use crate::context::Context;
use crate::render::safe;

/// A session that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) dialect: Dialect,
    pub(crate) changed: Option<SystemTime>,
}

/// The sessions of all places, or of those of one dialect. What cannot be read is named in `warnings`.
pub(crate) fn scan(dialect: Option<Dialect>, warnings: &mut Vec<String>) -> Vec<Found> {
    let mut res = Vec::new();
    let folders = machine().session_folders().into_iter();
    for place in folders.filter(|it| dialect.is_none_or(|wanted| it.dialect == wanted)) {
        if place.root.is_dir() {
            walk(&place, &place.root, place.depth, &mut res, warnings);
        }
    }
    // A build that reads no stores names those that are there (SE-151).
    let stores = machine().session_stores().into_iter().filter(|it| it.1.is_file());
    stores.for_each(|it| in_store(&it.1, dialect, &mut res, warnings));
    res
}

/// The sessions of a store, as `STORE#ID`.
fn in_store(
    path: &Path,
    wanted: Option<Dialect>,
    found: &mut Vec<Found>,
    warnings: &mut Vec<String>,
) {
    match stores::sessions(path) {
        Ok((dialect, ids)) if wanted.is_none_or(|it| it == dialect) => {
            let changed = fs::metadata(path).and_then(|it| it.modified()).ok();
            let named = |id: &String| PathBuf::from(format!("{}#{id}", path.display()));
            found.extend(ids.iter().map(|it| Found { path: named(it), dialect, changed }));
        }
        Ok(_) => {}
        Err(error) => warnings.push(format!("cannot read {}: {error}", path.display())),
    }
}

/// A session to look at, and whose it is where its place says so.
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) dialect: Option<Dialect>,
}

/// The sessions in the files and folders that somebody named, or in all places of agents.
pub(crate) fn find(
    named: &[PathBuf],
    dialect: Option<Dialect>,
    warnings: &mut Vec<String>,
) -> Vec<Candidate> {
    let mut res: Vec<Candidate> = match named {
        [] => scan(dialect, warnings)
            .into_iter()
            .map(|it| Candidate { path: it.path, dialect: Some(it.dialect) })
            .collect(),
        named => named
            .iter()
            .flat_map(|it| scan_folder(it, warnings))
            .map(|path| Candidate { path, dialect: None })
            .collect(),
    };
    res.sort_by(|a, b| a.path.cmp(&b.path));
    res.dedup_by(|a, b| a.path == b.path);
    res
}

fn scan_folder(path: &Path, warnings: &mut Vec<String>) -> Vec<PathBuf> {
    const SUFFIXES: &[&str] = &[".jsonl", ".json", ".traj", ".eval", ".aider.chat.history.md"];
    let mut res = Vec::new();
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let (dialect, root) = (Dialect::ClaudeCode, path.to_owned());
    let place = SessionFolder { dialect, root, depth: 8, suffixes: SUFFIXES };
    walk(&place, path, place.depth, &mut res, warnings);
    res.into_iter().map(|it| it.path).collect()
}

/// Says what could not be read.
pub(crate) fn warn(cx: &Context, warnings: &[String]) {
    for it in warnings {
        cx.note(&format!("warning: {}\n", safe(it)));
    }
}

/// The id of a session: the name of its file or folder.
pub(crate) fn id(path: &Path) -> String {
    if let Some((_, id)) = path.to_str().and_then(|it| it.rsplit_once(".db#")) {
        return id.to_owned();
    }
    let name = match path.file_name().and_then(|it| it.to_str()) {
        Some("api_conversation_history.json" | "claude_messages.json" | "events.jsonl") => {
            path.parent()
        }
        _ => Some(path),
    };
    let name = name.and_then(|it| it.file_stem()).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// This machine.
fn machine() -> Machine<'static> {
    Machine::new(System::current(), &|name| env::var_os(name).map(PathBuf::from))
}

/// The folder of a variable, or this one of the home folder.
pub(crate) fn or_home(name: &str, rest: &str) -> PathBuf {
    machine().folder(name, rest)
}

/// The names of Codex's threads by id: the last line of an id wins, and a name that somebody gave over the
/// title of the index.
pub(crate) fn codex_names() -> HashMap<String, String> {
    let root = or_home("CODEX_HOME", ".codex");
    let text = fs::read_to_string(root.join("session_index.jsonl")).unwrap_or_default();
    let name = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| line.get(name)?.as_str().map(str::to_owned);
        Some((text("id")?, text("thread_name")?))
    };
    let mut res = codex_titles(&root);
    res.extend(text.lines().filter_map(name));
    res
}

/// The titles of the newest `state_N.sqlite`; none if there is none, or stores are not read.
fn codex_titles(root: &Path) -> HashMap<String, String> {
    let names = fs::read_dir(root).into_iter().flatten().flatten().map(|it| it.path());
    let version = |it: &PathBuf| {
        let name = it.file_name()?.to_str()?;
        name.strip_prefix("state_")?.strip_suffix(".sqlite")?.parse::<u32>().ok()
    };
    let newest = names.filter_map(|it| Some((version(&it)?, it))).max();
    let titles = newest.and_then(|it| stores::codex_titles(&it.1).ok());
    titles.into_iter().flatten().collect()
}

fn walk(
    place: &SessionFolder,
    folder: &Path,
    depth: usize,
    found: &mut Vec<Found>,
    warnings: &mut Vec<String>,
) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return warnings.push(format!("cannot read {}: {error}", folder.display())),
    };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        // A link could lead out of the folder, or round in it.
        if kind.is_dir() && depth > 1 {
            walk(place, &path, depth - 1, found, warnings);
        } else if kind.is_file() && is_session(place, &path) {
            let Ok(meta) = entry.metadata() else { continue };
            let changed = meta.modified().ok();
            found.push(Found { path, dialect: place.dialect, changed });
        }
    }
}

fn is_session(place: &SessionFolder, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_gemini = place.dialect != Dialect::GeminiCli
        || path.parent().is_some_and(|it| it.components().any(|it| it.as_os_str() == "chats"));
    is_gemini && place.suffixes.iter().any(|it| name.ends_with(it))
}
