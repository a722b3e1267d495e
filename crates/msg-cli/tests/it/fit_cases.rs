//! `test_data/fit.jsonl`: what `msg fit --jsonl` answers to a line. A row is `{"name", "rules",
//! "messages", "options", "expect"}`; `expect` holds the members of the answer that count: of `edits`
//! the code and the message, of objects the members that are named; `messages` may be `"same"`.

use serde_json::{Value, json};

use crate::{msg, stderr};

#[test]
fn histories_are_fitted_as_written_down() {
    testkit::rows!("fit.jsonl").check(|row| {
        let row: Value = serde_json::from_str(&row.text).unwrap();
        let line = json!({"messages": row["messages"], "options": row["options"]});
        let output = msg(&["fit", "--jsonl", "--json", "-"], line.to_string().as_bytes());
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", stderr(&output)));
        for (member, expected) in row["expect"].as_object().unwrap() {
            let same = *expected == "same";
            let expected = if same { &row["messages"] } else { expected };
            assert_eq!(&named(member, &answer[member], expected), expected, "{member}");
        }
    });
}

/// What of a member of an answer is compared.
fn named(member: &str, found: &Value, expected: &Value) -> Value {
    match (found, expected) {
        (Value::Array(edits), _) if member == "edits" => {
            edits.iter().map(|it| json!([it["code"], it["at"]["message"]])).collect()
        }
        (Value::Object(found), Value::Object(expected)) => {
            let named = found.iter().filter(|it| expected.contains_key(it.0));
            Value::Object(named.map(|it| (it.0.clone(), it.1.clone())).collect())
        }
        _ => found.clone(),
    }
}
