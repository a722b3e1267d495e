//! Exports, batch files and checkpoints: each is checked, repaired and converted by one command, and what was not asked
//! to change stays.

use serde_json::{Value, json};

use super::{msg, stderr, stdout};

/// What a command over `input` printed, if it ended with `status`.
fn run(args: &[&str], input: &str, status: i32) -> String {
    let output = msg(args, input.as_bytes());
    assert_eq!(output.status.code(), Some(status), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|it| panic!("{it}: {json}"))
}

/// Two observations, as the export of Langfuse has them.
const LANGFUSE: &str = r#"[ {"id":"o1","traceId":"t1","type":"GENERATION","model":"gpt-4o", "input":[{"role":"user","content":"Weather?"},{"role":"user","content":"In Bern."}],"output":{"role":"assistant","content":"Rain."},"usage":{"input": 1.0}},
  {"id":"o2","traceId":"t2","type":"GENERATION","input":"Hello","output":"Hi"},
  {"id":"o3","traceId":"t3","type":"GENERATION","input":[{"role":"user","content":"still running"}],"output":null} ]"#;

#[test]
fn an_export_of_langfuse_that_is_a_list() {
    let join = ["--join", "input,output", "-"];
    let found = run(&[&["check", "--json"][..], &join].concat(), LANGFUSE, 1);
    let found = value(&found);
    assert_eq!((&found["messages"], &found["ok"]), (&json!(6), &json!(false)));
    assert_eq!(found["diagnostics"][0]["at"]["pointer"], "/0/input");

    let mended = run(&[&["repair", "-q"][..], &join].concat(), LANGFUSE, 0);
    let old = r#"[{"role":"user","content":"Weather?"},{"role":"user","content":"In Bern."}]"#;
    let (before, after) = LANGFUSE.split_once(old).unwrap();
    assert!(mended.starts_with(before) && mended.trim_end().ends_with(after), "{mended}");
    run(&[&["check"][..], &join].concat(), &mended, 0);

    let written = run(&[&["convert", "-q", "--to", "anthropic"][..], &join].concat(), LANGFUSE, 0);
    let written = value(&written);
    assert_eq!(written[0]["input"]["messages"][1]["content"], "In Bern.");
    assert_eq!((&written[0]["id"], &written[2]["output"]), (&json!("o1"), &Value::Null));
    // Without the option it is refused by its name, with the option that reads it.
    let refused = msg(&["check", "-"], LANGFUSE.as_bytes());
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--join input,output"), "{}", stderr(&refused));
}

/// In a list, `body` is the member of each element.
#[test]
fn a_member_of_each_element_of_a_list() {
    let list = r#"[{"body":[{"role":"user","content":"a"},{"role":"user","content":"b"}]},{"n":1}, {"body":[{"role":"user","content":"c"}]}]"#;
    let one = run(&["repair", "-q", "--field", "body", "-"], list, 0);
    let other = run(&["repair", "-q", "--field", "[].body", "-"], list, 0);
    assert_eq!(one, other);
    assert!(one.contains(r#"{"n":1}, {"body":[{"role":"user","content":"c"}]}]"#), "{one}");
    run(&["check", "--field", "0.body", "-"], list, 1);
    run(&["check", "--field", "2.body", "-"], list, 0);
    run(&["check", "--field", "1.body", "-"], list, 2);
}

/// A request without a sound history, and the one after it.
const BATCH: &str = r#"{"custom_id":"r1","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"well?"}]}}
{"custom_id":"r2","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}}
"#;

#[test]
fn a_batch_file_of_openai() {
    let found = run(&["check", "--jsonl", "--json", "-"], BATCH, 1);
    let found: Vec<_> = found.lines().map(value).collect();
    assert_eq!((&found[0]["ok"], &found[1]["ok"]), (&json!(false), &json!(true)));

    let mended = run(&["repair", "-q", "-"], BATCH, 0);
    let mended: Vec<_> = mended.lines().map(value).collect();
    assert_eq!(mended[0]["body"]["messages"][2]["role"], "tool");
    assert_eq!(mended[1], value(BATCH.lines().nth(1).unwrap()));

    let to = ["convert", "-q", "--request", "--max-tokens", "99", "--model", "m", "--to"];
    let written = run(&[&to[..], &["anthropic", "-"]].concat(), BATCH, 0);
    let written: Vec<_> = written.lines().map(value).collect();
    assert_eq!(written[0]["messages"][1]["content"][0]["name"], "f");
    assert_eq!(written[1]["messages"][0]["content"], "hi");
}

/// A checkpoint of LangGraph with a call that was never run.
const CHECKPOINT: &str = r#"{"v":4,"ts":"2025-01-01T00:00:00Z","id":"1ef","channel_values":{"messages":[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"hi","type":"human","id":"h1"}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"","type":"ai","id":"a1","tool_calls":[{"name":"f","args":{"x":1},"id":"c1","type":"tool_call"}]}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"still there?","type":"human","id":"h2"}}],"step":3},"channel_versions":{"messages":"2.0"},"versions_seen":{}}"#;

#[test]
fn a_checkpoint_of_langgraph() {
    let found = run(&["check", "--json", "-"], CHECKPOINT, 1);
    assert_eq!(value(&found)["diagnostics"][0]["code"], "chain::missing-tool-result");

    let mended = run(&["repair", "-q", "-"], CHECKPOINT, 0);
    let (mut mended, old) = (value(&mended), value(CHECKPOINT));
    let list = mended["channel_values"]["messages"].as_array_mut().unwrap();
    let result = list.remove(2);
    assert_eq!(result["kwargs"]["tool_call_id"], "c1");
    assert_eq!(mended, old);

    let written = run(&["convert", "-q", "--to", "anthropic", "-"], CHECKPOINT, 0);
    let written = value(&written);
    assert_eq!(written["messages"][1]["content"][0]["input"], json!({"x": 1}));
}
