//! A session in another place (SE-81): the same bytes, but for the id and the folder of the project wherever the agent
//! looks for them.

use crate::edit::{Edit, apply};
use crate::frame::read_lines;
use crate::json::{Object, Value, quoted};
use crate::write::project_hash;
use crate::{Dialect, SessionOptions};

/// The session `bytes` under the id `id`, of the project in the folder `cwd`. The id is in the header of Codex, Gemini
/// CLI, pi and Copilot CLI and in each record of Claude Code and Qwen Code; the folder is in the header, in the first
/// record of Qwen Code, and nowhere that Claude Code looks. Of other dialects the bytes are given back. Linear.
///
/// ```
/// use msg_session::{Dialect, rehomed};
///
/// let header = br#"{"type":"session_meta","payload":{"id":"old","cwd":"/"}}"#.to_vec();
/// let moved = rehomed(Dialect::Codex, header, "new", "/srv");
/// assert_eq!(moved, br#"{"type":"session_meta","payload":{"id":"new","cwd":"/srv"}}"#);
/// ```
pub fn rehomed(dialect: Dialect, bytes: Vec<u8>, id: &str, cwd: &str) -> Vec<u8> {
    let lines = read_lines(&bytes, SessionOptions::default().max_record);
    // What has faults stays as it is: they are doctor's to mend.
    if !lines.findings.is_empty() {
        return bytes;
    }
    let objects = || (0..lines.records.len()).filter_map(|it| lines.object(it));
    let mut ids: Vec<_> = objects().filter_map(|it| Some(old_id(dialect, &it)?.span())).collect();
    let folder = objects().find_map(|it| Some(old_folder(dialect, &it)?.span()));
    if dialect == Dialect::Codex {
        // A fork repeats the header of its parent, whose id is another one.
        ids.truncate(1);
    }
    let mut edits: Vec<_> = ids.into_iter().map(|it| Edit::replace(it, quoted(id))).collect();
    let folder_now = match dialect {
        Dialect::GeminiCli => project_hash(cwd),
        _ => cwd.to_owned(),
    };
    edits.extend(folder.map(|it| Edit::replace(it, quoted(&folder_now))));
    apply(&lines.text, edits).into_bytes()
}

/// The header of a session, of the dialects that have one in an envelope.
fn header<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Object<'a>> {
    let (kind, inner) = match dialect {
        Dialect::Codex => ("session_meta", Some("payload")),
        Dialect::CopilotCli => ("session.start", Some("data")),
        Dialect::Pi => ("session", None),
        _ => return None,
    };
    record.text("type").filter(|it| it == kind)?;
    match inner {
        Some(name) => record.inner(name),
        None => Some(record.clone()),
    }
}

/// The id of the session that a record names.
fn old_id<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Value<'a>> {
    match dialect {
        Dialect::Codex | Dialect::Pi => header(dialect, record)?.get("id"),
        Dialect::CopilotCli => header(dialect, record)?.get("sessionId"),
        Dialect::ClaudeCode | Dialect::QwenCode | Dialect::GeminiCli => record.get("sessionId"),
        _ => None,
    }
}

/// The folder of the project that a record names, or its hash.
fn old_folder<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Value<'a>> {
    match dialect {
        Dialect::Codex | Dialect::Pi => header(dialect, record)?.get("cwd"),
        Dialect::CopilotCli => header(dialect, record)?.inner("context")?.get("cwd"),
        Dialect::GeminiCli => record.get("projectHash"),
        Dialect::QwenCode => record.get("cwd"),
        _ => None,
    }
}
