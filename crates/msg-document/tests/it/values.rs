//! `test_data/values.jsonl`: keys, messages, tokens, verdicts and joined halves of documents; expected is the value
//! as JSON, or why there is none.

use msg_document::{
    KeyOptions, ReadOptions, Refusal, StatsOptions, answer_row, is_valid, join, key, messages,
    options_from_json, prefix_keys, to_json, tokens,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Case {
    of: String,
    #[serde(default)]
    options: Option<Box<RawValue>>,
    #[serde(default)]
    output: Option<String>,
    text: String,
}

#[test]
fn documents_have_values() {
    testkit::rows!("values.jsonl").check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
        let json = answer_row(|| value(&case)).unwrap_or_else(|it| it.to_json());
        String::from_utf8(json).expect("because JSON is UTF-8")
    });
}

fn value(case: &Case) -> Result<Vec<u8>, Refusal> {
    let json = case.text.as_bytes();
    let read = ReadOptions::default();
    Ok(match case.of.as_str() {
        "key" => to_json(&key(json, &options::<KeyOptions>(case)?)?),
        "prefix_keys" => to_json(&prefix_keys(json, &read)?),
        "messages" => to_json(&messages(json, &read)?),
        "is_valid" => to_json(&is_valid(json, &options(case)?)?),
        "tokens" => to_json(&tokens(json, &options::<StatsOptions>(case)?)?),
        "join" => {
            let output = case.output.as_ref().map(|it| it.as_bytes());
            join(Some(json), output, &read)?.unwrap_or_default()
        }
        other => panic!("no value is called {other}"),
    })
}

fn options<T: DeserializeOwned + Default>(case: &Case) -> Result<T, Refusal> {
    let given = case.options.as_ref().map(|it| options_from_json(it.get().as_bytes()));
    given.unwrap_or_else(|| Ok(T::default()))
}

#[test]
fn a_panic_costs_its_row() {
    let answer = |row: &str| {
        answer_row(|| {
            assert_ne!(row, "boom", "this row panics");
            Ok(row.len())
        })
    };
    let codes = ["a", "boom", "b"].map(|it| answer(it).map_err(|it| it.into_diagnostic().code));
    let [first, panicked, last] = codes;
    assert_eq!((first, last), (Ok(1), Ok(1)));
    assert_eq!(panicked.expect_err("because it panics").as_str(), "document::panic");
}
