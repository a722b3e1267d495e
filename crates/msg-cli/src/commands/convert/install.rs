//! A converted session put where its agent looks (SE-81), and a session read along one of its leaves (SE-3).

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use msg_document::Format;
use msg_session::{Blob, Dialect, Session, WriteOptions, with_session_id};

use crate::exit::Failure;
use crate::input::InputArgs;
use crate::random::random;
use crate::sessions::places;

/// Writes the session to its place; gives the command that resumes it. A file that is there is never
/// overwritten.
pub(super) fn put(to: Format, options: &WriteOptions, session: &[u8]) -> Result<String, Failure> {
    let usage = |it: &str| Failure::Usage(format!("--install: {it}"));
    let dialect: Option<Dialect> = to.name().parse().ok();
    for (option, value, more) in
        [("--session-id", &options.session_id, "-._"), ("--now", &options.now, "-.:+")]
    {
        let fits = |it: char| it.is_ascii_alphanumeric() || more.contains(it);
        if !value.chars().all(fits) || value.starts_with(['-', '.']) || value.len() > 128 {
            let what = format!(
                "{option} {value:?} is no part of a file's name: letters, digits and `{more}` are"
            );
            return Err(usage(&what));
        }
    }
    let (path, resume) = match dialect {
        Some(Dialect::ClaudeCode) => claude_code(options),
        Some(Dialect::Codex) => codex(options),
        Some(Dialect::GeminiCli) => gemini_cli(options),
        Some(Dialect::QwenCode) => qwen_code(options),
        Some(Dialect::Goose) => {
            return Err(usage("goose imports a file: `goose session import FILE`"));
        }
        Some(Dialect::OpenCode) => {
            return Err(usage("opencode imports a file: `opencode import FILE`"));
        }
        _ => {
            return Err(usage(
                "only sessions of claude-code, codex, gemini-cli and qwen-code are resumed from a place of their own",
            ));
        }
    };
    let name = path.display().to_string();
    let failed = |it: io::Error| Failure::Refused(format!("{name} cannot be written: {it}"));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
    let id = &options.session_id;
    let session = dialect.map_or(session.to_vec(), |it| with_session_id(it, session.to_vec(), id));
    file.write_all(&session).and_then(|()| file.sync_all()).map_err(failed)?;
    Ok(format!("{name}\n{resume}\n"))
}

fn claude_code(options: &WriteOptions) -> (PathBuf, String) {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
    let project: String = options.cwd.chars().map(plain).collect();
    let id = &options.session_id;
    let root = places::or_home("CLAUDE_CONFIG_DIR", ".claude");
    let path = root.join("projects").join(project).join(format!("{id}.jsonl"));
    (path, format!("claude --resume {id}"))
}

fn codex(options: &WriteOptions) -> (PathBuf, String) {
    let id = &options.session_id;
    let (day, time) = options.now.split_once('T').unwrap_or((&options.now, ""));
    let time = time.get(..8).unwrap_or("00-00-00").replace(':', "-");
    let mut path = places::or_home("CODEX_HOME", ".codex").join("sessions");
    path.extend(day.split('-'));
    (path.join(format!("rollout-{day}T{time}-{id}.jsonl")), format!("codex resume {id}"))
}

/// The folder that Gemini CLI has for a project is named in its `projects.json`, else by the project's own name.
fn gemini_cli(options: &WriteOptions) -> (PathBuf, String) {
    let root = places::or_home("GEMINI_CLI_HOME", "").join(".gemini");
    let known = fs::read_to_string(root.join("projects.json")).unwrap_or_default();
    let known: serde_json::Value = serde_json::from_str(&known).unwrap_or_default();
    let known = known.pointer("/projects").and_then(|it| it.get(&options.cwd)?.as_str());
    let own = options.cwd.rsplit(['/', '\\']).find(|it| !it.is_empty()).unwrap_or("project");
    let id = &options.session_id;
    let time = options.now.get(..16).unwrap_or("1970-01-01T00:00").replace(':', "-");
    let name = format!("session-{time}-{}.jsonl", id.get(..8).unwrap_or(id));
    let folder = root.join("tmp").join(known.unwrap_or(own)).join("chats");
    (folder.join(name), format!("gemini --resume {id}"))
}

fn qwen_code(options: &WriteOptions) -> (PathBuf, String) {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
    let project: String = options.cwd.chars().map(plain).collect();
    let id = &options.session_id;
    let root = places::or_home("QWEN_HOME", ".qwen").join("projects").join(project);
    (root.join("chats").join(format!("{id}.jsonl")), format!("qwen --resume {id}"))
}

/// A new id.
pub(super) fn new_id() -> String {
    let (a, b) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 48 & 0x3fff | 0x8000,
        b & 0xffff_ffff_ffff
    )
}

/// The session as a line that says along which record it is read (SE-91).
pub(super) fn along(
    leaf: &str,
    bytes: Vec<u8>,
    name: &str,
    args: &mut InputArgs,
) -> Result<Vec<u8>, Failure> {
    let refuse = |it: msg_session::Error| Failure::Refused(format!("{name}: {it}"));
    let dialect: Dialect = match args.from {
        Some(format) => format.name().parse().map_err(refuse)?,
        None => Session::recognise(vec![Blob::new(name, bytes.clone())]).map_err(refuse)?.dialect(),
    };
    let format = dialect.name().parse();
    args.from =
        Some(format.map_err(|_| Failure::Usage(format!("{dialect} is no format of a document")))?);
    let line = serde_json::json!({
        "name": name,
        "dialect": dialect,
        "input_b64": BASE64_STANDARD.encode(&bytes),
        "options": {"leaf": leaf},
    });
    Ok(line.to_string().into_bytes())
}
