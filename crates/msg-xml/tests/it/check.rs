//! The schema's separate step: what a call lacks, and what it has that the schema does not know.

use msg_xml::{ParseOptions, ParsedCall, SchemaSet, parse};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shown;

#[derive(Deserialize)]
struct Case {
    schema: Value,
    arguments: Box<RawValue>,
}

fn schema_of(case: &Case) -> SchemaSet {
    serde_json::from_value(serde_json::json!({ "f": case.schema })).unwrap()
}

#[test]
fn missing_and_unknown_parameters_are_reported() {
    testkit::rows!("check.jsonl").check_expect(|row| {
        let case: Case = serde_json::from_str(&row.text).unwrap();
        let call = ParsedCall::new("f", case.arguments.get().to_owned());
        shown::reports(&schema_of(&case).check(&call))
    });
}

#[test]
fn the_step_is_separate_from_reading() {
    let text = b"ab <tool><tool_name>f</tool_name><arguments><file>x</file></arguments></tool>";
    let schema: SchemaSet =
        serde_json::from_str(r#"{"f":{"properties":{"n":{"type":"integer"}},"required":["n"]}}"#)
            .unwrap();
    let parsed = parse(text, None, &ParseOptions::new().with_schema(schema.clone()));
    assert_eq!(parsed.diagnostics, []);
    let found = parsed.check(&schema);
    let codes: Vec<&str> = found.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["xml::missing-parameter", "xml::unknown-parameter"]);
    assert!(found.iter().all(|it| (it.at.start, it.at.end) == (Some(3), Some(text.len()))));
}

#[test]
fn other_tools_are_not_judged() {
    let schema: SchemaSet = serde_json::from_str(r#"{"f":{"properties":{}}}"#).unwrap();
    assert_eq!(schema.check(&ParsedCall::new("g", r#"{"a":1}"#.to_owned())), []);
}
