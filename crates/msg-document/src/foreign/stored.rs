//! Files of sessions that are read with the others of their folder.

use crate::outline::{Outline, Record, ValueKind};
use crate::refusal::{Refusal, foreign};

/// The refusal of a file that is one of a session's; none of what is not.
pub(crate) fn stored(outline: &Outline<'_>) -> Option<Refusal> {
    let what = if opencode(outline) {
        "a file of a session of OpenCode"
    } else if openhands(outline) {
        "an event of OpenHands"
    } else {
        return None;
    };
    let text = format!("this looks like {what}, which msg doctor reads with its folder");
    Some(foreign(text).into())
}

fn opencode(outline: &Outline<'_>) -> bool {
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
    exported || outline.entries().any(|it| of_it(it) || is_stored(it))
}

fn openhands(outline: &Outline<'_>) -> bool {
    let is_event = |it: &Record<'_>| {
        it.has("source") && it.has("timestamp") && it.has("kind")
            || it.has("source") && it.has("action") && it.has("args")
            || it.has("source") && it.has("observation")
    };
    let of_it = |name: &str| outline.member(name).is_some();
    let is_state = of_it("agent") && of_it("workspace") && of_it("id");
    let listed = outline.list("").is_some_and(|it| it.records().any(is_event));
    is_state || listed || outline.entries().any(is_event)
}
