//! A session under another id (SE-81): the same bytes, but for the id wherever the agent looks for it.

use crate::edit::{Edit, apply};
use crate::frame::read_lines;
use crate::json::{Object, Value, quoted};
use crate::{Dialect, RepairOptions};

/// The session `bytes` under the id `id`: in the header of Codex and Gemini CLI, in each record of Claude Code and Qwen
/// Code. Of other dialects the bytes are given back. Linear.
///
/// ```
/// use msg_session::{Dialect, with_session_id};
///
/// let header = br#"{"type":"session_meta","payload":{"id":"old","cwd":"/"}}"#.to_vec();
/// let renamed = with_session_id(Dialect::Codex, header, "new");
/// assert_eq!(renamed, br#"{"type":"session_meta","payload":{"id":"new","cwd":"/"}}"#);
/// ```
pub fn with_session_id(dialect: Dialect, bytes: Vec<u8>, id: &str) -> Vec<u8> {
    let lines = read_lines(&bytes, RepairOptions::default().max_record);
    // What has faults stays as it is: they are doctor's to mend.
    if !lines.findings.is_empty() {
        return bytes;
    }
    let objects = (0..lines.records.len()).filter_map(|it| lines.object(it));
    let mut spans: Vec<_> = objects.filter_map(|it| Some(old_id(dialect, &it)?.span())).collect();
    if dialect == Dialect::Codex {
        // A fork repeats the header of its parent, whose id is another one.
        spans.truncate(1);
    }
    let edits = spans.into_iter().map(|it| Edit::replace(it, quoted(id))).collect();
    apply(&lines.text, edits).into_bytes()
}

/// The id of the session that a record names.
fn old_id<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Value<'a>> {
    match dialect {
        Dialect::Codex => {
            let is_header = record.text("type").is_some_and(|it| it == "session_meta");
            record.inner("payload").filter(|_| is_header)?.get("id")
        }
        Dialect::ClaudeCode | Dialect::QwenCode | Dialect::GeminiCli => record.get("sessionId"),
        _ => None,
    }
}
