//! What a Codex session cost (SE-40): its counts are totals, so the last one counts. A forked session
//! repeats the counts of its origin after that one's header.

use msg_core::Usage;

use super::envelope_of;
use crate::frame::Lines;

pub(super) fn of(lines: &Lines<'_>) -> Usage {
    let mut thread = None;
    let mut last = None;
    for at in 0..lines.records.len() {
        let Some((kind, payload)) = envelope_of(lines, at) else { continue };
        match &*kind {
            "session_meta" => {
                let id = payload.text("id").map(|it| it.into_owned());
                if thread.is_some() && thread != id && last.is_some() {
                    break;
                }
                thread = thread.or(id);
            }
            "event_msg" if payload.text("type").is_some_and(|it| it == "token_count") => {
                let info = payload.get("info").and_then(|it| it.get("total_token_usage"));
                last = info.and_then(|it| it.object()).or(last);
            }
            _ => {}
        }
    }
    let number = |name: &str| last.as_ref().and_then(|it| it.get(name)?.number());
    Usage {
        input: number("input_tokens"),
        output: number("output_tokens"),
        total: number("total_tokens"),
        cached: number("cached_input_tokens"),
        reasoning: number("reasoning_output_tokens"),
        ..Usage::default()
    }
}
