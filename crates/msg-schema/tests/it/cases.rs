//! What each dialect refuses in a schema, and how it is changed.

use msg_json::RawJson;
use msg_schema::{SchemaOutcome, check, from_openapi, mend};
use serde_json::value::RawValue;

use crate::DIALECTS;

#[derive(serde::Deserialize)]
struct Case {
    #[serde(default)]
    dialect: String,
    schema: Box<RawValue>,
}

fn case(text: &str) -> (Case, RawJson) {
    let case: Case = serde_json::from_str(text).unwrap();
    let schema = RawJson::new(case.schema.get()).unwrap();
    (case, schema)
}

#[test]
fn dialects_refuse_and_are_mended_for() {
    testkit::rows!("dialects.jsonl").check_lines(|row| {
        let (case, schema) = case(&row.text);
        let dialect = *DIALECTS.iter().find(|it| it.name == case.dialect).unwrap();
        let found = check(&schema, dialect);
        let found: Vec<_> =
            found.iter().map(|it| format!("{} {}: {}", it.code, it.pointer, it.message)).collect();
        let mended = match mend(&schema, dialect) {
            SchemaOutcome::Accepted => "accepted".to_owned(),
            SchemaOutcome::Mended(it) => it.text().to_owned(),
            SchemaOutcome::NoMend => "no mend".to_owned(),
        };
        format!("{mended} {}", serde_json::to_string(&found).unwrap())
    });
}

#[test]
fn the_spelling_of_openapi_becomes_json_schema() {
    testkit::rows!("openapi.jsonl")
        .check_lines(|row| from_openapi(&case(&row.text).1).text().to_owned());
}

#[test]
fn a_schema_of_any_depth_is_judged() {
    let deep =
        format!("{}{}", r#"{"items":"#.repeat(50_000), "{}".to_owned() + &"}".repeat(50_000));
    let schema = RawJson::new(deep).unwrap();
    for dialect in DIALECTS {
        check(&schema, dialect);
        mend(&schema, dialect);
    }
}

#[test]
fn a_hundred_references_to_each_other_are_judged() {
    let definition = |at: usize| {
        let all: Vec<_> = (0..100).map(|to| format!(r##"{{"$ref":"#/$defs/d{to}"}}"##)).collect();
        format!(r#""d{at}":{{"anyOf":[{}]}}"#, all.join(","))
    };
    let all: Vec<_> = (0..100).map(definition).collect();
    let text = format!(
        r##"{{"type":"object","$defs":{{{}}},"properties":{{"a":{{"$ref":"#/$defs/d0"}}}}}}"##,
        all.join(",")
    );
    let schema = RawJson::new(text).unwrap();
    for dialect in DIALECTS {
        check(&schema, dialect);
    }
}
