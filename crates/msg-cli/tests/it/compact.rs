//! `fit` and `stats` over the case files of `test_data/compact`: an input and options a line, and what
//! comes of it.
//!
//! Ids of summaries are free, so they are named by their place; of totals and records the members count
//! that a case names. Of `edits` the `compact::` codes count, in any order; where a case names them as
//! `[code, message]`, all codes with their places, in order.

use serde_json::{Map, Value, json};

use crate::{msg, stderr};

/// A line of a case file.
#[derive(serde::Deserialize)]
struct Case {
    name: String,
    input: Value,
    expected: Map<String, Value>,
}

const SUMMARY_TOOL: &str = "execute_task_and_return_summary";

#[test]
fn fit_answers_as_the_cases_say() {
    run("fit", include_str!("../../test_data/compact/fit.jsonl"));
}

#[test]
fn fit_names_places_as_the_cases_say() {
    run("fit", include_str!("../../test_data/compact/fit_places.jsonl"));
}

#[test]
fn stats_answers_as_the_cases_say() {
    run("stats", include_str!("../../test_data/compact/stats.jsonl"));
}

fn run(command: &str, cases: &str) {
    let cases: Vec<Case> = cases.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let input: String = cases.iter().map(|it| format!("{}\n", it.input)).collect();
    let output = msg(&[command, "--jsonl", "--json", "--quiet", "-"], input.as_bytes());
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let answers: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(answers.len(), cases.len(), "{}", stderr(&output));
    let wrong: Vec<String> =
        cases.iter().zip(&answers).filter_map(|(case, it)| difference(case, it)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// What an answer has otherwise than its case.
fn difference(case: &Case, answer: &Value) -> Option<String> {
    let is_error = case.expected.contains_key("error");
    if is_error || answer.get("error").is_some() {
        let agrees = is_error && answer.get("error").is_some();
        return (!agrees).then(|| format!("{}: {answer}", case.name));
    }
    case.expected.iter().find_map(|(member, expected)| {
        let found = answer.get(member).unwrap_or(&Value::Null);
        let (expected, found) = comparable(case, member, expected, found);
        (expected != found).then(|| format!("{}: {member}\n  {expected}\n  {found}", case.name))
    })
}

fn comparable(case: &Case, member: &str, expected: &Value, found: &Value) -> (Value, Value) {
    match member {
        "messages" if found.is_array() => {
            let expected = if expected == "same" { &case.input["messages"] } else { expected };
            (normal(expected), normal(found))
        }
        "edits" if expected[0].is_array() => (expected.clone(), places(found)),
        "edits" => (sorted(expected.clone()), sorted(codes(found))),
        "before" | "after" | "cannot_fit" => (expected.clone(), only(expected, found)),
        "records" => {
            let first = &expected[0];
            let found = found.as_array().into_iter().flatten().map(|it| only(first, it));
            (expected.clone(), found.collect())
        }
        _ => (expected.clone(), found.clone()),
    }
}

/// The members of a value that another one has.
fn only(members: &Value, value: &Value) -> Value {
    let names = members.as_object().into_iter().flatten().map(|it| it.0);
    names.map(|it| (it.clone(), value[it].clone())).collect::<Map<_, _>>().into()
}

fn codes(edits: &Value) -> Value {
    let codes = edits.as_array().into_iter().flatten().map(|it| it["code"].clone());
    codes.filter(|it| it.as_str().is_some_and(|it| it.starts_with("compact::"))).collect()
}

fn places(edits: &Value) -> Value {
    edits
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| json!([it["code"], it["at"]["message"]]))
        .collect()
}

fn sorted(mut list: Value) -> Value {
    if let Some(list) = list.as_array_mut() {
        list.sort_by_key(ToString::to_string);
    }
    list
}

/// Messages with what is free taken out: ids of summaries, and how absent content is written.
fn normal(messages: &Value) -> Value {
    let mut summaries: Vec<Value> = Vec::new();
    let messages = messages.as_array().into_iter().flatten().map(|message| {
        let mut message = message.as_object().cloned().unwrap_or_default();
        message.retain(|_, it| !it.is_null());
        let has_calls = message.get("tool_calls").is_some_and(|it| it != &Value::Array(vec![]));
        if has_calls && message.get("content").is_some_and(|it| it == "") {
            message.remove("content");
        }
        for call in
            message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten()
        {
            if call["function"]["name"] == SUMMARY_TOOL {
                summaries.push(call["id"].clone());
                call["id"] = format!("summary {}", summaries.len()).into();
            }
        }
        let result = message.get_mut("tool_call_id");
        if let Some(id) = result
            && let Some(place) = summaries.iter().rposition(|it| it == id)
        {
            *id = format!("summary {}", place + 1).into();
        }
        Value::Object(message)
    });
    messages.collect()
}
