//! `msg chat`: asks the model that a message file names, shows the answer while it comes, and appends
//! it to the file (MF-57).
//!
//! The file is made safe to write, and the question is in it, before anything is sent. Calls of the
//! answer are recorded and never run; keys never reach the file.

mod draft;
mod record;
mod reply;
mod request;
mod show;
mod who;

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::time::Duration;

use msg_core::Diagnostic;
use msg_file::store::{Appended, Appender, Options};
use msg_file::{Document, HistoryOptions, Limits, Mode, ToCells};
use msg_openai::Assembled;

use self::draft::Draft;
use self::request::Asking;
use self::show::Show;
use self::who::Who;
use super::Command;
use super::file::{Nonces, failed, failed_by};
use crate::cli::Context;
use crate::endpoint::{Endpoint, Patience};
use crate::exit::{Failure, Status};
use crate::output::Output;
use crate::render::{self, Quotes};

/// Ask the model that a message file names; stream the answer and append it to the file.
///
/// The question is -m, else standard input, else the last message of the file if nothing answers it.
/// The agent is --agent, else the one that the message addresses, else the file's default. The key is
/// read from OPENAI_API_KEY. Ctrl-C stops the answer; what has come is kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The message file; made if it is missing.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The question.
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    #[command(flatten)]
    who: who::WhoArgs,
    /// Switch a Markdown file on, make its section, write to a newer format or to a file with errors.
    #[arg(long)]
    force: bool,
    /// Print the request; send nothing, change nothing.
    #[arg(long)]
    dry_run: bool,
    /// The endpoint [default: OPENAI_BASE_URL, else OpenAI's].
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// What the provider accepts: the history is mended for it too (msg profiles lists them).
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// How long the endpoint may be silent, in seconds.
    #[arg(long, value_name = "S", default_value_t = 120)]
    timeout: u64,
    /// Print the outcome as JSON instead of the answer while it comes.
    #[arg(long)]
    json: bool,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let draft = self.draft()?;
        let asking = self.asking(&draft.document, &draft.agent, cx)?;
        if self.dry_run {
            let mut out = Output::stdout();
            out.write(&[&asking.body[..], b"\n"].concat())?;
            return out.finish().map(|()| Status::Clean);
        }
        let endpoint = self.endpoint()?;
        let mut log = self.open()?;
        let asked = self.append_cells(&mut log, &draft, cx)?;
        let now = self.read()?;
        // Somebody may have written to the file since it was read.
        let asking = match now.bytes() == draft.document.bytes() {
            true => asking,
            false => self.asking(&now, &draft.agent, cx)?,
        };
        let mut show = Show::new(cx, !self.json);
        let silence = Duration::from_secs(self.timeout.max(1));
        let reply = reply::receive(endpoint, asking.body.clone(), silence, &mut show);
        show.end();
        let reply = reply.map_err(|it| self.refused(&it))?;
        let answered = self.append_answer(&mut log, &asking, &reply, cx)?;
        self.tell(&asking, &asked, &answered, &reply, cx)
    }
}

impl Args {
    fn name(&self) -> String {
        self.file.display().to_string()
    }

    fn failed(&self, error: msg_file::Error) -> Failure {
        failed(error, &self.name())
    }

    fn refused(&self, what: &str) -> Failure {
        Failure::Refused(format!("{}: {what}", self.name()))
    }

    /// The file as it is to be asked about, in memory.
    fn draft(&self) -> Result<Draft, Failure> {
        let document = self.read()?;
        self.no_errors(&document)?;
        let who = Who::choose(&document, &self.who);
        let question = self.question(&document)?;
        Draft::make(&document, who, question, self.forces()).map_err(|it| failed_by(&it, &self.name()))
    }

    /// The document on the disk; an empty one if there is none.
    fn read(&self) -> Result<Document, Failure> {
        let bytes = match std::fs::read(&self.file) {
            Err(it) if it.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        };
        let bytes = bytes.map_err(|it| Failure::read(self.name(), it))?;
        let read = Document::read(bytes, Mode::of(&self.file), &Limits::default());
        read.map_err(|it| self.failed(it))
    }

    /// A new file needs no permission to be switched on.
    fn forces(&self) -> bool {
        self.force || !self.file.exists()
    }

    fn no_errors(&self, document: &Document) -> Result<(), Failure> {
        match document.diagnostics().iter().find(|it| it.is_error()) {
            Some(it) if !self.force => {
                let line = it.at.line.map_or(String::new(), |it| format!("line {it}: "));
                let what = format!("{line}{} [{}] (--force asks all the same)", it.message(), it.code);
                Err(self.refused(&what))
            }
            _ => Ok(()),
        }
    }

    /// What is asked anew; none if the file's last message is the question.
    fn question(&self, document: &Document) -> Result<Option<String>, Failure> {
        if let Some(text) = &self.message {
            return Ok(Some(text.clone()));
        }
        let waiting = draft::has_open_question(document);
        let mut text = String::new();
        if !(waiting && io::stdin().is_terminal()) {
            if io::stdin().is_terminal() && !self.json {
                io::Write::write_all(&mut io::stderr(), b"msg: the question, ended by Ctrl-D:\n").ok();
            }
            let read = io::stdin().read_to_string(&mut text);
            read.map_err(|it| Failure::read("<stdin>", it))?;
        }
        match text.trim_end() {
            "" if waiting => Ok(None),
            "" => Err(self.refused("there is no question: -m TEXT asks one")),
            text => Ok(Some(text.to_owned())),
        }
    }

    fn open(&self) -> Result<Appender, Failure> {
        let options = Options { force: self.forces(), ..Options::default() };
        Appender::open(&self.file, options).map_err(|it| self.failed(it))
    }

    fn endpoint(&self) -> Result<Endpoint, Failure> {
        let given = self.url.clone().or_else(|| std::env::var("OPENAI_BASE_URL").ok());
        let url = given.filter(|it| !it.is_empty());
        let patience = Patience { begin: Some(Duration::from_secs(self.timeout.max(1))), ..Patience::default() };
        Endpoint::new(url.as_deref().unwrap_or("https://api.openai.com/v1"), patience)
    }

    /// The request for a document, with what had to be changed for it said.
    fn asking(&self, document: &Document, agent: &str, cx: &Context) -> Result<Asking, Failure> {
        let options = HistoryOptions { agent: Some(agent.to_owned()), open: false };
        let history = document.history(&options).map_err(|it| self.failed(it))?;
        let who = Who::named(document, agent, &self.who);
        let asking = Asking::new(history.messages, who, self.profile.as_deref());
        let asking = asking.map_err(|it| failed_by(&it, &self.name()))?;
        self.tell_edits(&asking.edits, cx);
        Ok(asking)
    }

    /// What the model is not told as the file has it.
    fn tell_edits(&self, edits: &[Diagnostic], cx: &Context) {
        if edits.is_empty() || cx.quiet {
            return;
        }
        if cx.verbose {
            cx.note(&cx.list(&self.name(), &Quotes::default()).edits(edits));
        }
        let n = render::plural(edits.len(), "edit");
        let hint = if cx.verbose { "" } else { "; -v shows them" };
        cx.note(&format!("msg: {n} made for the model, the file keeps its history{hint}\n"));
    }

    fn note(&self, done: &[Appended], cx: &Context) {
        for warning in done.iter().flat_map(|it| &it.warnings) {
            cx.note(&format!("msg: {warning}\n"));
        }
    }

    /// Appends the question, and what makes its agent known.
    fn append_cells(
        &self,
        log: &mut Appender,
        draft: &Draft,
        cx: &Context,
    ) -> Result<Vec<Appended>, Failure> {
        if draft.cells.is_empty() {
            return Ok(Vec::new());
        }
        let done = log.append_all(&draft.cells, &mut || Nonces::System.next());
        let done = done.map_err(|it| self.failed(it))?;
        self.note(&done, cx);
        Ok(done)
    }

    /// Appends the answer by one write. If that fails it is not lost: it is in the message.
    fn append_answer(
        &self,
        log: &mut Appender,
        asking: &Asking,
        reply: &Assembled,
        cx: &Context,
    ) -> Result<Vec<Appended>, Failure> {
        let Some(choice) = reply.choices.first().filter(|it| !it.message.parts.is_empty()) else {
            let why = record::why_empty(reply);
            return Err(self.refused(&format!("there is no answer, nothing is appended: {why}")));
        };
        let attrs = record::attributes(reply, choice, &asking.model);
        let options = ToCells { agent: Some(asking.agent.clone()), attrs };
        let done = log.append_message(&choice.message, &options, &mut || Nonces::System.next());
        let done = done.map_err(|it| {
            let kept = record::as_json(reply);
            self.refused(&format!("the answer could not be appended: {it}; it is {kept}"))
        })?;
        self.note(&done, cx);
        Ok(done)
    }

    fn tell(
        &self,
        asking: &Asking,
        asked: &[Appended],
        answered: &[Appended],
        reply: &Assembled,
        cx: &Context,
    ) -> Result<Status, Failure> {
        if self.json {
            let mut out = Output::stdout();
            out.write(&record::outcome(asking, asked, answered, reply))?;
            out.finish()?;
        } else if !cx.quiet {
            let found = cx.list(&self.name(), &Quotes::default()).findings(&reply.diagnostics);
            cx.note(&found);
        }
        Ok(Status::of(reply.complete))
    }
}
