//! `msg file append`: one cell, or a cell or message a line, each acknowledged when it is durable (MF-52).

use std::io;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use msg_core::Diagnostic;
use msg_document::to_json;
use msg_file::store::Appender;
use msg_file::{AppendOptions, Entry, ToCells, run_cells, set_default_cell, store};
use serde::Serialize;

use super::forms::{CellForm, entry};
use super::request::{Answered, FileArgs, Request, bad_line, failed, failed_by, print, refused};
use super::writing::{WriteArgs, ack, acknowledge, append_all, read_all};
use crate::commands::file::forms::ResultForm;
use crate::commands::file::request::Options;
use crate::commands::file::writing::Nonces;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::Input;

fn append(request: Request) -> Answered {
    let entries: Vec<Entry> = request.cells.iter().map(|it| entry(it)).collect::<Result<_, _>>()?;
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
                Err(Failure::Usage("--jobs is not for a file that is appended to".to_owned()))
            }
            None => self.acknowledge_lines(cx),
        }
    }

    /// A cell or message a line, each acknowledged before the next is read.
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
        Entry::Cell(cell) => log.append(&cell, &mut nonce).map(|it| vec![it]),
        Entry::Message(it) => log.append_message(&it, &ToCells::default(), &mut nonce),
    }
    .map_err(refused)
}

// `msg file run-result`: what running a code cell or a call gave, as cells after it (MF-56).

fn run_result(mut request: Request) -> Answered {
    let form = request.result.take().ok_or_else(|| bad_line("`result` is missing"))?;
    let (of, result) = form.read()?;
    let cells = run_cells(&request.document()?, &of, &result).map_err(refused)?;
    let entries: Vec<Entry> = cells.into_iter().map(Entry::Cell).collect();
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

// `msg file set default`: the agent that answers from here on, by a `[set]` cell (MF-55).

fn set_default(mut request: Request) -> Answered {
    let name =
        request.options.agent.clone().ok_or_else(|| bad_line("`options.agent` is missing"))?;
    // A file that has to be switched on first knows its agents only then.
    let options = AppendOptions::default().with_force(request.options.force.into());
    let mut nonce = || Nonces::System.next();
    let nothing: [Entry; 0] = [];
    request.bytes = msg_file::append(&request.bytes, request.mode(), nothing, &options, &mut nonce)
        .map_err(refused)?
        .0;
    let cell = set_default_cell(&request.document()?, &name).map_err(refused)?;
    append_all(&request, vec![Entry::Cell(cell)])
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
