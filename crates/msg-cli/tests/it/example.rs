//! The conversation that ships with the project is broken the way its page says, and mended.

use serde_json::Value;

use super::{msg, stderr, stdout};

pub(crate) const EXAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/tau-bench-retail-order.json");

#[test]
fn it_is_checked_and_mended() {
    let checked = msg(&["check", "--json", EXAMPLE], b"");
    assert_eq!(checked.status.code(), Some(1));
    let found: Value = serde_json::from_str(&stdout(&checked)).unwrap();
    let found = found["diagnostics"].as_array().unwrap();
    assert_eq!(found.iter().filter(|it| it["code"] == "chain::empty-result-id").count(), 15);

    let mended = msg(&["repair", EXAMPLE], b"");
    assert_eq!(mended.status.code(), Some(0));
    assert!(stderr(&mended).contains("mended[chain::empty-result-id]"), "{}", stderr(&mended));
    let again = msg(&["check"], &mended.stdout);
    assert_eq!(again.status.code(), Some(0), "{}", stdout(&again));
}

/// What the README promises of its first command.
#[test]
fn it_is_fitted_and_the_changes_are_told_in_a_few_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fitted.json");
    let res =
        msg(&["fit", EXAMPLE, "--repair", "--budget", "4000", "-o", file.to_str().unwrap()], b"");
    assert_eq!(res.status.code(), Some(0));
    let told = stderr(&res);
    assert!(told.lines().count() <= 25, "{told}");
    assert!(!told.contains("error["), "{told}");
    assert!(
        told.contains("and 14 more like this: [5].tool_calls[0], [7].tool_calls[0], [9]"),
        "{told}"
    );
    assert!(told.lines().last().unwrap().starts_with("wrote "), "{told}");
    assert_eq!(msg(&["check", file.to_str().unwrap()], b"").status.code(), Some(0));
}

#[test]
fn it_survives_a_round_trip_through_the_model() {
    let there = msg(&["convert", "--to", "openai", EXAMPLE], b"");
    let before: Value = serde_json::from_slice(&std::fs::read(EXAMPLE).unwrap()).unwrap();
    let after: Value = serde_json::from_slice(&there.stdout).unwrap();
    assert_eq!(before, after);
}

/// `MSG_LOG` shows what the libraries trace; without it nothing is shown.
#[test]
fn it_is_traced_where_that_is_asked() {
    let traced = |value: Option<&str>| {
        let mut command = assert_cmd::Command::cargo_bin("msg").unwrap();
        command.args(["check", "-q", EXAMPLE]).env_remove("MSG_LOG");
        value.into_iter().for_each(|it| _ = command.env("MSG_LOG", it));
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let debug = traced(Some("debug"));
    assert!(debug.contains("document recognised format=\"openai\""), "{debug}");
    assert!(debug.contains("checked format=\"openai\" messages="), "{debug}");
    assert!(!debug.contains("daiki"), "{debug}");
    assert!(!traced(Some("msg_session=debug")).contains("DEBUG"));
    assert!(!traced(None).contains("DEBUG"));
    assert!(traced(Some("msg_core=loud")).contains("MSG_LOG is ignored"));
}
