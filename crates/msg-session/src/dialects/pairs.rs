//! Calls and results of agents that mend most of it themselves (pi, copilot-cli): what is left to be said (SE-32, SE-33,
//! SE-35, SE-36).

use std::borrow::Cow;
use std::collections::HashMap;

use msg_core::Severity;

use crate::finding::{Finding, SessionPlace};

/// What is on a path, in order.
pub(super) enum Event<'a> {
    /// Somebody begins to say something else than a result.
    Says,
    Call(Cow<'a, str>, SessionPlace),
    Result(Cow<'a, str>, SessionPlace),
}

/// What is wrong with calls and results.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) findings: Vec<Finding>,
    /// Results that answer no call, or one that has a result, by the number of their event.
    pub(super) dropped: Vec<usize>,
}

/// Checks a path; `severity` is that of a result too many. Linear.
pub(super) fn check(events: &[Event<'_>], severity: Severity) -> Pairs {
    let mut res = Pairs::default();
    // Of each id its last call: the number of its event, and whether it has a result.
    let mut calls: HashMap<&str, (usize, bool)> = HashMap::new();
    let mut open = Vec::new();
    let mut last_says = None;
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Says => last_says = Some(at),
            Event::Call(id, _) => {
                let before = calls.insert(id, (at, false));
                open.extend(before.filter(|it| !it.1).map(|it| it.0));
            }
            Event::Result(id, place) => {
                let (code, message) = match calls.get_mut(&**id) {
                    Some((_, is_answered)) if !*is_answered => {
                        *is_answered = true;
                        continue;
                    }
                    Some(_) => {
                        ("session::duplicate-result", format!("second result of call `{id}`"))
                    }
                    None => {
                        let message = format!("tool result `{id}` matches no earlier call");
                        ("session::orphan-result", message)
                    }
                };
                res.dropped.push(at);
                let finding = Finding::new(severity, code, *place, message);
                res.findings.push(finding);
            }
        }
    }
    open.extend(calls.into_values().filter(|it| !it.1).map(|it| it.0));
    open.sort_unstable();
    for at in open {
        let Event::Call(id, place) = &events[at] else { continue };
        let (code, message) = match last_says > Some(at) {
            true => ("session::unanswered-call", format!("call `{id}` has no result")),
            false => {
                let message = format!("the session ends with call `{id}`, which has no result yet");
                ("session::open-call", message)
            }
        };
        res.findings.push(Finding::warning(code, *place, message));
    }
    res
}
