//! `msg doctor`: what keeps a session from being resumed, and its mend (SE-90 to SE-96).
//!
//! ```text
//! msg doctor s.jsonl --diff   -{"type":"user","content":""}      what --fix would write
//! msg doctor s.jsonl --fix    s.jsonl, and s.jsonl.bak1          the mend, and the backup that --undo takes back
//! ```

pub(crate) mod mend;
mod text;

use std::path::{Path, PathBuf};

use msg_core::{Code, Diagnostic};
use msg_document::{Refusal, to_json};
use msg_session::{Branch, Dialect, Effect, Finding, Line, SessionOptions, SessionPlace};
use serde::Serialize;

use self::mend::Doctor;
use super::Command;
use crate::context::Context;
use crate::exit::{Failure, Status, refuse_if};
use crate::input::{MAX_DOCUMENT, Sources};
use crate::jsonl::{self, Answer, LineArgs};
use crate::options::Flags;
use crate::output::{Output, json_line};
use crate::render;

/// Explain why an agent cannot resume a session, and repair it
///
/// SESSION is a file or folder, the id of a session, `latest` or `latest:DIALECT`, or - for standard input. Without
/// --fix nothing is written. With --jsonl each line is {"name","dialect","input" or "input_b64","options"}.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg doctor latest
  msg doctor --diff latest
  msg doctor --undo latest
  msg doctor --fix ~/.codex/sessions/2026/01/01/rollout.jsonl
  msg doctor --error 'messages.3: tool_use ids were found without tool_result' latest:claude-code")]
pub(crate) struct Args {
    /// The sessions [default: list and check those of this machine].
    #[arg(value_name = "SESSION")]
    sessions: Vec<PathBuf>,
    /// The agent that wrote the sessions [default: recognised from name and content].
    #[arg(long, value_name = "DIALECT")]
    from: Option<Dialect>,
    /// Repair in place, after a backup NAME.bakN.
    #[arg(long)]
    fix: bool,
    /// Also repair a session that seems to be in use.
    #[arg(long)]
    force: bool,
    /// Print what --fix would change as a unified diff, long lines cut to the changes; write nothing.
    #[arg(long, conflicts_with_all = ["fix", "jsonl"])]
    diff: bool,
    /// Restore the newest backup, after a backup of the current session.
    #[arg(long, conflicts_with_all = ["fix", "diff", "jsonl", "branches", "error", "report"])]
    undo: bool,
    /// List the branches that a resume does not send; --leaf reads along one.
    #[arg(long, conflicts_with = "jsonl")]
    branches: bool,
    #[command(flatten)]
    what: WhatArgs,
    /// Replace secrets in the output.
    #[arg(long)]
    redact: bool,
    /// The JSON form.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    /// Write the codes and places of findings to FILE, without text of the session.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Debug, clap::Args, Serialize)]
struct WhatArgs {
    /// Also repair warnings.
    #[arg(long)]
    all: bool,
    /// Remove the reasoning of the model.
    #[arg(long)]
    drop_thinking: bool,
    /// Remove reasoning that only another account can decrypt.
    #[arg(long)]
    drop_encrypted: bool,
    /// Remove lines with errors from a data set.
    #[arg(long)]
    drop: bool,
    /// Find the place that this message of the provider is about.
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// Judge by the rules of this version of the agent, such as 2.1.197 [default: the newest known].
    #[arg(long, value_name = "V", value_parser = crate::words::version)]
    agent_version: Option<String>,
    /// Read the branch of the session that contains this record.
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// Do not parse records larger than this, in bytes (k, M).
    #[arg(long, value_name = "N", value_parser = crate::words::size)]
    max_record: Option<u64>,
    /// Also read tool calls in the texts of older sessions.
    #[arg(long)]
    xml: bool,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        cx.redact(self.redact);
        refuse_if(self.force && !self.fix && !self.undo, "--force needs --fix or --undo")?;
        let options: SessionOptions = Flags::of(&self.what).options()?;
        if self.lines.asked()? {
            return self.run_lines(cx, &options);
        }
        if self.sessions.is_empty() {
            let names_one = self.fix || self.diff || self.undo;
            let text = "--fix, --diff and --undo need a SESSION: `msg doctor` lists them";
            refuse_if(names_one, text)?;
            return super::list::checked(cx, self.from, self.json, self.redact);
        }
        let sources = Sources::find(&self.sessions, MAX_DOCUMENT)?;
        if self.undo {
            return sources.each_path(cx, |path| {
                let path = path.unwrap_or(Path::new("-"));
                let done = mend::undo(path, self.from, self.force)?;
                let text = if self.json { done.json() } else { done.text().into_bytes() };
                let mut out = Output::stdout();
                out.write(&render::printed(text, self.redact, self.json))?;
                out.finish()?;
                Ok(Status::Clean)
            });
        }
        let mut report = self.open_report(&sources)?;
        let status = sources.each_path(cx, |path| {
            self.session(cx, path.unwrap_or(Path::new("-")), &options, report.as_mut())
        })?;
        report.map(Output::finish).transpose()?;
        Ok(status)
    }
}

/// The diagnosis of a session.
struct Diagnosis {
    dialect: Dialect,
    findings: Vec<Finding>,
    /// The places that a provider's message names; line 0 if unknown.
    named: Option<Vec<SessionPlace>>,
    /// The backup, if the session was changed.
    changed: Option<PathBuf>,
    /// What the repairs change, or would change.
    effect: Option<Effect>,
    /// The commands that would repair a store, which is never written.
    script: Option<String>,
    /// The branches, if requested.
    branches: Option<Vec<Branch>>,
    /// The diff of the repairs, if requested.
    diff: Option<String>,
}

impl Args {
    fn run_lines(&self, cx: &Context, options: &SessionOptions) -> Result<Status, Failure> {
        refuse_if(
            self.fix || self.report.is_some(),
            "--jsonl cannot be combined with --fix or --report",
        )?;
        let sources = Sources::find(&self.sessions, MAX_DOCUMENT.saturating_mul(4))?;
        let from = self.from;
        sources.each(cx, |mut input| {
            input.expect_lines()?;
            let job = |_: u64, line: &[u8]| {
                let line = Line::read(line).ok_or_else(bad_line)?.map_err(refusal)?;
                let mended = line.repair(from, options).map_err(refusal)?;
                let json = render::printed(to_json(&mended), self.redact, true);
                Ok(Answer::new(json, Status::of(mended.ok)))
            };
            jsonl::run(cx, &self.lines, input, (&mut Output::stdout(), None), &jsonl::as_it_is, job)
        })
    }

    fn open_report(&self, sources: &Sources) -> Result<Option<Output>, Failure> {
        self.report.as_deref().map(|path| Output::file(path, sources)).transpose()
    }

    fn session(
        &self,
        cx: &Context,
        path: &Path,
        options: &SessionOptions,
        report: Option<&mut Output>,
    ) -> Result<Status, Failure> {
        let Args { from, fix, force, branches, diff, redact, .. } = *self;
        let doctor = Doctor { from, fix, force, branches, diff, redact, options };
        let (name, mut diagnosis) = doctor.session(path)?;
        name_session(&mut diagnosis.findings, &name);
        if let Some(report) = report {
            let line = text::report(&name, &diagnosis.findings);
            report.write(&render::printed(line, self.redact, true))?;
        }
        self.print(cx, &name, &diagnosis)?;
        let fixed = self.fix && diagnosis.findings.iter().all(|it| !it.is_error() || it.done);
        let ok = !diagnosis.findings.iter().any(Finding::is_error);
        Ok(match Status::of(ok || fixed) {
            Status::Clean if !diagnosis.dialect.is_judged() => Status::Failed,
            status => status,
        })
    }

    fn print(&self, cx: &Context, name: &str, it: &Diagnosis) -> Result<(), Failure> {
        let mut out = Output::stdout();
        let text = if self.json {
            let path = (self.sessions.len() > 1).then_some(name);
            json(path, it)
        } else {
            let error = self.what.error.as_deref();
            let version = self.what.agent_version.as_deref();
            text::human(name, it, version, error, self.fix, out.has_colour(cx)).into_bytes()
        };
        out.write(&render::printed(text, self.redact, self.json))?;
        out.finish()
    }
}

/// Puts the path of the session into the commands in findings.
fn name_session(findings: &mut [Finding], name: &str) {
    if name.starts_with('<') {
        return;
    }
    let quoted = format!("'{}'", name.replace('\'', r"'\''"));
    let codes = ["session::too-long", "session::not-found"];
    for it in findings.iter_mut().filter(|it| codes.contains(&it.code.as_str())) {
        it.message = it.message.replace("SESSION", &quoted).into();
    }
}

fn bad_line() -> Refusal {
    let text = "the line is not a request: it needs input or input_b64, and may have name, dialect and options";
    Diagnostic::error(Code::new("cli::bad-line"), text).into()
}

fn refusal(error: msg_session::Error) -> Refusal {
    error.diagnostic().into()
}

fn json(path: Option<&str>, it: &Diagnosis) -> Vec<u8> {
    #[derive(Serialize)]
    struct WithPath<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<&'a str>,
        dialect: Dialect,
        ok: bool,
        findings: &'a [Finding],
        #[serde(skip_serializing_if = "Option::is_none")]
        judged: Option<bool>,
        changed: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        named: Option<Vec<Named>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        backup: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        script: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        branches: Option<&'a [Branch]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        diff: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Named {
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        record: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        block: Option<u32>,
    }
    let named = it.named.as_ref().map(|it| {
        let line = |line: u32| (line > 0).then_some(line);
        let named =
            |it: &SessionPlace| Named { line: line(it.line), record: it.record, block: it.block };
        it.iter().map(named).collect()
    });
    let backup = it.changed.as_ref().map(|it| it.display().to_string());
    let (script, branches) = (it.script.as_deref(), it.branches.as_deref());
    json_line(&WithPath {
        path,
        dialect: it.dialect,
        ok: !it.findings.iter().any(Finding::is_error),
        findings: &it.findings,
        judged: (!it.dialect.is_judged()).then_some(false),
        changed: it.changed.is_some(),
        named,
        backup,
        script,
        branches,
        diff: it.diff.as_deref(),
    })
}
