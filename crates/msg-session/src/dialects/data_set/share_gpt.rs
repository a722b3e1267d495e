//! A ShareGPT conversation (SE-70).

use msg_core::{Message, Role};

use super::Faults;
use crate::json::{Object, Value};
use crate::parts::share_gpt::{ShareGptTurns, is_call, role};
use crate::view::{Draft, Origin, View};

pub(super) fn check(line: &Object<'_>) -> Faults {
    let mut faults = Faults::default();
    let turns = line.list("conversations");
    let turns: Option<Vec<_>> = turns.iter().map(|it| turn(*it)).collect();
    let Some(turns) = turns.filter(|it| !it.is_empty()) else {
        faults.add("session::bad-shape", "the line has no list of turns of from and value");
        return faults;
    };
    if turns.iter().any(|it| matches!(role(&it.0), Role::Other(_))) {
        faults.add("session::unknown-role", "unknown role of a turn");
        return faults;
    }
    turns.iter().for_each(|it| content(it, &mut faults));
    if turns.iter().skip(1).any(|it| role(&it.0) == Role::System) {
        faults.add("session::misplaced-system", "a system text is not the first turn");
    }
    let turns = turns.iter().map(|it| (role(&it.0), is_call(&it.0)));
    let turns: Vec<_> = turns.filter(|it| it.0 != Role::System).collect();
    order(&turns, &mut faults);
    ends(&turns, &mut faults);
    faults
}

/// Who says it, and what.
fn turn(value: Value<'_>) -> Option<(String, String)> {
    let object = value.object()?;
    Some((object.text("from")?.into_owned(), object.text("value")?.into_owned()))
}

fn content((from, value): &(String, String), faults: &mut Faults) {
    let is_object = |it: Value<'_>| it.object().is_some();
    let is_call_or_list = |it: Value<'_>| match it.array() {
        Some(list) => list.into_iter().all(is_object),
        None => is_object(it),
    };
    if value.is_empty() {
        faults.add("session::empty-message", "a turn has no text");
    } else if is_call(from) && !Value::whole(value, 0).is_some_and(is_call_or_list) {
        faults.add("session::bad-arguments", "call is not a JSON object");
    }
}

/// Of each turn but system texts its role, and whether it is a call.
fn order(turns: &[(Role, bool)], faults: &mut Faults) {
    let is_answer = |it: &(Role, bool)| it.0 == Role::Assistant;
    if turns.iter().enumerate().any(|(at, it)| is_answer(it) != (at % 2 == 1)) {
        faults.add("session::alternation", "human and gpt do not take turns");
    }
    let before = [false].into_iter().chain(turns.iter().map(|it| it.1));
    for (is_behind_call, it) in before.zip(turns) {
        match (is_behind_call, it.0 == Role::Tool) {
            (true, false) => {
                faults.add("session::unanswered-call", "call without an observation after it");
            }
            (false, true) => {
                faults.add("session::orphan-result", "observation without a call before it");
            }
            _ => {}
        }
    }
}

fn ends(turns: &[(Role, bool)], faults: &mut Faults) {
    let is_answer = |it: &(Role, bool)| it.0 == Role::Assistant;
    if !turns.iter().any(is_answer) {
        faults.add("session::no-assistant", "the line has no answer");
    } else if !turns.last().is_some_and(is_answer) {
        faults.add("session::last-not-assistant", "the line does not end with an answer");
    }
}

pub(super) fn view(line: &Object<'_>, at: usize) -> View {
    let mut view = View::default();
    if let Some(system) = line.text("system") {
        push(&mut view, Message::system(system), Origin::record(at));
    }
    let mut turns = ShareGptTurns::default();
    for (n, value) in line.list("conversations").into_iter().enumerate() {
        if let Some((from, text)) = turn(value) {
            push(&mut view, turns.read(&from, &text), Origin::block(at, n));
        }
    }
    view
}

/// Adds a message that says something.
fn push(view: &mut View, message: Message, origin: Origin) {
    let mut draft = Draft::new(message.role);
    let parts = message.parts.into_iter().filter(|it| it.as_text() != Some(""));
    parts.for_each(|it| draft.push(it, origin));
    view.push(draft);
}
