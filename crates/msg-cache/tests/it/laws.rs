//! The laws of comparing (CL-80), over any request body. They read the JSON by serde_json alone.

use msg_cache::{CacheOptions, Comparison, Ledger, LedgerOptions, Relation, compare};
use serde_json::{Value, json};

/// A body with a list of messages, items or contents, and the name of the list.
fn listed(bytes: &[u8]) -> Option<(Value, &'static str)> {
    let body: Value = serde_json::from_slice(bytes).ok()?;
    let names = ["messages", "contents", "input"];
    let name = names.into_iter().find(|it| body.get(it).is_some_and(Value::is_array))?;
    let is_held = body.get("previous_response_id").or(body.get("conversation")).is_some();
    (!is_held).then_some((body, name))
}

fn compared(a: &Value, b: &Value) -> Option<Comparison> {
    let (a, b) = (a.to_string(), b.to_string());
    compare(a.as_bytes(), b.as_bytes(), &CacheOptions::default()).ok()
}

fn said(name: &str, text: &str) -> Value {
    match name {
        "contents" => json!({"role": "user", "parts": [{"text": text}]}),
        _ => json!({"role": "user", "content": text}),
    }
}

/// A request is the same as itself.
pub(crate) fn same_as_itself(bytes: &[u8]) {
    let Some((body, _)) = listed(bytes) else { return };
    let Some(res) = compared(&body, &body) else { return };
    assert_eq!((res.relation, res.first_changed, res.changes.len()), (Relation::Same, None, 0));
}

/// What is appended is never a change, and taking it off again is a rewind.
pub(crate) fn growth_is_never_a_change(bytes: &[u8]) {
    let Some((body, name)) = listed(bytes) else { return };
    let mut grown = body.clone();
    grown[name].as_array_mut().expect("because it is a list").push(said(name, "And then?"));
    let Some(res) = compared(&body, &grown) else { return };
    assert_eq!((res.relation, res.changes.len()), (Relation::Growth, 0), "{body}");
    let back = compared(&grown, &body).expect("because both were compared");
    assert_eq!(back.relation, Relation::Rewind, "{body}");
}

/// One message that became another one is found at its place.
pub(crate) fn a_change_is_found_at_its_place(bytes: &[u8]) {
    let Some((body, name)) = listed(bytes) else { return };
    for at in 0..body[name].as_array().map_or(0, Vec::len) {
        let is_system = matches!(body[name][at]["role"].as_str(), Some("system" | "developer"));
        let mut changed = body.clone();
        changed[name][at] = said(name, "Something else entirely was said here.");
        let Some(res) = compared(&body, &changed) else { return };
        let place = res.first_changed.expect("because a message differs");
        if !is_system {
            assert_eq!((place.level, place.index), ("messages", Some(at)), "{body}");
        }
    }
}

/// A log, which remembers outlines, says of a request what comparing the two bodies says.
pub(crate) fn a_log_agrees_with_its_pairs(a: &[u8], b: &[u8]) {
    let mut ledger = Ledger::new(LedgerOptions::default());
    let rows = [a, b].map(|it| ledger.push(it).ok());
    let [Some(_), Some(row)] = rows else { return };
    let Some(said) = row.comparison else { return };
    let Ok(res) = compare(a, b, &CacheOptions::default()) else { return };
    assert_eq!((said.relation, said.first_changed), (res.relation, res.first_changed));
    assert_eq!(said.changes, res.changes);
    let notes = res.notes.into_iter().filter(|it| *it != "cache::too-short");
    assert_eq!(said.notes, notes.collect::<Vec<_>>());
}
