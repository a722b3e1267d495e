//! Sixty answers of each family of models (XT-37, XT-48 to XT-55): their calls, read whole and in pieces, with the
//! dialect alone and with all of them.

use msg_xml::{Dialects, ParseOptions, parse};
use serde::Deserialize;

use crate::laws;

#[derive(Deserialize)]
struct Row {
    dialect: String,
    input: String,
    calls: Vec<Expected>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Expected {
    name: String,
    arguments: serde_json::Value,
}

#[test]
fn calls_of_each_family_are_found() {
    for row in testkit::rows!("strings.jsonl").rows() {
        let row: Row = serde_json::from_str(&row.text).unwrap();
        for dialects in [Dialects::by_names([row.dialect.as_str()]).unwrap(), Dialects::all()] {
            let opts = ParseOptions::new().with_dialects(dialects);
            let bytes = row.input.as_bytes();
            let parsed = parse(bytes, None, &opts);
            let calls = parsed.calls().map(|call| Expected {
                name: call.tool_name().to_owned(),
                arguments: call.arguments().value().expect("because they are JSON").clone(),
            });
            assert_eq!(calls.collect::<Vec<_>>(), row.calls, "{}: {}", row.dialect, row.input);
            for n in [1, 5, 16] {
                laws::chunks_do_not_matter(bytes, bytes.chunks(n), None, &opts);
                laws::pieces_are_the_values(bytes, n, None, &opts);
            }
        }
    }
}
