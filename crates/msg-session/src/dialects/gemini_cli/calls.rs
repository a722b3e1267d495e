//! Calls without a result, and results that name another call (SE-62, SE-63).

use std::collections::HashSet;

use super::{Edits, id_of};
use crate::dialects::gemini_cli::view::{Kind, Message};
use crate::edit::{Edit, set_member};
use crate::finding::{Finding, Place};
use crate::json::{Object, Value};
use crate::parts::INTERRUPTED;

/// Calls of a message that have no result, neither with them nor in `answered`, and results that name another one.
pub(super) fn check(
    message: &Message<'_>,
    answered: &HashSet<String>,
    findings: &mut Vec<Finding>,
    edits: &mut Edits,
) {
    if message.kind != Kind::Gemini {
        return;
    }
    let (place, message) = (message.place, &message.object);
    let calls = message.list("toolCalls");
    let mut ids = HashSet::new();
    for (at, call) in calls.iter().enumerate() {
        let Some(call) = call.object() else { continue };
        ids.extend(id_of(&call));
        let place = place.with_block(at);
        if has_result(&call) {
            check_ids(&call, place, findings, edits);
        } else if !id_of(&call).is_some_and(|it| answered.contains(&*it)) {
            findings.push(unanswered(&call, place));
            edits.push(set_member(&call, "result", result(&call)));
        }
    }
    let missing: Vec<_> = content_calls(message)
        .filter(|it| id_of(it).is_some_and(|id| !ids.contains(&id) && !answered.contains(&*id)))
        .collect();
    if !missing.is_empty() {
        findings.extend(missing.iter().map(|it| unanswered(it, place)));
        edits.push(append(message, &calls, &missing));
    }
}

fn has_result(call: &Object<'_>) -> bool {
    match call.get("result") {
        None => false,
        Some(it) if it.is_null() => false,
        Some(it) => match it.array() {
            Some(list) => !list.is_empty(),
            None => it.text().is_none_or(|it| !it.is_empty()),
        },
    }
}

/// The calls that are in the content.
fn content_calls<'a>(message: &Object<'a>) -> impl Iterator<Item = Object<'a>> {
    let parts = message.list("content");
    parts.into_iter().filter_map(|it| it.get("functionCall")?.object())
}

fn unanswered(call: &Object<'_>, place: Place) -> Finding {
    let name = id_of(call).or_else(|| call.text("name")).unwrap_or_default();
    let message = format!("call `{name}` has no result");
    Finding::error("session::unanswered-call", place, message)
        .mended("insert an error result that says the call was interrupted", false)
}

/// The JSON of a result for a call that has none.
fn result(call: &Object<'_>) -> String {
    let (id, name) = (source(call, "id"), source(call, "name"));
    format!(
        r#"[{{"functionResponse":{{"id":{id},"name":{name},"response":{{"error":"{INTERRUPTED}"}}}}}}]"#
    )
}

fn source<'a>(object: &Object<'a>, name: &str) -> &'a str {
    object.get(name).map_or("\"\"", |it| it.source)
}

/// Adds entries for calls of the content that have none.
fn append(message: &Object<'_>, calls: &[Value<'_>], missing: &[Object<'_>]) -> Edit {
    let time = message.get("timestamp");
    let time = time.map(|it| format!(",\"timestamp\":{}", it.source)).unwrap_or_default();
    let entry = |call: &Object<'_>| {
        let args = call.get("args").map_or("{}", |it| it.source);
        let (id, name, result) = (source(call, "id"), source(call, "name"), result(call));
        format!(
            r#"{{"id":{id},"name":{name},"args":{args},"result":{result},"status":"error"{time}}}"#
        )
    };
    let entries = missing.iter().map(entry).collect::<Vec<_>>().join(",");
    match calls.last() {
        Some(last) => Edit::insert(last.end(), format!(",{entries}")),
        None => set_member(message, "toolCalls", format!("[{entries}]")),
    }
}

/// Each response must name its call.
fn check_ids(call: &Object<'_>, place: Place, findings: &mut Vec<Finding>, edits: &mut Edits) {
    let (Some(id), Some(list)) = (call.get("id"), call.get("result").and_then(|it| it.array()))
    else {
        return;
    };
    let Some(wanted) = id.text().filter(|it| !it.is_empty()) else { return };
    for response in list.iter().filter_map(|it| it.get("functionResponse")?.object()) {
        if response.text("id").is_some_and(|it| it == wanted) {
            continue;
        }
        let message = format!("the result of the call {wanted} names another call");
        let finding = Finding::error("session::result-id", place, message);
        findings.push(finding.mended("set the name of the call", false));
        edits.push(set_member(&response, "id", id.source));
    }
}
