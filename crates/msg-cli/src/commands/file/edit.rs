//! The subcommands that write: `fmt`, `append`, `run-result`, `set default`.
//!
//! Lines of `--jsonl` touch no file: the new document comes back (MF-48). With a file, `append` takes
//! a cell a line and acknowledges each when it is durable (MF-52).

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic};
use msg_file::store::{self, Appender, Durability};
use msg_file::{
    AppendOptions, CellRef, Entry, NewCell, Place, ToCells, refuse_other_kinds, run_cells,
    set_default_cell,
};
use serde::Serialize;

use super::forms::{ResultForm, entry, kind};
use super::nonces::Nonces;
use super::request::{
    Answered, FileArgs, Options, Request, bad_line, failed, failed_by, print, refused,
};
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::Input;
use msg_document::to_json;

use crate::jsonl::Answer;
use crate::output::Output;
use crate::signals;

/// Where an appended cell stands, in an answer.
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

#[derive(Serialize)]
struct Changed {
    output_b64: String,
    changed: Vec<usize>,
}

fn fmt(request: Request) -> Answered {
    let formatted = request.document()?.format();
    let output_b64 = BASE64_STANDARD.encode(&formatted.bytes);
    Ok(Answer::of(&Changed { output_b64, changed: formatted.changed }, Status::Clean))
}

fn append(request: Request) -> Answered {
    let entries: Vec<Entry> = request.cells.iter().map(|it| entry(it)).collect::<Result<_, _>>()?;
    append_all(&request, entries)
}

fn append_all(request: &Request, entries: Vec<Entry>) -> Answered {
    if !request.options.force {
        let name = std::path::Path::new(&request.name);
        refuse_other_kinds(name, &request.document()?).map_err(refused)?;
    }
    let mut nonces = Nonces::of(request.options.nonces.clone());
    let options = AppendOptions::default().with_force(request.options.force.into());
    let mut nonce = || nonces.next();
    let (bytes, placed) =
        msg_file::append(&request.bytes, request.mode(), entries, &options, &mut nonce)
            .map_err(refused)?;
    let appended = placed.iter().map(|it| At { id: &it.id, start: it.span.start, end: it.span.end }).collect();
    Ok(Answer::of(&Appended { output_b64: BASE64_STANDARD.encode(bytes), appended }, Status::Clean))
}

fn run_result(mut request: Request) -> Answered {
    let form = request.result.take().ok_or_else(|| bad_line("`result` is missing"))?;
    let (of, result) = form.read()?;
    let cells = run_cells(&request.document()?, &of, &result).map_err(refused)?;
    let entries: Vec<Entry> = cells.into_iter().map(Entry::Cell).collect();
    append_all(&request, entries)
}

fn set_default(mut request: Request) -> Answered {
    let name = request.options.agent.clone().ok_or_else(|| bad_line("`options.agent` is missing"))?;
    // A file that has to be switched on first knows its agents only then.
    let options = AppendOptions::default().with_force(request.options.force.into());
    let mut nonce = || Nonces::System.next();
    let nothing: [Entry; 0] = [];
    request.bytes =
        msg_file::append(&request.bytes, request.mode(), nothing, &options, &mut nonce)
            .map_err(refused)?
            .0;
    let cell = set_default_cell(&request.document()?, &name).map_err(refused)?;
    append_all(&request, vec![Entry::Cell(cell)])
}

#[derive(Debug, clap::Args)]
pub(super) struct Fmt {
    #[command(flatten)]
    file: FileArgs,
    /// Change the file in place.
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    write: bool,
    /// Change nothing; exit status 1 if the file would change.
    #[arg(long, conflicts_with_all = ["write", "json", "jsonl"])]
    check: bool,
    /// Write to a newer format, and in place to a file with several names.
    #[arg(long, requires = "write")]
    force: bool,
}

impl Fmt {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.file.lines.jsonl {
            return self.file.run_lines(cx, fmt);
        }
        let request = self.file.request(Options::default())?;
        if self.file.json {
            return self.file.print_json(request, fmt);
        }
        let doc = request.document().map_err(|it| failed_by(&it, &request.name))?;
        let formatted = doc.format();
        let same = formatted.bytes == doc.bytes();
        if self.check {
            cx.summary(|| format!("{}: would change", request.name), Status::of(same));
            return Ok(Status::of(same));
        }
        if !self.write {
            let mut out = Output::stdout();
            out.write(&formatted.bytes)?;
            out.finish()?;
        } else if !same {
            let path = self.file.path()?;
            if !self.force && doc.is_newer() {
                let what = "the file is of a newer format (--force writes to it)";
                let newer = Diagnostic::error(Code::new("msgfile::newer-format"), what);
                return Err(failed_by(&newer, &request.name));
            }
            signals::clean_up();
            let replaced = store::replace(path, doc.bytes(), &formatted.bytes, self.force.into());
            replaced.map_err(|it| failed(it, &request.name))?;
        }
        Ok(Status::Clean)
    }
}

#[derive(Debug, Clone, clap::Args)]
struct WriteArgs {
    /// Switch a Markdown file on, write to a newer format or a file of another kind, take an id that is
    /// there. Appending to a message file needs none: that is what it is for.
    #[arg(long)]
    force: bool,
    /// When it counts as done: on the disk, handed to the system, or neither [default: sync].
    #[arg(long, value_enum)]
    durability: Option<Durable>,
}

/// When an append counts as done, as it is named here.
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
    /// Refuses what only a file has use for, where lines come and go.
    fn none_given(&self) -> Result<(), Failure> {
        match self.force || self.durability.is_some() {
            true => Err(Failure::Usage(
                "--force and --durability are for a file: with --jsonl a line brings its options".to_owned(),
            )),
            false => Ok(()),
        }
    }

    fn open(&self, file: &FileArgs) -> Result<(Appender, String), Failure> {
        let path = file.path()?;
        let name = path.display().to_string();
        let durability = match self.durability.unwrap_or_default() {
            Durable::Sync => Durability::Sync,
            Durable::Flush => Durability::Flush,
            Durable::None => Durability::None,
        };
        signals::clean_up();
        let max_bytes = usize::try_from(file.limit.max_bytes).unwrap_or(usize::MAX);
        let options =
            store::Options { durability, force: self.force.into(), max_bytes, ..store::Options::default() };
        let log = Appender::open(path, options).map_err(|it| failed(it, &name))?;
        Ok((log, name))
    }
}

/// The acknowledgement of an append.
#[derive(Serialize)]
struct Ack<'a> {
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
    let mended = it.mended.map(store::Mended::as_str);
    Ack { id: &it.id, start, end, mended, recovered: &it.recovered, warnings: &it.warnings }
}

/// Says what was appended: JSON, or the ids for people.
fn acknowledge(done: &[store::Appended], json: bool, cx: &Context) -> Result<(), Failure> {
    for it in done {
        for warning in &it.warnings {
            cx.say(&warning.to_string());
        }
        print(&if json { to_json(&ack(it)) } else { it.id.clone().into_bytes() })?;
    }
    Ok(())
}

#[derive(Debug, clap::Args)]
pub(super) struct Append {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    write: WriteArgs,
    /// message or output [default: message; output with --of and for tool and summary].
    #[arg(long, conflicts_with = "jsonl")]
    kind: Option<String>,
    /// The type: markdown, code, an agent's name, tool, a language.
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "jsonl")]
    ty: Option<String>,
    /// The title.
    #[arg(long, conflicts_with = "jsonl")]
    title: Option<String>,
    /// The id [default: the next number].
    #[arg(long, conflicts_with_all = ["of", "jsonl"])]
    id: Option<String>,
    /// The cell below which it hangs: a call, a result, an execution or a summary of it.
    #[arg(long, value_name = "ID", conflicts_with = "jsonl")]
    of: Option<String>,
    /// Number of #s, 1 to 5.
    #[arg(long, conflicts_with = "jsonl")]
    level: Option<u8>,
    /// An attribute, K=V, or K for a flag; may be repeated.
    #[arg(long = "attr", value_name = "K=V", conflicts_with = "jsonl")]
    attrs: Vec<String>,
    /// Keep white space at the edges of the body.
    #[arg(long, conflicts_with = "jsonl")]
    exact: bool,
    /// The body; else standard input.
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl")]
    body: Option<String>,
}

impl Append {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.file.lines.asked()? {
            return self.run_lines(cx);
        }
        let (mut log, name) = self.write.open(&self.file)?;
        let cell = self.cell().map_err(|it| failed_by(&it, &name))?;
        let cell = match &self.body {
            Some(body) => NewCell { body: body.clone().into_bytes(), ..cell },
            None => NewCell { body: read_all(None, self.file.limit.max_bytes)?, ..cell },
        };
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
            Some(_) => Err(Failure::Usage("--jobs is not for a file that is appended to".to_owned())),
            None => self.acknowledge_lines(),
        }
    }

    fn cell(&self) -> Result<NewCell, Box<Diagnostic>> {
        let place = match (&self.id, &self.of) {
            (Some(id), _) => Place::Id(id.clone()),
            (None, Some(of)) => Place::Of(CellRef::from(of.as_str())),
            (None, None) => Place::Next,
        };
        let attr = |it: &String| match it.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (it.clone(), None),
        };
        Ok(NewCell {
            ty: self.ty.clone(),
            title: self.title.clone(),
            place,
            level: self.level,
            attrs: self.attrs.iter().map(attr).collect(),
            exact: self.exact,
            ..NewCell::new(kind(self.kind.as_deref(), self.of.is_some(), self.ty.as_deref())?)
        })
    }

    /// A cell or message a line, each acknowledged before the next is read.
    fn acknowledge_lines(&self) -> Result<Status, Failure> {
        let (mut log, _) = self.write.open(&self.file)?;
        let mut input = BufReader::new(Input::open(None)?.reader);
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
        Entry::Cell(cell) => log.append(&cell, &mut nonce).map(|it| vec![it]),
        Entry::Message(it) => log.append_message(&it, &ToCells::default(), &mut nonce),
    }
    .map_err(refused)
}

#[derive(Debug, clap::Args)]
pub(super) struct RunResult {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    write: WriteArgs,
    /// The code cell or call that was run: an id or #N.
    #[arg(long, value_name = "ID", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    of: Option<String>,
    /// What went to standard output.
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl")]
    stdout: Option<String>,
    /// What went to standard error.
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl")]
    stderr: Option<String>,
    /// The value, or the text of a call's result.
    #[arg(long, conflicts_with = "jsonl")]
    text: Option<String>,
    /// The value as bytes, from a file.
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    data: Option<PathBuf>,
    /// The media type of text or data.
    #[arg(long, value_name = "TYPE", conflicts_with = "jsonl")]
    mime_type: Option<String>,
    /// How it ended; else by exit code and error.
    #[arg(long, conflicts_with = "jsonl")]
    status: Option<String>,
    /// The exit code.
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "jsonl")]
    exit_code: Option<i64>,
    /// What went wrong.
    #[arg(long, value_name = "TEXT", conflicts_with = "jsonl")]
    error: Option<String>,
    /// How long it took: 0.5s, 500ms.
    #[arg(long, conflicts_with = "jsonl")]
    duration: Option<String>,
    /// When it ended, RFC 3339.
    #[arg(long, conflicts_with = "jsonl")]
    time: Option<String>,
    /// The language, if it is not the cell's.
    #[arg(long, conflicts_with = "jsonl")]
    lang: Option<String>,
}

/// What is in a file, or piped in, within a limit of bytes.
fn read_all(path: Option<&Path>, max_bytes: u64) -> Result<Vec<u8>, Failure> {
    let mut input = Input::open(path)?;
    input.limit = max_bytes;
    input.read_all()
}

impl RunResult {
    pub(super) fn run(self, cx: &Context) -> Result<Status, Failure> {
        if self.file.lines.asked()? {
            self.write.none_given()?;
            return self.file.run_lines(cx, run_result);
        }
        let data = self.data.as_deref();
        let data = data.map(|it| read_all(Some(it), self.file.limit.max_bytes)).transpose()?;
        let form = ResultForm {
            of: self.of.unwrap_or_default(),
            stdout: self.stdout,
            stderr: self.stderr,
            streams: Vec::new(),
            text: self.text,
            data_b64: data.map(|it| BASE64_STANDARD.encode(it)),
            mime_type: self.mime_type,
            status: self.status,
            exit_code: self.exit_code.map(Into::into),
            error: self.error,
            duration: self.duration.map(Into::into),
            time: self.time,
            lang: self.lang,
        };
        let (mut log, name) = self.write.open(&self.file)?;
        let request = self.file.request(Options::default())?;
        let (of, result) = form.read().map_err(|it| failed_by(&it, &name))?;
        let doc = request.document().map_err(|it| failed_by(&it, &name))?;
        let cells = run_cells(&doc, &of, &result).map_err(|it| failed(it, &name))?;
        let done = log.append_all(&cells, &mut || Nonces::System.next());
        acknowledge(&done.map_err(|it| failed(it, &name))?, self.file.json, cx)?;
        Ok(Status::Clean)
    }
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
        let (mut log, name) = self.write.open(&self.file)?;
        let request = self.file.request(Options::default())?;
        let doc = request.document().map_err(|it| failed_by(&it, &name))?;
        let agent = self.agent.unwrap_or_default();
        let cell = set_default_cell(&doc, &agent).map_err(|it| failed(it, &name))?;
        let done = log.append(&cell, &mut || Nonces::System.next());
        acknowledge(&[done.map_err(|it| failed(it, &name))?], self.file.json, cx)?;
        Ok(Status::Clean)
    }
}
