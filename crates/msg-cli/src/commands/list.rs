//! `msg list`: the sessions on this machine, a line each (SE-12). Read only: nothing is locked or changed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use msg_session::{Dialect, Finding, MendOutcome, ReadAt, SessionOptions, Summary};
use serde::Serialize;

use super::Command;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::output::{Output, json_line};
use crate::render::safe;
use crate::sessions::load::{SessionFile, Sum, Used, load};
use crate::sessions::{Candidate, load};
use crate::{context, render, sessions};

/// List the sessions that agents left on this machine
///
/// A line a session: time of the last record, dialect, project, title, messages, size. Nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg list
  msg list --dialect codex --check
  msg list ~/backup/sessions --json")]
pub(crate) struct Args {
    /// Files and folders to look in, instead of the places where agents put their sessions.
    #[arg(value_name = "PLACE")]
    places: Vec<PathBuf>,
    /// Sessions of this dialect only.
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<Dialect>,
    /// Mark sessions in which doctor finds an error with !.
    #[arg(long)]
    check: bool,
    /// Show what each session used: responses, tokens of the prompts (new, read from and written to the cache) and of
    /// the answers; and the sum, in which a response that a fork repeats counts once.
    #[arg(long)]
    usage: bool,
    /// Replace secrets in what is shown.
    #[arg(long)]
    redact: bool,
    /// The JSON form: a line a session.
    #[arg(long)]
    json: bool,
    /// Whether the command that mends a session is printed below it.
    #[arg(skip)]
    with_commands: bool,
}

/// The sessions of this machine, each with what doctor finds and the command that mends it (SE-145).
pub(super) fn checked(
    cx: &Context,
    dialect: Option<Dialect>,
    json: bool,
    redact: bool,
) -> Result<Status, Failure> {
    let args = Args {
        places: Vec::new(),
        dialect,
        check: true,
        usage: false,
        redact,
        json,
        with_commands: true,
    };
    args.run(cx)
}

/// How many characters of a title are shown.
const TITLE: usize = 80;

/// The JSON form of a line.
#[derive(Debug, Serialize)]
struct Line {
    path: String,
    dialect: Dialect,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    messages: usize,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Used>,
    /// What each response used, for the sum.
    #[serde(skip)]
    responses: Vec<(Option<String>, Sum)>,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        cx.redact(self.redact);
        let mut warnings = Vec::new();
        let found = sessions::find(&self.places, self.dialect, &mut warnings);
        let names = sessions::codex_names();
        let line = |it: &Candidate| self.line(&it.path, it.dialect, &names);
        let lines = context::each(&found, context::processors(), line);
        let mut lines: Vec<Line> = lines.into_iter().flatten().collect();
        lines.sort_by(|a, b| (&b.time, &a.path).cmp(&(&a.time, &b.path)));
        let mut out = Output::stdout();
        for line in &lines {
            let text = if self.json { json_line(line) } else { human(line).into_bytes() };
            out.write(&render::printed(text, self.redact, self.json))?;
            if self.with_commands && !self.json && line.ok == Some(false) {
                let command = format!("    msg doctor --fix '{}'\n", safe(&line.path));
                out.write(&render::printed(command.into_bytes(), self.redact, false))?;
            }
        }
        if self.usage {
            let total = total(&lines);
            out.write(&if self.json {
                let mut sum = serde_json::json!(total);
                sum["unpriced"] = total.unpriced.into();
                json_line(&serde_json::json!({ "total": sum }))
            } else {
                format!("  total {}\n", tokens(&total)).into_bytes()
            })?;
        }
        out.finish()?;
        if lines.is_empty() {
            cx.note(match self.places.is_empty() {
                true => {
                    "no session was found where agents put them; `msg list PLACE` looks elsewhere\n"
                }
                false => "no session was found there\n",
            });
        }
        sessions::warn(cx, &warnings);
        Ok(if sessions::are_readable(&self.places) { Status::Clean } else { Status::Failed })
    }
}

impl Args {
    /// The line of a session; none of what is none.
    fn line(
        &self,
        path: &Path,
        dialect: Option<Dialect>,
        names: &HashMap<String, String>,
    ) -> Option<Line> {
        let read = Read::of(path, dialect, self.check)?;
        if self.dialect.is_some_and(|it| it != read.dialect) {
            return None;
        }
        let mut summary = read.summary;
        let id = sessions::id(path);
        if read.dialect == Dialect::Codex {
            // The id of a thread is the end of the file's name.
            let uuid = id.len().checked_sub(36).and_then(|it| id.get(it..));
            let name = uuid.and_then(|it| names.get(it)).cloned();
            summary.title = name.or(summary.title);
        }
        if read.dialect == Dialect::Cline && summary.project.is_none() {
            summary.project = sessions::project_of_cline(path);
        }
        if let Some(title) = &mut summary.title {
            let whole = if self.redact { render::text(title).0 } else { std::mem::take(title) };
            *title = whole.chars().take(TITLE).collect();
        }
        let (usage, responses) = match self.usage {
            true => used(path, dialect, read.dialect),
            false => (None, Vec::new()),
        };
        Some(Line {
            path: path.display().to_string(),
            dialect: read.dialect,
            id,
            time: summary.time,
            project: summary.project,
            title: summary.title,
            messages: summary.messages,
            bytes: read.bytes,
            ok: read.ok,
            usage,
            responses,
        })
    }
}

/// What a session used, in all and by response.
fn used(
    path: &Path,
    named: Option<Dialect>,
    dialect: Dialect,
) -> (Option<Used>, Vec<(Option<String>, Sum)>) {
    let Ok(loaded) = load(path, named, u64::MAX) else { return (None, Vec::new()) };
    let bytes = loaded.blobs.first().map_or(&[][..], |it| &it.bytes);
    (Used::of(dialect, bytes), load::each(dialect, bytes))
}

/// What all sessions used. A response that several of them record counts once (SE-40).
fn total(lines: &[Line]) -> Sum {
    let mut known = HashSet::new();
    let mut res = Sum::default();
    for (id, sum) in lines.iter().flat_map(|it| &it.responses) {
        if id.as_ref().is_none_or(|it| known.insert(it)) {
            res += sum;
        }
    }
    res
}

/// Usage in words.
fn tokens(it: &Sum) -> String {
    let Sum { responses, input, cache_read, cache_write, output, cost, unpriced } = it;
    let mut cost = if *cost > 0.0 { format!("  ${cost:.4}") } else { String::new() };
    if *unpriced > 0 {
        cost += &format!("  {unpriced} without a price");
    }
    format!(
        "{responses:6} responses  {input:>9} in {cache_read:>10} cached {cache_write:>9} written {output:>8} out{cost}"
    )
}

/// What was read of a session.
struct Read {
    dialect: Dialect,
    bytes: u64,
    summary: Summary,
    /// Whether doctor finds no error, if that was asked for.
    ok: Option<bool>,
}

impl Read {
    /// Reads the session at `path`; nothing of what is none. One of JSON lines is not held.
    fn of(path: &Path, dialect: Option<Dialect>, is_checked: bool) -> Option<Self> {
        if let Some(file) = SessionFile::open(path, dialect).ok()?
            && let Ok(Some(session)) = file.session()
        {
            let is_sound = || {
                let found = session.check(&SessionOptions::default());
                found.is_ok_and(|it| !it.findings().iter().any(does_harm))
            };
            let ok = is_checked.then(is_sound);
            let (dialect, summary) = (session.dialect(), session.summary().ok()?);
            return Some(Self { dialect, bytes: file.source.size(), summary, ok });
        }
        let mut loaded = load(path, dialect, u64::MAX).ok()?;
        let bytes = loaded.blobs.iter().map(|it| it.bytes.len() as u64).sum();
        let session = loaded.session(dialect).ok()?;
        let is_sound = || {
            let findings = session.check(&SessionOptions::default());
            findings.is_ok_and(|it| !it.iter().any(does_harm))
        };
        let ok = is_checked.then(is_sound);
        Some(Self { dialect: session.dialect(), bytes, summary: session.summary(), ok })
    }
}

/// Whether a finding keeps a session from being resumed whole; where that is unknown, each error does.
fn does_harm(it: &Finding) -> bool {
    match it.outcome {
        Some(MendOutcome::Refused | MendOutcome::Cut) => true,
        Some(MendOutcome::Healed | MendOutcome::None) => false,
        None => it.is_error(),
    }
}

fn human(it: &Line) -> String {
    let mark = if it.ok == Some(false) { "!" } else { " " };
    let time = it.time.as_deref().unwrap_or("-");
    let project = it.project.as_deref().unwrap_or("-");
    let title = it.title.as_deref().unwrap_or("-");
    let kib = it.bytes.div_ceil(1024);
    let (time, project, title) = (safe(time), safe(project), safe(title));
    let (dialect, messages, id) = (it.dialect, it.messages, safe(&it.id));
    let usage = it.usage.as_ref().map(|it| format!("{}  ", tokens(&it.total())));
    let usage = usage.unwrap_or_default();
    format!(
        "{mark} {time:24} {dialect:12} {messages:5} {kib:7}k  {usage}{id}  {project}  {title}\n"
    )
}
