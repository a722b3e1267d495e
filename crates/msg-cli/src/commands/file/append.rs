//! `msg file append`: one cell, or a cell or message a line, each acknowledged when it is durable (MF-52).

use std::io::{self, BufRead, BufReader, Read};

use msg_core::Diagnostic;
use msg_document::to_json;
use msg_file::store::{self, Appender};
use msg_file::{Entry, ToCells};
use serde::Serialize;

use super::forms::{CellForm, entry};
use super::nonces::Nonces;
use super::request::{Answered, FileArgs, Request, bad_line, failed, failed_by, print, refused};
use super::writing::{WriteArgs, ack, acknowledge, append_all, read_all};
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
