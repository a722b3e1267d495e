//! `--jsonl`: order, failing lines, every number of jobs, answers without waiting.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;

use super::{msg, stderr, stdout};

/// A line that is sound, broken or no document at all, by its number; sizes vary much.
fn line(n: usize) -> String {
    let text = format!("{n} {}", "x".repeat(n * 37 % 3000));
    match n % 5 {
        0 => format!(r#"[{{"role":"user","content":"{text}"#),
        1 | 2 => format!(r#"[{{"role":"user","content":"{text}"}}]"#),
        3 => format!(r#"{{"n":{n},"messages":[{{"role":"assistant","content":"{text}"}}]}}"#),
        _ => String::new(),
    }
}

fn lines(n: usize) -> String {
    (0..n).map(|n| line(n) + "\n").collect()
}

#[test]
fn each_line_is_answered_in_its_place() {
    let n = 3000;
    for jobs in ["1", "2", "7"] {
        let output = msg(&["check", "--jsonl", "--jobs", jobs, "-q"], lines(n).as_bytes());
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(stderr(&output), "");
        let answers: Vec<Value> =
            stdout(&output).lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        // A blank line is counted and not answered.
        assert_eq!(answers.len(), n - n / 5);
        let numbers = (0..n).filter(|it| it % 5 != 4);
        for (number, answer) in numbers.zip(&answers) {
            match number % 5 {
                1 | 2 => assert_eq!(answer["ok"], true, "line {number}"),
                3 => assert_eq!(answer["ok"], false, "line {number}"),
                _ => assert_eq!(answer["error"]["at"]["line"], number + 1, "line {number}"),
            }
        }
    }
}

#[test]
fn jobs_do_not_change_the_answers() {
    let input = lines(500);
    let one = msg(&["repair", "--jsonl", "--jobs", "1"], input.as_bytes());
    let many = msg(&["repair", "--jsonl", "--jobs", "5"], input.as_bytes());
    assert_eq!(stdout(&one), stdout(&many));
    assert_eq!(stderr(&one), stderr(&many));
}

#[test]
fn the_report_has_a_line_for_each_line() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report.jsonl");
    let output =
        msg(&["repair", "--jsonl", "--report", report.to_str().unwrap()], lines(50).as_bytes());
    assert_eq!(output.status.code(), Some(2));
    let report = std::fs::read_to_string(report).unwrap();
    let edits: Vec<Value> = report.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(edits.len(), 40);
    for (number, it) in (0..50).filter(|it| it % 5 != 4).zip(&edits) {
        let n = it["edits"].as_array().unwrap().len();
        assert_eq!(n, usize::from(number % 5 == 3), "line {number}: {it}");
    }
}

#[test]
fn the_status_is_that_of_the_worst_line() {
    for (input, status) in [
        ("", 0),
        (r#"[{"role":"user","content":"a"}]"#, 0),
        ("[{\"role\":\"user\",\"content\":\"a\"}]\n[{\"role\":\"tool\",\"content\":\"a\"}]\n", 1),
        ("[{\"role\":\"tool\",\"content\":\"a\"}]\n[\n", 2),
    ] {
        let output = msg(&["check", "--jsonl"], input.as_bytes());
        assert_eq!(output.status.code(), Some(status), "{input}");
    }
}

#[test]
fn a_line_beyond_the_limit_costs_itself_only() {
    let input = format!("[]\n[{}]\n[]\n", " ".repeat(300_000));
    let output = msg(&["check", "--jsonl", "--max-bytes", "1000", "-q"], input.as_bytes());
    assert_eq!(output.status.code(), Some(2));
    let text = stdout(&output);
    let answers: Vec<_> = text.lines().collect();
    assert_eq!(answers.len(), 3);
    assert!(answers[1].contains("document::too-large"), "{}", answers[1]);
    assert!(answers[2].contains("\"ok\":true"), "{}", answers[2]);
}

#[test]
fn a_line_is_answered_before_the_next_is_written() {
    let mut command = Command::cargo_bin("msg").unwrap();
    let command = command.args(["check", "--jsonl"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        stdin.write_all(b"[{\"role\":\"user\",\"content\":\"a\"}]\n").unwrap();
        let mut answer = String::new();
        out.read_line(&mut answer).unwrap();
        assert_eq!(
            answer,
            "{\"ok\":true,\"format\":\"openai\",\"messages\":1,\"diagnostics\":[]}\n"
        );
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
