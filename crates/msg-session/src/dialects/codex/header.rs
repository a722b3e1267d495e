//! The header of a Codex session (SE-55).

use super::envelope_of;
use crate::edit::{Edit, set_member};
use crate::excerpt::spelled;
use crate::finding::{Finding, Place};
use crate::frame::Lines;

/// What is known of the header.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Header {
    /// Its record, if it must move to the front.
    pub(super) misplaced: Option<usize>,
    /// Whether lines are numbered.
    pub(super) is_paginated: bool,
}

pub(super) fn check(
    lines: &Lines<'_>,
    name: &str,
    findings: &mut Vec<Finding>,
    edits: &mut Vec<Edit>,
) -> Header {
    let headers = (0..lines.records.len()).find_map(|at| {
        let (kind, payload) = envelope_of(lines, at)?;
        (kind == "session_meta").then_some((at, payload))
    });
    let Some((at, payload)) = headers else {
        let message = "the session has no header, without which Codex does not load it";
        findings.push(Finding::error("session::missing-header", Place::line(1), message));
        return Header::default();
    };
    let misplaced = (at > 0).then_some(at);
    if misplaced.is_some() {
        let message = "the header of the session is not its first line";
        let finding = Finding::error("session::misplaced-header", lines.place(at), message);
        findings.push(finding.mended("move the header to the front", false));
    }
    let id = payload.text("id").unwrap_or_default();
    if let Some(named) = uuid_of(name)
        && named != id
    {
        let message = format!("the file is named after the session {named}, its header says {id}");
        findings.push(Finding::error("session::id-mismatch", lines.place(at), message));
    }
    let mut bad = |message: &'static str, fix: Option<(&'static str, Edit)>| {
        let finding = Finding::error("session::bad-header", lines.place(at), message);
        match fix {
            Some((text, edit)) => {
                findings.push(finding.mended(text, false));
                edits.push(edit);
            }
            None => findings.push(finding),
        }
    };
    if !payload.has("timestamp") {
        let time = lines.object(at).and_then(|it| it.get("timestamp"));
        let fix = time.map(|it| {
            ("set the time of its record", set_member(&payload, "timestamp", spelled(it.source)))
        });
        bad("the header has no timestamp, without which Codex does not load the session", fix);
    }
    let mode = payload.text("history_mode");
    let is_known = |it: &str| matches!(it, "legacy" | "paginated");
    let mut is_paginated = mode.as_deref() == Some("paginated");
    if mode.is_some_and(|it| !is_known(&it)) {
        let has_number = |it: usize| lines.object(it).is_some_and(|it| it.has("ordinal"));
        is_paginated = (0..lines.records.len()).all(has_number);
        let known = if is_paginated { "\"paginated\"" } else { "\"legacy\"" };
        let edit = set_member(&payload, "history_mode", known);
        let message = "the header has a history_mode that Codex does not know";
        bad(message, Some(("set the one that the lines are written in", edit)));
    }
    Header { misplaced, is_paginated }
}

/// The uuid that the name of a rollout file ends with.
fn uuid_of(name: &str) -> Option<&str> {
    let name = name.rsplit(['/', '\\']).next()?;
    let stem = name.strip_suffix(".jsonl")?;
    let uuid = stem.get(stem.len().checked_sub(36)?..)?;
    let is_uuid = uuid.bytes().enumerate().all(|(at, it)| match at {
        8 | 13 | 18 | 23 => it == b'-',
        _ => it.is_ascii_hexdigit(),
    });
    is_uuid.then_some(uuid)
}
