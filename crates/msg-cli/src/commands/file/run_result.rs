//! `msg file run-result`: what running a code cell or a call gave, as cells behind it (MF-56).

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
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
