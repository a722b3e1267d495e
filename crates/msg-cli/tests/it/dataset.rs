//! `msg dataset` and `msg list --usage`: what they print and write, beside the rules, which are tested in `msg-session`.

use std::fs;

use serde_json::Value;

use super::{msg, stderr, stdout};

fn session(key: &str) -> String {
    let record = |id: &str, parent: &str, role: &str, message: &str| {
        format!(
            r#"{{"type":"{role}","uuid":"{id}","parentUuid":{parent},"sessionId":"s","version":"2.1.0","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}",{message}}}}}"#
        )
    };
    let usage = r#""usage":{"input_tokens":3,"cache_read_input_tokens":5,"output_tokens":7}"#;
    let answer = |id: &str, block: &str| {
        format!(r#""id":"{id}","model":"claude-x",{usage},"content":[{block}]"#)
    };
    let call = r#"{"type":"tool_use","id":"t1","name":"Bash","input":{}}"#;
    let result = r#""content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]"#;
    [
        record("a", "null", "user", &format!(r#""content":"my key is {key}""#)),
        record("b", "\"a\"", "assistant", &answer("m1", call)),
        record("c", "\"b\"", "user", result),
        record("d", "\"c\"", "assistant", &answer("m2", r#"{"type":"text","text":"Done."}"#)),
    ]
    .join("\n")
        + "\n"
}

const KEY: &str = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";

#[test]
fn samples_are_written_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(folder.path().join("p")).unwrap();
    fs::write(path("p/s.jsonl"), session(KEY)).unwrap();
    let (train, report) = (path("train.jsonl"), path("report.json"));
    let args = ["dataset", &path("p"), "-o", &train, "--report", &report, "--tool-names"];
    let output = msg(&args, b"");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        stderr(&output),
        "msg: 1 sample of 1 session: 2 answers with weight 1, 1 of 1 call\nmsg: 1 secret replaced\n"
    );
    let sample: Value = serde_json::from_str(&fs::read_to_string(&train).unwrap()).unwrap();
    assert_eq!(sample["messages"][0]["content"], "my key is [redacted:anthropic-key]");
    assert_eq!(sample["tools"][0]["function"]["name"], "Bash");
    let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    assert_eq!((&report["calls_in"], &report["calls_out"]), (&1.into(), &1.into()));
    let args = ["dataset", "--no-redact", "--to", "sharegpt", &path("p/s.jsonl")];
    assert!(stdout(&msg(&args, b"")).contains(KEY));
}

#[test]
fn a_list_shows_usage_and_counts_a_response_once() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.jsonl", "b.jsonl"] {
        fs::write(folder.path().join(name), session("x")).unwrap();
    }
    let output = msg(&["list", "--usage", "--json", &folder.path().display().to_string()], b"");
    let lines: Vec<Value> =
        stdout(&output).lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let model = &lines[0]["usage"]["models"]["claude-x"];
    let counts = ["responses", "input", "cache_read", "output"].map(|it| model[it].as_u64());
    assert_eq!(counts, [Some(2), Some(6), Some(10), Some(14)]);
    assert_eq!(lines[2]["total"]["output"], 14);
}

#[test]
fn a_session_that_is_too_long_gets_the_command_that_shortens_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it's.jsonl").display().to_string();
    fs::write(&path, session("x")).unwrap();
    let error = "prompt is too long: 213046 tokens > 200000 maximum";
    let said = stdout(&msg(&["doctor", "--error", error, &path], b""));
    let command =
        format!("`msg fit --in-session '{}' --budget 100000`", path.replace('\'', r"'\''"));
    assert!(said.contains(&command), "{said}");
}
