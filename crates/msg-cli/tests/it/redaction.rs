//! Secrets, and what commands a terminal, in every place of a session of each dialect: texts, ids, arguments, results,
//! unknown members and their names, titles, paths. No command says them with `--redact` (SE-96), and nothing
//! that is said to people commands their terminal (SE-95).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

/// Each secret bears this word, which nothing that is printed may have.
const WORD: &str = "LEAK7";

const SECRETS: [&str; 8] = [
    "sk-ant-api03-LEAK7abcdefghijklmnopqrstuvwxyz",
    "ghp_LEAK7LEAK7LEAK7LEAK7LEAK7LEAK7LEAK7x",
    "AKIALEAK7LEAK7LEAK7X",
    "eyJLEAK7abcdefghijklmnopqrst.eyJLEAK7abcdefghijkl.LEAK7-abcdefgh",
    "postgres://me:LEAK7pw@db/x",
    "-----BEGIN RSA PRIVATE KEY-----\nLEAK7\n-----END RSA PRIVATE KEY-----",
    "Authorization: Bearer LEAK7abcdefghijklmnopq",
    "xoxb-LEAK7-1234567890-abcdef",
];

/// What a terminal would obey: a title, a colour, a change of direction.
const COMMANDS: &str = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{202e}";

/// Members whose values say what a record is.
const STRUCTURE: [&str; 16] = [
    "type",
    "role",
    "kind",
    "from",
    "status",
    "state",
    "part_kind",
    "subtype",
    "history_mode",
    "projectHash",
    "class",
    "modality",
    "$schemaVersion",
    "timestamp",
    "name",
    "media_type",
];

/// Members that join records: one id gets one secret.
const IDS: [&str; 12] = [
    "uuid",
    "parentUuid",
    "id",
    "call_id",
    "tool_use_id",
    "callID",
    "tool_call_id",
    "toolCallId",
    "messageID",
    "sessionID",
    "llm_response_id",
    "$rewindTo",
];

/// Members that only their provider can read.
const SEALED: [&str; 4] = ["data", "signature", "encrypted_content", "thoughtSignature"];

fn plant(value: &mut Value, name: &str, count: &mut usize) {
    match value {
        Value::Object(map) => {
            map.iter_mut().for_each(|(name, it)| plant(it, name, count));
            if !map.is_empty() {
                map.insert("x-unknown".to_owned(), json!([next(count), { SECRETS[0]: 1 }]));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|it| plant(it, name, count)),
        Value::String(text) if IDS.contains(&name) => text.push_str(&format!("-{}", SECRETS[0])),
        Value::String(text) if !STRUCTURE.contains(&name) && !SEALED.contains(&name) => {
            // JSON in a text is planted as such.
            *text = match serde_json::from_str::<Map<String, Value>>(text) {
                Ok(map) => {
                    let mut inner = Value::Object(map);
                    plant(&mut inner, "", count);
                    inner.to_string()
                }
                Err(_) => format!("{text}\n{}{COMMANDS}", next(count)),
            };
        }
        _ => {}
    }
}

fn next(count: &mut usize) -> &'static str {
    *count += 1;
    SECRETS[*count % SECRETS.len()]
}

fn planted(text: &str) -> String {
    let mut count = 0;
    if let Ok(mut whole) = serde_json::from_str::<Value>(text) {
        plant(&mut whole, "", &mut count);
        return whole.to_string();
    }
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(mut value) => {
            plant(&mut value, "", &mut count);
            value.to_string() + "\n"
        }
        Err(_) => format!("{line} {}{COMMANDS}\n", next(&mut count)),
    };
    text.lines().map(line).collect()
}

/// The longest case of each dialect, whose files are texts.
fn longest() -> BTreeMap<String, Map<String, Value>> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../msg-session/test_data/sessions.jsonl");
    let mut res: BTreeMap<String, (usize, Map<String, Value>)> = BTreeMap::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let blobs = row["blobs"].as_object().unwrap();
        let (dialect, len) = (row["dialect"].as_str().unwrap(), line.len());
        if blobs.values().all(Value::is_string) && res.get(dialect).is_none_or(|it| it.0 < len) {
            res.insert(dialect.to_owned(), (len, blobs.clone()));
        }
    }
    res.into_iter().map(|(dialect, it)| (dialect, it.1)).collect()
}

/// What a command says on both outputs, and in the report.
fn said(home: &Path, args: &[&str], input: Option<&str>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_msg"));
    command.args(args).env("HOME", home).current_dir(home);
    if let Some(input) = input {
        fs::write(home.join("stdin"), input).unwrap();
        command.stdin(fs::File::open(home.join("stdin")).unwrap());
    }
    let output = command.output().unwrap();
    let report = home.join("report.json");
    let said = [output.stdout, output.stderr, fs::read(&report).unwrap_or_default()];
    let _ = fs::remove_file(report);
    String::from_utf8_lossy(&said.join(&b'\n')).into_owned()
}

#[test]
fn no_command_says_a_secret_or_commands_a_terminal() {
    let (mut leaks, mut n_hidden) = (Vec::new(), 0);
    for (dialect, blobs) in longest() {
        let home = tempfile::tempdir().unwrap();
        let root = format!("sessions-{}", SECRETS[1]);
        let is_alone = blobs.len() == 1;
        let mut path = root.clone();
        let mut bytes = String::new();
        for (name, text) in &blobs {
            bytes = planted(text.as_str().unwrap());
            let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
            let file = match is_alone {
                true => format!("{}-{file}", SECRETS[1]),
                false => file.to_owned(),
            };
            let folder = Path::new(&root).join(folder);
            fs::create_dir_all(home.path().join(&folder)).unwrap();
            fs::write(home.path().join(&folder).join(&file), &bytes).unwrap();
            if is_alone {
                path = folder.join(file).to_str().unwrap().to_owned();
            }
        }
        let p = path.as_str();
        let request = json!({ "name": p, "dialect": dialect, "input": bytes }).to_string();
        let mut runs: Vec<(Vec<&str>, Option<&str>)> = vec![
            (vec!["doctor", p, "--from", &dialect], None),
            (
                vec!["doctor", p, "--from", &dialect, "--all", "--json", "--report", "report.json"],
                None,
            ),
            (vec!["doctor", p, "--from", &dialect, "--error", "messages.1: thinking"], None),
            (vec!["doctor", p, "--from", "openai-jsonl"], None),
            (vec!["doctor", p, "--from", &dialect, "--leaf", SECRETS[0], "--json"], None),
            (vec!["doctor", p, "--from", &dialect, "--fix", "--all", "--force"], None),
            (vec!["list", &root], None),
            (vec!["list", &root, "--json", "--check"], None),
            (vec!["find", "a", &root, "--tools"], None),
            (vec!["find", "a", &root, "--tools", "--json"], None),
            (vec!["view", p, "--from", &dialect], None),
        ];
        let request = (!request.contains("output_b64")).then_some(request);
        runs.push((vec!["doctor", "-", "--jsonl"], request.as_deref().filter(|_| is_alone)));
        for to in [
            "native",
            "msgmd",
            "plain",
            "openai",
            "anthropic",
            "turns",
            "claude-code",
            "goose",
            "sharegpt",
        ] {
            runs.push((vec!["convert", p, "--from", &dialect, "--to", to, "--verbose"], None));
        }
        for (mut args, input) in runs {
            args.push("--redact");
            let mut said = said(home.path(), &args, input);
            // The mended session itself is what was asked for.
            said.truncate(said.find("output_b64").unwrap_or(said.len()));
            n_hidden += said.matches("[redacted:").count();
            if let Some(at) = said.find(WORD) {
                let start = said.floor_char_boundary(at.saturating_sub(120));
                leaks.push(format!(
                    "{args:?}: …{}",
                    &said[start..said.ceil_char_boundary((at + 40).min(said.len()))]
                ));
            }
            let is_data = args[0] == "convert" || args[0] == "view" || args.contains(&"--json");
            if !is_data && said.contains(['\u{1b}', '\u{7}', '\u{202e}']) {
                leaks.push(format!("{args:?} commands the terminal"));
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    assert!(n_hidden > 500, "{n_hidden}");
}
