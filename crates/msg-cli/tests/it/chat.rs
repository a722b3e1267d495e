//! `msg chat` against a server that streams, breaks off, falls silent, refuses and talks nonsense.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{self, Request};
use crate::{stderr, stdout};

/// A server whose manner is the model's name, and what it was asked.
fn serve() -> (String, Arc<Mutex<Vec<Value>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let url = server::serve(move |mut it| {
        assert!(it.head.contains("authorization: bearer sk-secret"), "{}", it.head);
        seen.lock().unwrap().push(it.json.clone());
        // A client that went away is none of the server's business.
        let _ = answer(&mut it);
    });
    (url, asked)
}

fn answer(it: &mut Request) -> std::io::Result<()> {
    let manner = it.json["model"].as_str().unwrap().to_owned();
    let out = &mut it.stream;
    if manner == "refuses" {
        return write!(out, "HTTP/1.1 400 Bad Request\r\ncontent-length: 6\r\n\r\nbad id");
    }
    write!(out, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    if manner == "nonsense" {
        return write!(out, "<html>welcome</html>");
    }
    event(out, &json!({"model": "tiny-1", "choices": [{"delta": {"reasoning_content": "Hm."}}]}))?;
    event(out, &json!({"choices": [{"delta": {"content": "# %% Four,"}}]}))?;
    if manner == "breaks" {
        return Ok(());
    }
    if manner == "stalls" {
        thread::sleep(Duration::from_secs(20));
    }
    event(out, &json!({"choices": [{"delta": {"content": " of course."}}]}))?;
    if manner == "calls" {
        let call = json!({"index": 0, "id": "call_7", "function": {"name": "add", "arguments": r#"{"a":2}"#}});
        event(out, &json!({"choices": [{"delta": {"tool_calls": [call]}}]}))?;
    }
    event(out, &json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}))?;
    event(out, &json!({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 7}}))?;
    write!(out, "data: [DONE]\n\n")
}

fn event(out: &mut TcpStream, data: &Value) -> std::io::Result<()> {
    write!(out, "data: {data}\n\n")?;
    out.flush()
}

fn chat(dir: &TempDir, url: &str, args: &[&str], stdin: &str) -> Output {
    Command::cargo_bin("msg")
        .unwrap()
        .current_dir(dir.path())
        .env("OPENAI_API_KEY", "sk-secret")
        .env("OPENAI_BASE_URL", url)
        .arg("chat")
        .args(args)
        .write_stdin(stdin)
        .output()
        .unwrap()
}

fn read(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).unwrap()
}

/// The file's cells behind the question.
fn answers(text: &str) -> Vec<String> {
    let cells = text.split("\n## ").skip(1).map(|it| {
        let time = it.find(" time=").map(|at| it[at..].find('Z').map(|n| at..at + n + 2));
        match time.flatten() {
            Some(time) => format!("{}{}", &it[..time.start], &it[time.end..]),
            None => it.to_owned(),
        }
    });
    cells.collect()
}

#[test]
fn a_new_file_is_made_asked_and_answered() {
    let ((url, asked), dir) = (serve(), TempDir::new().unwrap());
    let args =
        ["t.msg.md", "-m", "2 + 2?", "--model", "tiny", "--temperature", "0.5", "--set-default"];
    let output = chat(&dir, &url, &args, "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "# %% Four, of course.\n");
    assert_eq!(stderr(&output), "Hm.\n");
    assert_eq!(
        asked.lock().unwrap()[..],
        [json!({"model": "tiny", "messages": [{"role": "user", "content": "2 + 2?"}],
            "temperature": 0.5, "stream": true, "stream_options": {"include_usage": true}})]
    );
    let text = read(&dir, "t.msg.md");
    assert!(
        text.starts_with(
            "# %% [^1]\n\n[^1]: [agent] name=\"tiny\" temperature=\"0.5\" default=\"1\"\n"
        ),
        "{text}"
    );
    assert_eq!(
        answers(&text),
        [
            "%%% [^3]\n\n[^3]: [tiny] reasoning=\"1\"\n\nHm.\n",
            "%%% [^4]\n\n[^4]: [tiny] model=\"tiny-1\" tokens_in=\"12\" tokens_out=\"7\" finish_reason=\"stop\"\n\n\\# %% Four, of course.\n",
        ]
    );
    assert!(!text.contains("sk-secret"));

    // The default is asked from now on, and hears what was said.
    let output = chat(&dir, &url, &["t.msg.md", "-q"], "And 3?\n");
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let asked = asked.lock().unwrap();
    let said = |at: usize| asked[1]["messages"][at]["content"].as_str().unwrap().to_owned();
    assert_eq!([said(1), said(2)], ["# %% Four, of course.", "And 3?"]);
    assert_eq!(asked[1]["temperature"], 0.5);
}

#[test]
fn the_last_message_of_the_file_is_a_question_too() {
    let ((url, asked), dir) = (serve(), TempDir::new().unwrap());
    let text = "---\nagents:\n  a: {models: tiny, system_prompt: Be brief., temperature: 1, use_temperature: no, max_output_tokens: 9}\n---\n\n# %% [^1]\n\n[^1]: [markdown]\n\nNow?\n";
    fs::write(dir.path().join("t.msg.md"), text).unwrap();
    let output = chat(&dir, &url, &["t.msg.md"], "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        asked.lock().unwrap()[0],
        json!({"model": "tiny", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Now?"}],
            "max_tokens": 9, "stream": true, "stream_options": {"include_usage": true}})
    );
    let now = read(&dir, "t.msg.md");
    assert!(now.starts_with(text) && answers(&now).len() == 2, "{now}");
    // It is answered: nothing is left to ask.
    let output = chat(&dir, &url, &["t.msg.md"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no question"), "{}", stderr(&output));
    assert_eq!(read(&dir, "t.msg.md"), now);
}

#[test]
fn calls_are_recorded_and_not_run() {
    let ((url, _), dir) = (serve(), TempDir::new().unwrap());
    let output = chat(&dir, &url, &["t.msg.md", "-m", "hi", "--model", "calls", "--json"], "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["reply"]["message"]["tool_calls"][0]["id"], "call_7");
    let ids: Vec<_> =
        json["appended"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids[..4], ["1", "2", "3", "4"]);
    assert!(ids[4].starts_with("4.") && ids.len() == 5, "{ids:?}");
    assert!(read(&dir, "t.msg.md").contains(r#"[tool] name="add" call_id="call_7""#));
}

#[test]
fn what_came_before_an_interruption_is_kept() {
    for (model, more) in [("breaks", &[][..]), ("stalls", &["--timeout", "1"][..])] {
        let ((url, _), dir) = (serve(), TempDir::new().unwrap());
        let output =
            chat(&dir, &url, &[&["t.msg.md", "-m", "hi", "--model", model], more].concat(), "");
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert_eq!(stdout(&output), "# %% Four,\n");
        let text = read(&dir, "t.msg.md");
        let last = answers(&text).pop().unwrap();
        assert!(last.contains("finish_reason=\"interrupted\"\n\n\\# %% Four,\n"), "{last}");
    }
}

/// Sends Ctrl-C while the answer stalls.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_has_come() {
    let ((url, _), dir) = (serve(), TempDir::new().unwrap());
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("msg"))
        .current_dir(dir.path())
        .env("OPENAI_API_KEY", "sk-secret")
        .args(["chat", "t.msg.md", "-m", "hi", "--model", "stalls", "--url", &url])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // When its first words are there, the answer is under way.
    let mut first = [0; 10];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(read(&dir, "t.msg.md").ends_with("finish_reason=\"interrupted\"\n\n\\# %% Four,\n"));
}

#[test]
fn without_an_answer_only_the_question_is_there() {
    for (model, said) in
        [("refuses", "answered 400 Bad Request: bad id"), ("nonsense", "there is no answer")]
    {
        let ((url, _), dir) = (serve(), TempDir::new().unwrap());
        let output = chat(&dir, &url, &["t.msg.md", "-m", "hi", "--model", model], "");
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert!(read(&dir, "t.msg.md").ends_with("[^2]: [markdown]\n\nhi\n"));
    }
}

/// Everything that can be refused is refused before the file is touched.
#[test]
fn refusals_change_nothing() {
    let (url, dir) = ("http://127.0.0.1:9/v1", TempDir::new().unwrap());
    let small = "---\nagents:\n  a: {context_window: 5}\n---\n";
    let bad = "# %% [^1]\n\n[^1]: [markdown] history=\"perhaps\"\n\nhi\n";
    let cases: [(&str, &str, &[&str], &str); 6] = [
        ("t.msg.md", "", &[], "msgfile::no-agent"),
        ("t.msg.md", "", &["--agent", "nobody"], "msgfile::agent-unknown"),
        ("t.md", "# Notes\n", &["--model", "tiny"], "msgfile::not-activated"),
        ("t.msg.md", small, &[], "compact::cannot-fit"),
        ("t.msg.md", bad, &["--model", "tiny"], "line 1: `history` has"),
        ("t.msg.md", "", &["--model", "tiny", "--url", "ftp://x"], "expected an http or https URL"),
    ];
    for (name, text, args, said) in cases {
        fs::write(dir.path().join(name), text).unwrap();
        let output = chat(&dir, url, &[&[name, "-m", "hi"], args].concat(), "");
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{said}");
        assert!(stderr(&output).contains(said), "{said}: {}", stderr(&output));
        assert_eq!(read(&dir, name), text, "{said}");
    }
}

#[test]
fn a_dry_run_prints_the_request_and_makes_no_file() {
    let dir = TempDir::new().unwrap();
    let args = ["new.md", "-m", "hi", "--model", "tiny", "--max-tokens", "5", "--dry-run"];
    let output = chat(&dir, "http://127.0.0.1:9/v1", &args, "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let request: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&request["model"], &request["max_tokens"]), (&json!("tiny"), &json!(5)));
    assert!(!Path::new(&dir.path().join("new.md")).exists());
}

#[test]
fn a_history_is_fitted_for_the_request_and_stays_in_the_file() {
    let ((url, asked), dir) = (serve(), TempDir::new().unwrap());
    let mut text =
        "---\nagents:\n  tiny: {context_window: 900, max_output_tokens: 100}\n---\n".to_owned();
    for turn in 0..6 {
        let (question, answer) = (2 * turn + 1, 2 * turn + 2);
        text.push_str(&format!(
            "\n# %% [^{question}]\n\n[^{question}]: [markdown]\n\nquestion {turn}\n"
        ));
        text.push_str(&format!(
            "\n## %%% [^{answer}]\n\n[^{answer}]: [tiny]\n\n{}\n",
            "word ".repeat(300).trim_end()
        ));
    }
    fs::write(dir.path().join("t.msg.md"), &text).unwrap();
    let output = chat(&dir, &url, &["t.msg.md", "-m", "now?"], "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("made for the model, the file keeps its history"),
        "{}",
        stderr(&output)
    );
    assert!(asked.lock().unwrap()[0].to_string().len() < text.len() / 2);
    assert!(read(&dir, "t.msg.md").starts_with(&text));
}
