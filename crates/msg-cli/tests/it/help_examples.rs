//! The examples of every help text: each is run by a shell, in a new folder with the files that they name.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::example::EXAMPLE;
use super::{msg, stdout};

/// What an example needs that no shell in a test has: a model that answers, or a browser.
const NOT_RUN: [&str; 3] = ["msg chat talk.msg.md -m", "OPENAI_BASE_URL=", "--browser"];

/// Files of the working folder, beside those that are copied.
const FILES: [(&str, &str); 6] = [
    (
        "request.json",
        r#"{"model":"gpt-4o","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]}"#,
    ),
    (
        "next.json",
        r#"{"model":"gpt-4o","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},{"role":"user","content":"Bye"}]}"#,
    ),
    (
        "tools.json",
        r#"[{"type":"function","function":{"name":"ls","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]"#,
    ),
    ("cells.jsonl", "{\"role\":\"user\",\"content\":\"hi\"}\n"),
    (
        "session.jsonl",
        "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"isSidechain\":false,\"sessionId\":\"s\",\"version\":\"2.0.0\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"Hi\"}}\n{\"type\":\"assistant\",\"uuid\":\"a1\",\"parentUuid\":\"u1\",\"isSidechain\":false,\"sessionId\":\"s\",\"version\":\"2.0.0\",\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hello\"}]}}\n",
    ),
    (
        "talk.msg.md",
        "---\nagents:\n  critic:\n    system_prompt: Be strict.\n---\n\n# %% [^1]\n\n[^1]: [markdown]\n\nWhat is in a?\n\n# %% [^2]\n\n[^2]: [markdown]\n\nAnd in b?\n\n# %% [^3]\n\n[^3]: [code]\n\n```sh\nls\n```\n",
    ),
];

fn lay_out(folder: &Path) {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/files");
    for name in ["answer.txt", "capture.sse"] {
        fs::copy(guides.join(name), folder.join(name)).unwrap();
    }
    fs::write(folder.join("session.json"), msg(&["repair", EXAMPLE], b"").stdout).unwrap();
    for (name, text) in FILES {
        fs::write(folder.join(name), text).unwrap();
    }
    let copy = |from: &str, to: &str| {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(folder.join(from), to).unwrap();
    };
    copy("request.json", "turn-7.json");
    copy("next.json", "turn-8.json");
    copy("request.json", "logs/one.json");
    copy("session.json", "logs/a/two.json");
    let [first, next] = [FILES[0].1, FILES[1].1];
    for name in ["data.jsonl", "requests.jsonl"] {
        fs::write(folder.join(name), format!("{first}\n{next}\n")).unwrap();
    }
    for name in ["p/s.jsonl", "-work/3f2c.jsonl"] {
        copy("session.jsonl", &format!("home/.claude/projects/{name}"));
    }
    copy("session.jsonl", "home/backup/sessions/s.jsonl");
    let codex = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/examples/sessions/codex-orphan.jsonl");
    let rollout = folder.join("home/.codex/sessions/2026/01/01/rollout.jsonl");
    fs::create_dir_all(rollout.parent().unwrap()).unwrap();
    fs::copy(codex, rollout).unwrap();
    for name in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
        fs::create_dir_all(folder.join("home").join(name)).unwrap();
    }
}

/// Runs a line as somebody types it; the status and what it said on standard error.
fn shell(line: &str, folder: &Path) -> (Option<i32>, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_msg")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder.join("home"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The example lines of the reference, which has those of every help text, without their remarks.
fn examples() -> Vec<String> {
    let reference = stdout(&msg(&["reference"], b""));
    let blocks = reference.split("```text\n").skip(1).filter_map(|it| it.split("```").next());
    // The first block of a section is the usage line.
    let lines =
        blocks.flat_map(str::lines).filter(|it| !it.contains("[OPTIONS]") && !it.ends_with('>'));
    let without_remark = |it: &str| it.split("   ").next().unwrap_or_default().to_owned();
    lines.map(without_remark).filter(|it| it.contains("msg ")).collect()
}

#[cfg(unix)]
#[test]
fn the_examples_of_every_help_text_run() {
    let lines = examples();
    assert!(lines.len() > 60, "only {} examples", lines.len());
    for line in lines {
        if NOT_RUN.iter().any(|it| line.contains(it)) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path());
        // A pattern means conversations, and `tools.json` holds none.
        if line.contains("*.json") {
            fs::remove_file(folder.path().join("tools.json")).unwrap();
        }
        if line.contains("--undo") {
            assert_eq!(
                shell("msg doctor --fix latest", folder.path()).0,
                Some(0),
                "nothing to undo"
            );
        }
        let (status, said) = shell(&line, folder.path());
        assert!(matches!(status, Some(0 | 1)), "{line}: status {status:?}\n{said}");
    }
}
