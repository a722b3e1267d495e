//! `msg file run-result`: what running a code cell or a call gave, as cells after it (MF-56).

use std::path::PathBuf;

use msg_file::{Entry, run_cells};

use super::forms::ResultForm;
use super::nonces::Nonces;
use super::request::{Answered, FileArgs, Options, Request, bad_line, failed, failed_by, refused};
use super::writing::{WriteArgs, acknowledge, append_all, read_all};
use crate::context::Context;
use crate::exit::{Failure, Status};

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
