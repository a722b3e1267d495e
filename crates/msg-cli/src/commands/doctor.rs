//! `msg doctor`: what keeps a session from being resumed, and its mend (SE-90 to SE-96).

pub(crate) mod line;
mod text;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use msg_session::{Blob, Dialect, Finding, Origin, RepairOptions, Session};
use serde::Serialize;

use self::line::{Form, unreadable};
use super::Command;
use crate::cli::Context;
use crate::exit::{Failure, Status};
use crate::input::{Input, MAX_DOCUMENT};
use crate::jsonl::{self, LineArgs};
use crate::output::Output;
use crate::redact;
use crate::render::safe;
use crate::sessions::load::{Loaded, load};
use crate::sessions::{in_use, put_back::put_back};

/// Find what keeps an agent's session from being resumed, and mend it
///
/// SESSION is a file or folder, the id of a session, `latest` or `latest:DIALECT`, or - for standard input. Without
/// --fix nothing is written. With --jsonl each line is {"name","dialect","input" or "input_b64","options"}.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The sessions.
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<PathBuf>,
    /// Whose sessions they are; recognised from name and content if not given.
    #[arg(long, value_name = "DIALECT")]
    from: Option<Dialect>,
    /// Mend in place, behind a backup NAME.bakN.
    #[arg(long)]
    fix: bool,
    /// Mend a session that seems to be in use, too.
    #[arg(long, requires = "fix")]
    force: bool,
    #[command(flatten)]
    what: WhatArgs,
    /// Replace secrets in everything that is printed.
    #[arg(long)]
    redact: bool,
    /// The JSON form.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    /// Write codes and places to FILE, without any text of the session.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct WhatArgs {
    /// Make the mends of warnings too.
    #[arg(long)]
    all: bool,
    /// Remove the thoughts of the model.
    #[arg(long)]
    drop_thinking: bool,
    /// Remove what only another account can decrypt.
    #[arg(long)]
    drop_encrypted: bool,
    /// Remove lines with errors from a data set.
    #[arg(long)]
    drop: bool,
    /// The message of the provider: find what it is about.
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// Read the session along this record.
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// Do not look into records above this size, in bytes.
    #[arg(long, value_name = "N")]
    max_record: Option<u64>,
    /// Read tool calls in the text of older sessions.
    #[arg(long)]
    xml: bool,
}

impl WhatArgs {
    fn options(&self) -> RepairOptions {
        let default = RepairOptions::default();
        RepairOptions {
            all: self.all,
            drop_thinking: self.drop_thinking,
            drop_encrypted: self.drop_encrypted,
            drop: self.drop,
            error: self.error.clone(),
            leaf: self.leaf.clone(),
            max_record: self.max_record.unwrap_or(default.max_record),
            xml: self.xml,
        }
    }
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options = self.what.options();
        if self.lines.jsonl {
            return self.run_lines(cx, &options);
        }
        let mut report = self.open_report()?;
        let mut worst = Status::Clean;
        for path in &self.sessions {
            let status = match self.session(cx, path, &options, report.as_mut()) {
                Ok(status) => status,
                Err(Failure::ClosedPipe) => return Err(Failure::ClosedPipe),
                Err(failure) => {
                    cx.note(&crate::render::failure(&failure, cx.color_err));
                    Status::Failed
                }
            };
            worst = worst.max(status);
        }
        report.map_or(Ok(()), Output::finish)?;
        Ok(worst)
    }
}

/// What is said when a mended session is not sound (SE-93).
const MEND_FAILED: &str = "session::mend-failed";

/// What was found in a session.
struct Diagnosis {
    dialect: Dialect,
    findings: Vec<Finding>,
    /// Records that the provider's message names, as line and origin.
    named: Option<Vec<Origin>>,
    /// The backup, if the session was changed.
    changed: Option<PathBuf>,
    /// What the mends change, or would change.
    effect: Option<Effect>,
}

/// How much of a session is changed.
#[derive(Debug, Clone, Copy)]
struct Effect {
    /// Lines that come, and lines that go; a line that changes is both.
    come: usize,
    go: usize,
    bytes: i64,
}

impl Effect {
    fn of(old: &[Blob], new: &[Blob]) -> Self {
        let lines = |blobs: &'_ [Blob]| -> Vec<Vec<u8>> {
            blobs.iter().flat_map(|it| it.bytes.split(|it| *it == b'\n')).map(<[u8]>::to_vec).collect()
        };
        let (old_lines, new_lines) = (lines(old), lines(new));
        let (had, has): (HashSet<_>, HashSet<_>) =
            (old_lines.iter().collect(), new_lines.iter().collect());
        let size = |it: &[Blob]| it.iter().map(|it| it.bytes.len() as i64).sum::<i64>();
        Self {
            come: new_lines.iter().filter(|it| !had.contains(it)).count(),
            go: old_lines.iter().filter(|it| !has.contains(it)).count(),
            bytes: size(new) - size(old),
        }
    }
}

impl Args {
    fn run_lines(&self, cx: &Context, options: &RepairOptions) -> Result<Status, Failure> {
        if self.fix || self.report.is_some() {
            let text = "--jsonl answers each line with its mended bytes: it takes no --fix and no --report";
            return Err(Failure::Usage(text.to_owned()));
        }
        let [input] = self.sessions.as_slice() else {
            return Err(Failure::Usage("--jsonl takes one input".to_owned()));
        };
        let mut input = Input::open(Some(input))?;
        input.limit = MAX_DOCUMENT.saturating_mul(4);
        let from = self.from;
        jsonl::run(cx, &self.lines, input, Output::stdout(), None, move |line| {
            Ok(line::answer(line, from, options)?)
        })
    }

    fn open_report(&self) -> Result<Option<Output>, Failure> {
        let Some(path) = &self.report else { return Ok(None) };
        Output::file(path, &Input::nothing()).map(Some)
    }

    fn session(
        &self,
        cx: &Context,
        path: &Path,
        options: &RepairOptions,
        report: Option<&mut Output>,
    ) -> Result<Status, Failure> {
        let mut loaded = load(path, self.from)?;
        let blobs = std::mem::take(&mut loaded.blobs);
        let session = match self.from.or(loaded.dialect) {
            Some(dialect) => Session::named(dialect, blobs),
            None => Session::recognise(blobs),
        };
        let session = session.map_err(|it| failure(&loaded.name, &it))?;
        let diagnosis = self.diagnose(&mut loaded, session, options)?;
        if let Some(report) = report {
            report.write(&text::report(&loaded.name, &diagnosis.findings))?;
        }
        self.print(cx, &loaded, &diagnosis)?;
        let fixed = self.fix && diagnosis.findings.iter().all(|it| !it.is_error() || it.done);
        let ok = !diagnosis.findings.iter().any(Finding::is_error);
        Ok(Status::of(ok || fixed))
    }

    fn diagnose(
        &self,
        loaded: &mut Loaded,
        mut session: Session,
        options: &RepairOptions,
    ) -> Result<Diagnosis, Failure> {
        let name = loaded.name.clone();
        let wrong = |it: msg_session::Error| failure(&name, &it);
        let dialect = session.dialect();
        let named = match &options.error {
            Some(error) => {
                let plain = RepairOptions { error: None, ..options.clone() };
                Some(session.read(&plain).map_err(wrong)?.named_by(error))
            }
            None => None,
        };
        let findings = session.check(options).map_err(wrong)?;
        let is_mended = |it: &Finding| it.fix.is_some() && (it.is_error() || options.all);
        let is_mended = |it: &Finding| is_mended(it) || it.code == "session::split-results";
        if !findings.iter().any(is_mended) {
            return Ok(Diagnosis { dialect, findings, named, changed: None, effect: None });
        }
        // Only what is mended is held twice.
        loaded.blobs = session.blobs().to_vec();
        let mended = session.repair(options).map_err(wrong)?;
        let is_changed = session.blobs() != loaded.blobs;
        let effect = is_changed.then(|| Effect::of(&loaded.blobs, session.blobs()));
        if !self.fix {
            return Ok(Diagnosis { dialect, findings, named, changed: None, effect });
        }
        let changed = match is_changed {
            true => Some(self.write(loaded, &session, options)?),
            false => None,
        };
        Ok(Diagnosis { dialect, findings: mended, named, changed, effect })
    }

    /// Puts the mended session in its place, and looks at it again (SE-92, SE-93).
    fn write(
        &self,
        loaded: &Loaded,
        session: &Session,
        options: &RepairOptions,
    ) -> Result<PathBuf, Failure> {
        let refuse = |text: String| Failure::Refused(format!("{}: {text}", loaded.name));
        let Some(path) = &loaded.path else {
            return Err(Failure::Usage("--fix needs a file, not standard input".to_owned()));
        };
        if !self.force {
            in_use_or(loaded).map_err(|it| refuse(format!("{it}, or use --force")))?;
        }
        let backup = put_back(loaded, session.blobs()).map_err(|it| refuse(it.to_string()))?;
        let again = RepairOptions { error: None, ..options.clone() };
        let is_sound = load(path, self.from).ok().is_some_and(|it| {
            let findings = Session::new(session.dialect(), it.blobs).check(&again);
            findings.is_ok_and(|it| !it.iter().any(|it| it.is_error() && it.fix.is_some()))
        });
        if !is_sound {
            backup.restore().map_err(|it| refuse(it.to_string()))?;
            let text = "the mended session was not sound, so the old one is back: this is a defect of msg, please report it";
            return Err(refuse(format!("{text} ({MEND_FAILED})")));
        }
        Ok(backup.path)
    }

    fn print(&self, cx: &Context, loaded: &Loaded, it: &Diagnosis) -> Result<(), Failure> {
        let mut out = Output::stdout();
        let text = if self.json {
            let path = (self.sessions.len() > 1).then_some(loaded.name.as_str());
            json(path, it)
        } else {
            text::human(&loaded.name, it, self.fix, cx.color_for(&out))
        };
        let text = if self.redact { redact::text(&text).0 } else { text };
        out.write(text.as_bytes())?;
        out.finish()
    }
}

/// Why a session must not be written, if it is in use (SE-92).
pub(crate) fn in_use_or(loaded: &Loaded) -> Result<(), String> {
    match loaded.stamps.iter().find_map(in_use::why) {
        Some(why) => Err(format!("{why}; close the agent")),
        None => Ok(()),
    }
}

fn json(path: Option<&str>, it: &Diagnosis) -> String {
    #[derive(Serialize)]
    struct WithPath<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<&'a str>,
        #[serde(flatten)]
        form: Form<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        named: Option<Vec<Named>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        backup: Option<String>,
    }
    #[derive(Serialize)]
    struct Named {
        record: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        block: Option<u32>,
    }
    let named = it.named.as_ref().map(|it| {
        it.iter().map(|it| Named { record: it.record, block: it.block }).collect()
    });
    let form = Form {
        dialect: it.dialect,
        ok: !it.findings.iter().any(Finding::is_error),
        findings: &it.findings,
        changed: it.changed.is_some(),
        output_b64: None,
    };
    let backup = it.changed.as_ref().map(|it| it.display().to_string());
    let mut res = msg_document::to_json(&WithPath { path, form, named, backup });
    res.push(b'\n');
    String::from_utf8(res).expect("because JSON is UTF-8")
}

fn failure(name: &str, error: &msg_session::Error) -> Failure {
    let diagnostic = unreadable(error);
    Failure::Refused(format!("{}: {} ({})", safe(name), diagnostic.message(), error.code()))
}
