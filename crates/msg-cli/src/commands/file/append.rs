//! `msg file append`: one cell, or one cell or message per line, each acknowledged once it is durable (MF-52).

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::Diagnostic;
use msg_document::to_json;
use msg_file::store::{Appender, Durability};
use msg_file::{
    AppendEntry, AppendOptions, MessageFile, Mode, Nonce, ToCells, refuse_other_kinds, run_cells,
    set_default_cell, store,
};
use serde::Serialize;

use super::request::{Answered, FileArgs, Request, bad_line, failed, failed_by, print, refused};
use crate::commands::file::request::{CellForm, Options, ResultForm, entry};
use crate::context::{Context, random};
use crate::exit;
use crate::exit::{Failure, Status, refuse_if};
use crate::input::Input;
use crate::jsonl::Answer;

fn append(request: Request) -> Answered {
    let cells = request.cells.as_ref().ok_or_else(|| bad_line("`cells` is missing"))?;
    let entries: Vec<AppendEntry> = cells.iter().map(|it| entry(it)).collect::<Result<_, _>>()?;
    append_all(&request, entries)
}

#[derive(Debug, clap::Args)]
pub(super) struct Append {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    cell: CellForm,
}

impl Append {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.file.lines.asked()? {
            return self.run_lines(cx);
        }
        let (mut log, name) = self.write.open(cx, &self.file)?;
        let has_body = self.cell.body.is_some();
        let mut cell = self.cell.cell().map_err(|it| failed_by(&it, &name))?;
        if !has_body {
            cell.body = read_all(None, self.file.limit.max_bytes)?;
        }
        let done = log.append(&cell, &mut || Nonces::System.next());
        acknowledge(&[done.map_err(|it| failed(it, &name))?], self.file.json, cx)?;
        Ok(Status::Clean)
    }

    fn run_lines(&self, cx: &Context) -> Result<Status, Failure> {
        if self.file.path().is_err() {
            self.write.none_given()?;
            return self.file.run_lines(cx, append);
        }
        // Each is in the file before the next is read.
        match self.file.lines.jobs {
            Some(_) => {
                Err(Failure::Usage("--jobs cannot be used with a file to append to".to_owned()))
            }
            None => self.acknowledge_lines(cx),
        }
    }

    /// Reads one cell or message per line, each acknowledged before the next is read.
    fn acknowledge_lines(&self, cx: &Context) -> Result<Status, Failure> {
        let (mut log, _) = self.write.open(cx, &self.file)?;
        let mut input = BufReader::new(Input::open(None, self.file.limit.max_bytes)?.reader);
        let longest = self.file.limit.max_bytes;
        let mut status = Status::Clean;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut input).take(longest.saturating_add(1)).read_until(b'\n', &mut line);
            match read.map_err(|it| Failure::read("<stdin>", it))? {
                0 => return Ok(status),
                n if n as u64 > longest => return Err(too_long(longest)),
                _ => {}
            }
            match append_line(&mut log, &line) {
                Ok(done) => {
                    for it in &done {
                        print(&to_json(&ack(it)))?;
                    }
                }
                Err(error) => {
                    status = Status::Failed;
                    print(&to_json(&Refusal { error: &error }))?;
                }
            }
        }
    }
}

fn too_long(limit: u64) -> Failure {
    let what = format!("a line has more than {limit} bytes (--max-bytes raises the limit)");
    Failure::read("<stdin>", io::Error::new(io::ErrorKind::FileTooLarge, what))
}

#[derive(Serialize)]
struct Refusal<'a> {
    error: &'a Diagnostic,
}

fn append_line(log: &mut Appender, line: &[u8]) -> Result<Vec<store::Appended>, Box<Diagnostic>> {
    let text = std::str::from_utf8(line).map_err(|it| bad_line(&it.to_string()))?;
    let mut nonce = || Nonces::System.next();
    match entry(text)? {
        AppendEntry::Cell(cell) => log.append(&cell, &mut nonce).map(|it| vec![it]),
        AppendEntry::Message(it) => log.append_message(&it, &ToCells::default(), &mut nonce),
    }
    .map_err(refused)
}

// `msg file run-result`: appends the output of a code cell or call as cells (MF-56).

fn run_result(mut request: Request) -> Answered {
    let form = request.result.take().ok_or_else(|| bad_line("`result` is missing"))?;
    let (of, result) = form.read()?;
    let cells = run_cells(&request.document()?, &of, &result).map_err(refused)?;
    let entries: Vec<AppendEntry> = cells.into_iter().map(AppendEntry::Cell).collect();
    append_all(&request, entries)
}

#[derive(Debug, clap::Args)]
pub(super) struct RunResult {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    form: ResultForm,
    /// The value as bytes, from a file.
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    data: Option<PathBuf>,
}

impl RunResult {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.file.lines.asked()? {
            self.write.none_given()?;
            return self.file.run_lines(cx, run_result);
        }
        let data = self.data.as_deref();
        let data = data.map(|it| read_all(Some(it), self.file.limit.max_bytes)).transpose()?;
        let (mut log, name) = self.write.open(cx, &self.file)?;
        let request = self.file.request(Options::default())?;
        let (of, mut result) = self.form.read().map_err(|it| failed_by(&it, &name))?;
        result.data = data;
        let doc = request.document().map_err(|it| failed_by(&it, &name))?;
        let cells = run_cells(&doc, &of, &result).map_err(|it| failed(it, &name))?;
        let done = log.append_all(&cells, &mut || Nonces::System.next());
        acknowledge(&done.map_err(|it| failed(it, &name))?, self.file.json, cx)?;
        Ok(Status::Clean)
    }
}

// `msg file set default`: sets the agent that answers from here on, with a `[set]` cell (MF-55).

fn set_default(mut request: Request) -> Answered {
    let name =
        request.options.agent.clone().ok_or_else(|| bad_line("`options.agent` is missing"))?;
    // A file that must be switched on first has its agents only afterwards.
    let options = AppendOptions::default().with_force(request.options.force.into());
    let mut nonce = || Nonces::System.next();
    let nothing: [AppendEntry; 0] = [];
    request.bytes = msg_file::append(&request.bytes, request.mode(), nothing, &options, &mut nonce)
        .map_err(refused)?
        .0;
    let cell = set_default_cell(&request.document()?, &name).map_err(refused)?;
    append_all(&request, vec![AppendEntry::Cell(cell)])
}

#[derive(Debug, clap::Args)]
pub(super) struct SetDefault {
    /// The agent that answers from here on.
    #[arg(value_name = "NAME", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    agent: Option<String>,
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    write: WriteArgs,
}

impl SetDefault {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.file.lines.asked()? {
            self.write.none_given()?;
            return self.file.run_lines(cx, set_default);
        }
        let (mut log, name) = self.write.open(cx, &self.file)?;
        let request = self.file.request(Options::default())?;
        let doc = request.document().map_err(|it| failed_by(&it, &name))?;
        let agent = self.agent.unwrap_or_default();
        let cell = set_default_cell(&doc, &agent).map_err(|it| failed(it, &name))?;
        let done = log.append(&cell, &mut || Nonces::System.next());
        acknowledge(&[done.map_err(|it| failed(it, &name))?], self.file.json, cx)?;
        Ok(Status::Clean)
    }
}

// Shared by the subcommands that append: opening the file, and the final message.
//
// A line of `--jsonl` changes no file: it returns the new document (MF-48).

#[derive(Debug, Clone, clap::Args)]
pub(super) struct WriteArgs {
    /// Switch a Markdown file on, write to a file with a newer format or of another kind, or use an id that exists. A
    /// message file needs no --force.
    #[arg(long)]
    force: bool,
    /// When the append counts as done: written to disk, handed to the system, or neither [default: sync].
    #[arg(long, value_enum)]
    durability: Option<Durable>,
}

/// When an append counts as done, by its name here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Durable {
    /// On the disk.
    #[default]
    Sync,
    /// Handed to the system, with a journal.
    Flush,
    /// No journal, no sync: for imports that can be repeated.
    None,
}

impl WriteArgs {
    /// Refuses options that only apply to files, for line input.
    fn none_given(&self) -> Result<(), Failure> {
        refuse_if(
            self.force || self.durability.is_some(),
            "--force and --durability need a FILE: with --jsonl each line has its own options",
        )
    }

    pub(super) fn open(
        &self,
        cx: &Context,
        file: &FileArgs,
    ) -> Result<(Appender, String), Failure> {
        let path = file.path()?;
        let name = path.display().to_string();
        // A message file has no sections that could end, so it is not read here.
        if Mode::of(path) == Mode::Markdown && path.exists() {
            let request = file.request(Options::default())?;
            if let Ok(document) = request.document() {
                say_if_below(cx, &document, &name);
            }
        }
        let durability = match self.durability.unwrap_or_default() {
            Durable::Sync => Durability::Sync,
            Durable::Flush => Durability::Flush,
            Durable::None => Durability::None,
        };
        exit::clean_up();
        let max_bytes = usize::try_from(file.limit.max_bytes).unwrap_or(usize::MAX);
        let options = store::AppenderOptions {
            durability,
            force: self.force.into(),
            max_bytes,
            ..store::AppenderOptions::default()
        };
        let log = Appender::open(path, options).map_err(|it| failed(it, &name))?;
        Ok((log, name))
    }
}

/// Warns that a cell will be below a heading that ends the section of a Markdown file for its readers.
pub(in crate::commands) fn say_if_below(cx: &Context, document: &MessageFile, name: &str) {
    let found = document.check();
    let is_it = |it: &&Diagnostic| it.code.as_str() == "msgfile::text-after-section";
    if let Some(it) = found.iter().find(is_it) {
        let line = it.at.line.map_or(String::new(), |it| format!("line {it}: "));
        cx.say(&format!(
            "{name}: {line}the section ends with this heading, and the new cell comes below it [{}]",
            it.code
        ));
    }
}

/// The acknowledgement of an append.
#[derive(Serialize)]
pub(super) struct Ack<'a> {
    id: &'a str,
    start: u64,
    end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mended: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    recovered: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [Diagnostic],
}

fn ack(it: &store::Appended) -> Ack<'_> {
    let (start, end) = (it.span.start, it.span.end);
    let mended = it.mended.map(store::CrashRepair::as_str);
    Ack { id: &it.id, start, end, mended, recovered: &it.recovered, warnings: &it.warnings }
}

/// Reports what was appended: JSON, or the ids for people.
fn acknowledge(done: &[store::Appended], json: bool, cx: &Context) -> Result<(), Failure> {
    for it in done {
        for warning in &it.warnings {
            cx.say(&warning.to_string());
        }
        print(&if json { to_json(&ack(it)) } else { it.id.clone().into_bytes() })?;
    }
    Ok(())
}

/// The content of a file, or of standard input, up to a limit of bytes.
pub(super) fn read_all(path: Option<&Path>, max_bytes: u64) -> Result<Vec<u8>, Failure> {
    Input::open(path, max_bytes)?.read_all()
}

/// The place of an appended cell in an answer.
#[derive(Serialize)]
struct At<'a> {
    id: &'a str,
    start: usize,
    end: usize,
}

#[derive(Serialize)]
struct Appended<'a> {
    output_b64: String,
    appended: Vec<At<'a>>,
}

/// The document with these entries after its last cell.
pub(super) fn append_all(request: &Request, entries: Vec<AppendEntry>) -> Answered {
    if !request.options.force {
        let name = Path::new(&request.name);
        refuse_other_kinds(name, &request.document()?).map_err(refused)?;
    }
    let mut nonces = Nonces::of(request.options.nonces.clone());
    let options = AppendOptions::default().with_force(request.options.force.into());
    let mut nonce = || nonces.next();
    let (bytes, placed) =
        msg_file::append(&request.bytes, request.mode(), entries, &options, &mut nonce)
            .map_err(refused)?;
    let appended =
        placed.iter().map(|it| At { id: &it.id, start: it.span.start, end: it.span.end }).collect();
    Ok(Answer::of(&Appended { output_b64: BASE64_STANDARD.encode(bytes), appended }, Status::Clean))
}

// Nonces for call ids: from the request, or from the system's random generator (MF-37).

/// The source of nonces.
pub(in crate::commands) enum Nonces {
    /// Those of the request, in order.
    Given(VecDeque<String>),
    /// The system's random generator.
    System,
}

impl Nonces {
    pub(in crate::commands) fn of(given: Option<Vec<String>>) -> Self {
        given.map_or(Nonces::System, |it| Nonces::Given(it.into()))
    }

    /// The next one. An exhausted list gives empty ones, which are invalid.
    pub(in crate::commands) fn next(&mut self) -> Nonce {
        match self {
            Nonces::Given(list) => Nonce::from(list.pop_front().unwrap_or_default()),
            Nonces::System => Nonce::from_random(random()),
        }
    }
}
