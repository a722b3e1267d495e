//! What agents leave on disk that is not a session by itself, and the logs of other agents.

use super::{Foreign, certain_if};
use crate::codec::Likelihood;
use crate::outline::{Outline, Record, ValueKind};

pub(super) static TABLE: &[Foreign] = &[
    Foreign::new(
        "a file of a session of OpenCode, which msg doctor reads with its folder",
        opencode,
    ),
    Foreign::new("an event of OpenHands, which msg doctor reads with its folder", openhands),
    Foreign::new("the log of another agent", other_logs),
    Foreign::new("a SQLite database", |it| begins(it, b"SQLite format 3\0")),
    Foreign::new("a zip archive", |it| begins(it, b"PK\x03\x04")),
    Foreign::new("a gzip archive", |it| begins(it, b"\x1f\x8b")),
];

fn begins(outline: &Outline<'_>, mark: &[u8]) -> Likelihood {
    certain_if(outline.source().is_some_and(|it| it.starts_with(mark)))
}

fn opencode(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.has("sessionID")
            || it.has("callID") && it.has("time")
            || it.has("id") && it.has("time") && it.has("projectID")
            || it.has("worktree") && it.has("time")
    };
    let is_stored = |it: &Record<'_>| {
        it.member("time") == Some(ValueKind::Object)
            && it.has("id")
            && (it.role.is_some() || it.kind.is_some() || it.has("title"))
    };
    let exported = outline.messages().is_some_and(|it| it.records().any(of_it));
    certain_if(exported || outline.entries().any(|it| of_it(it) || is_stored(it)))
}

fn openhands(outline: &Outline<'_>) -> Likelihood {
    let is_event = |it: &Record<'_>| {
        it.has("source") && it.has("timestamp") && it.has("kind")
            || it.has("source") && it.has("action") && it.has("args")
            || it.has("source") && it.has("observation")
    };
    let of_it = |name: &str| outline.member(name).is_some();
    let is_state = of_it("agent") && of_it("workspace") && of_it("id");
    let listed = outline.list("").is_some_and(|it| it.records().any(is_event));
    certain_if(is_state || listed || outline.entries().any(is_event))
}

/// Lines and documents that are plainly the log of a program, whichever it is.
fn other_logs(outline: &Outline<'_>) -> Likelihood {
    let is_event = |it: &Record<'_>| {
        it.kind.is_some_and(is_of_a_log)
            || it.has("sessionId") && it.has("timestamp")
            || it.has("parentId") && it.has("timestamp")
            || it.message().is_some_and(|message| message.has("content")) && it.role.is_some()
            || it.message().is_some() && it.kind == Some("message")
            || it.has("step_index") && it.has("source")
            || it.kind.is_some_and(|it| matches!(it, "system" | "user" | "assistant"))
                && it.role.is_none()
            || it.has("systemPayload") && it.has("uuid")
    };
    let is_state =
        outline.member("session_id").is_some() && outline.member("message_count").is_some();
    certain_if(is_state || outline.entries().any(is_event))
}

/// Events of the Responses API are named so too, and are no log.
fn is_of_a_log(kind: &str) -> bool {
    kind.contains('.') && !kind.starts_with("response.") || kind.starts_with("session")
}
