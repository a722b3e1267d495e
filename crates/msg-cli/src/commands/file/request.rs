//! What a subcommand is asked: a line of `--jsonl`, or a file and flags.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic};
use msg_file::{Error, FileLimits, MessageFile, Mode};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::forms::ResultForm;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::{Input, LimitArgs};
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::Output;
use crate::sources::Sources;

// No doc comment on the flattened struct: clap would show it as the text of the command.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FileArgs {
    /// The message file; `-` is standard input, and so is nothing when input is piped.
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Answer in JSON.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) limit: LimitArgs,
    #[command(flatten)]
    pub(super) lines: LineArgs,
}

/// The options of a line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Options {
    pub(super) roundtrip: bool,
    pub(super) agent: Option<String>,
    pub(super) open: bool,
    pub(super) force: bool,
    pub(super) nonces: Option<Vec<String>>,
}

/// A line of `--jsonl` (MF-48).
#[derive(Debug, Deserialize)]
struct Line<'a> {
    text: Option<String>,
    input_b64: Option<String>,
    name: Option<String>,
    #[serde(default)]
    options: Options,
    #[serde(borrow, default)]
    cells: Vec<&'a RawValue>,
    result: Option<ResultForm>,
}

/// What is asked of one document.
pub(super) struct Request {
    pub(super) bytes: Vec<u8>,
    pub(super) name: String,
    pub(super) options: Options,
    /// For `append`: cells and messages, as JSON.
    pub(super) cells: Vec<String>,
    /// For `run-result`.
    pub(super) result: Option<ResultForm>,
}

/// An answer, or the diagnostic in its place.
pub(super) type Answered = Result<Answer, Box<Diagnostic>>;

impl Request {
    fn of_line(line: &[u8]) -> Result<Self, Box<Diagnostic>> {
        let line: Line<'_> =
            serde_json::from_slice(line).map_err(|it| bad_line(&it.to_string()))?;
        let bytes = match (line.text, line.input_b64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(it)) => {
                BASE64_STANDARD.decode(it).map_err(|it| bad_line(&it.to_string()))?
            }
            _ => return Err(bad_line("one of text and input_b64 is needed")),
        };
        Ok(Request {
            bytes,
            name: line.name.unwrap_or_else(|| "x.msg.md".to_owned()),
            options: line.options,
            cells: line.cells.iter().map(|it| it.get().to_owned()).collect(),
            result: line.result,
        })
    }

    /// Which kind of file the name means.
    pub(super) fn mode(&self) -> Mode {
        Mode::of(Path::new(&self.name))
    }

    /// The document.
    pub(super) fn document(&self) -> Result<MessageFile, Box<Diagnostic>> {
        MessageFile::read(self.bytes.as_slice(), self.mode(), &FileLimits::default())
            .map_err(refused)
    }
}

/// A line that is not understood.
pub(super) fn bad_line(what: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(
        Code::new("cli::bad-line"),
        format!("the line is not understood: {what}"),
    ))
}

/// What the library refuses, as a diagnostic.
pub(super) fn refused(error: Error) -> Box<Diagnostic> {
    Box::new(error.diagnostic())
}

/// The same for a file: the failure of the run.
pub(in crate::commands) fn failed(error: Error, name: &str) -> Failure {
    failed_by(&error.diagnostic(), name)
}

/// A refusal of the file `name`.
pub(in crate::commands) fn failed_by(it: &Diagnostic, name: &str) -> Failure {
    Failure::Refused(format!("{name}: {} [{}]", it.message(), it.code))
}

impl FileArgs {
    /// Answers every line by `job`.
    pub(super) fn run_lines(
        &self,
        cx: &Context,
        job: impl Fn(Request) -> Answered + Sync,
    ) -> Result<Status, Failure> {
        let mut input = self.open()?;
        input.expect_lines()?;
        let job = |_: u64, line: &[u8]| Ok(job(Request::of_line(line)?)?);
        jsonl::run(cx, &self.lines, input, (&mut Output::stdout(), None), &jsonl::as_it_is, job)
    }

    /// Answers each line by `job`, or the file: in JSON by `job` too, else as `show` does for people.
    pub(super) fn run(
        &self,
        cx: &Context,
        options: Options,
        job: impl Fn(Request) -> Answered + Sync,
        show: impl FnOnce(Request) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        if self.lines.jsonl {
            return self.run_lines(cx, job);
        }
        let request = self.request(options)?;
        if self.json { self.print_json(request, job) } else { show(request) }
    }

    fn open(&self) -> Result<Input, Failure> {
        self.lines.asked()?;
        Sources::find(self.file.as_slice(), self.limit.max_bytes)?.open_one()
    }

    /// The file as a request.
    pub(super) fn request(&self, options: Options) -> Result<Request, Failure> {
        let mut input = self.open()?;
        let bytes = input.read_all()?;
        let name = if input.path.is_some() { input.name } else { "x.msg.md".to_owned() };
        Ok(Request { bytes, name, options, cells: Vec::new(), result: None })
    }

    /// The path of a file that is to be changed.
    pub(super) fn path(&self) -> Result<&Path, Failure> {
        let named = self.file.as_deref().filter(|it| it.as_os_str() != "-");
        named.ok_or_else(|| Failure::Usage("name the file that is to be changed".to_owned()))
    }

    /// Answers one request by `job` and prints the answer as JSON.
    pub(super) fn print_json(
        &self,
        request: Request,
        job: impl Fn(Request) -> Answered,
    ) -> Result<Status, Failure> {
        let name = request.name.clone();
        let answer = job(request).map_err(|it| failed_by(&it, &name))?;
        print(&answer.json)?;
        Ok(answer.status)
    }
}

/// Prints a line.
pub(super) fn print(line: &[u8]) -> Result<(), Failure> {
    let mut out = Output::stdout();
    out.write(line)?;
    out.write(b"\n")?;
    out.finish()
}
