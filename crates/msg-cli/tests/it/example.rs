//! The conversation that ships with the project is broken the way its page says, and mended.

use serde_json::Value;

use super::{msg, stderr, stdout};

pub(crate) const EXAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/swe-agent-marshmallow-1867.json");

#[test]
fn it_is_checked_and_mended() {
    let checked = msg(&["check", "--json", EXAMPLE], b"");
    assert_eq!(checked.status.code(), Some(1));
    let found: Value = serde_json::from_str(&stdout(&checked)).unwrap();
    let found = found["diagnostics"].as_array().unwrap();
    assert_eq!(found.iter().filter(|it| it["code"] == "chain::empty-result-id").count(), 11);

    let mended = msg(&["repair", EXAMPLE], b"");
    assert_eq!(mended.status.code(), Some(0));
    assert!(stderr(&mended).contains("error[chain::empty-result-id]"), "{}", stderr(&mended));
    let again = msg(&["check"], &mended.stdout);
    assert_eq!(again.status.code(), Some(0), "{}", stdout(&again));
}

#[test]
fn it_survives_a_round_trip_through_the_model() {
    let there = msg(&["convert", "--to", "openai", EXAMPLE], b"");
    let before: Value = serde_json::from_slice(&std::fs::read(EXAMPLE).unwrap()).unwrap();
    let after: Value = serde_json::from_slice(&there.stdout).unwrap();
    assert_eq!(before, after);
}
