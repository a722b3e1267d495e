//! `msg fit`: compacts a conversation until it fits a budget (CP-70).
//!
//! What is cut is decided by `msg-compact`; who writes the summaries is decided here.

pub(super) mod args;
mod endpoint;
mod in_session;

use std::path::{Path, PathBuf};
use std::time::Duration;

use msg_compact::{Plan, Totals};
use msg_core::Message;
use msg_document::{
    Accept, Digest, Document, FitOptions, Fitted, Fitter, Goal, Reached, Refusal, Summarizer,
    WriteOptions, read_plan, to_json,
};

use self::args::FitArgs;
use self::endpoint::Endpoint;
use super::Command;
use crate::cli::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::{Input, InputArgs};
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{Output, OutputArgs};
use crate::render::{Quotes, plural};

/// Compact a conversation until it fits a budget; print it, report what was cut.
///
/// Summaries are digests made without a model, unless --summarizer names an endpoint. Exit status 1
/// if it does not fit; nothing is printed then without --json or --best-effort.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fit: FitArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// Print the result as JSON: whether it fits, before and after, edits, messages.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Write the plan to FILE: it can be applied to the grown conversation, and undone.
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    plan: Option<PathBuf>,
    /// Apply the plan in FILE instead of compacting.
    #[arg(long, value_name = "FILE", conflicts_with_all = OTHER_THAN_A_PLAN, conflicts_with = "undo")]
    apply: Option<PathBuf>,
    /// Undo the plan in FILE instead of compacting.
    #[arg(long, value_name = "FILE", conflicts_with_all = OTHER_THAN_A_PLAN)]
    undo: Option<PathBuf>,
    /// Write the records of the compaction to FILE, a line of JSON each.
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    records: Option<PathBuf>,
    /// The session that the records name.
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true, requires = "records")]
    session: String,
    /// Compact the session of an agent in its own file, by the agent's own record, behind a backup.
    #[arg(long, conflicts_with_all = ["jsonl", "json", "output", "plan", "apply", "undo", "records", "best_effort"])]
    in_session: bool,
    /// Print the requests of the first step as JSON lines, and do nothing; with --in-session the lines that
    /// would be appended.
    #[arg(long, conflicts_with_all = ["jsonl", "json", "plan", "records", "summarizer", "best_effort"])]
    dry_run: bool,
}

/// What a plan that is there has no use for.
const OTHER_THAN_A_PLAN: [&str; 27] = [
    "jsonl",
    "plan",
    "records",
    "dry_run",
    "summarizer",
    "budget",
    "counter",
    "tools",
    "usage",
    "unit",
    "reserve",
    "trigger",
    "target",
    "preset",
    "config",
    "policies",
    "pin",
    "tool_cap",
    "profile",
    "repair",
    "open",
    "on_failure",
    "best_effort",
    "test_summarizer",
    "session",
    "requests",
    "timeout",
];

#[derive(Debug, Clone, clap::Args)]
struct ModelArgs {
    /// Ask this OpenAI-compatible endpoint for summaries; the key is read from OPENAI_API_KEY.
    #[arg(long, value_name = "URL", requires = "model")]
    summarizer: Option<String>,
    /// The model to ask.
    #[arg(long, value_name = "M", requires = "summarizer")]
    model: Option<String>,
    /// How many summaries are asked for at once.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "summarizer")]
    requests: usize,
    /// How long one summary may take, in seconds.
    #[arg(long, value_name = "S", default_value_t = 120, requires = "summarizer")]
    timeout: u64,
}

impl ModelArgs {
    fn endpoint(&self) -> Result<Option<Endpoint>, Failure> {
        let Some((url, model)) = self.summarizer.as_ref().zip(self.model.as_ref()) else { return Ok(None) };
        let timeout = Duration::from_secs(self.timeout.max(1));
        Endpoint::new(url, model, self.requests.max(1), timeout).map(Some)
    }
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let mut options = self.fit.options()?;
        options.records |= self.records.is_some();
        options.plan |= self.plan.is_some();
        options.session.clone_from(&self.session);
        let endpoint = self.model.endpoint()?;
        let summarizer = endpoint.as_ref().map_or(&Digest as &dyn Summarizer, |it| it);
        if self.in_session {
            let path = self.input.input.as_deref().filter(|it| it.as_os_str() != "-");
            let path = path.ok_or_else(|| Failure::Usage("--in-session needs a session".to_owned()))?;
            let from = self.input.from.map(|it| it.name().parse()).transpose();
            let from = from.map_err(|it: msg_session::Error| Failure::Usage(it.to_string()))?;
            return in_session::run(cx, path, from, self.dry_run, options, summarizer);
        }
        let mut input = self.input.open()?;
        let mut out = self.output.open(&input)?;
        if self.lines.jsonl {
            let fitter = Fitter::of_lines(self.with_read(options));
            let fitter = fitter.map_err(|it| Failure::refused(it, &input.name))?;
            return jsonl::run(cx, &self.lines, input, out, None, |line| {
                let answer = fitter.answer(line, summarizer)?;
                Ok(Answer::new(answer.to_json(), Status::of(answer.is_clean())))
            });
        }
        let bytes = input.read_all()?;
        let options = options.for_document(&bytes).into_owned();
        let document = formats::read(cx, bytes, &input.name, &self.input)?;
        if let Some((goal, path)) = self.goal() {
            let status = formats::emptiness(cx, &document, &input.name);
            out.write(&self.reached(document, goal, path, &input.name)?)?;
            return out.finish().map(|()| status);
        }
        let fitter = Fitter::new(options).map_err(|it| Failure::refused(it, &input.name))?;
        let status = formats::emptiness(cx, &document, &input.name);
        self.single(cx, document, &fitter, summarizer, &input, out).map(|it| it.max(status))
    }
}

impl Args {
    /// The options with how documents are read.
    fn with_read(&self, options: FitOptions) -> FitOptions {
        FitOptions {
            from: self.input.from,
            calls: self.input.calls,
            max_bytes: Some(self.input.max_bytes),
            accept: Accept::Json,
            ..options
        }
    }

    fn single(
        &self,
        cx: &Context,
        mut document: Document,
        fitter: &Fitter,
        summarizer: &dyn Summarizer,
        input: &Input,
        mut out: Output,
    ) -> Result<Status, Failure> {
        let refused = |it: Refusal| Failure::refused(it, &input.name);
        if self.dry_run {
            let requests = fitter.first_requests(&mut document).map_err(refused)?;
            if requests.is_empty() && !cx.quiet {
                cx.note("no summary would be asked for\n");
            }
            requests.iter().try_for_each(|it| out.write(&request_line(it)))?;
            return out.finish().map(|()| Status::Clean);
        }
        let quotes = self.quotes(document.messages(), fitter, cx);
        let before = (self.plan.is_some() && !self.json).then(|| document.messages().to_vec());
        let mut fitted = fitter.fit_document(&mut document, summarizer).map_err(refused)?;
        let best_effort = fitter.options().best_effort;
        let text = self.fitted_text(&mut document, &mut fitted, best_effort, before.as_deref());
        self.side_files(&fitted, input)?;
        let status = Status::of(fitted.fits());
        if !self.json {
            let mut edits = fitted.edits();
            // What went wrong is said in any case.
            edits.retain(|it| !cx.quiet || it.is_error() && it.fix.is_none());
            cx.note(&cx.list(&input.name, &quotes).edits(&edits));
        }
        if !self.json && !cx.quiet {
            cx.note(&summary_line(&fitted));
        }
        // What does not fit is not printed: a file stays as it is.
        let Some(text) = text else { return Ok(status) };
        out.write(&text)?;
        out.finish()?;
        if !self.json {
            self.output.say_written(cx);
        }
        Ok(status)
    }

    /// What is printed, if anything; makes the plan fit it. `before` is what was read, where a plan is wanted
    /// of a document that is printed in its own format.
    fn fitted_text(
        &self,
        document: &mut Document,
        fitted: &mut Fitted,
        best_effort: bool,
        before: Option<&[Message]>,
    ) -> Option<Vec<u8>> {
        if self.json {
            let mut text = fitted.to_json();
            text.push(b'\n');
            return Some(text);
        }
        if !fitted.fits() && !best_effort {
            return None;
        }
        let messages = std::mem::take(&mut fitted.messages);
        let kept = before.map(|_| messages.clone());
        let text = match fitted.first_changed {
            None => unchanged(document, messages),
            Some(_) => printed(document, messages, fitted.plan.as_ref()),
        };
        if let Some((before, fitted_messages)) = before.zip(kept)
            && let Ok(written) = document.read_again(&text)
        {
            fitted.plan_as_written(before, &fitted_messages, written);
        }
        Some(text)
    }

    /// What a plan makes of the conversation, in its own format or as JSON of this program.
    fn reached(
        &self,
        mut document: Document,
        goal: Goal,
        path: &Path,
        name: &str,
    ) -> Result<Vec<u8>, Failure> {
        let no_plan = |it: Refusal| Failure::Usage(format!("{}: {it}", path.display()));
        let plan = read_plan(&read_text(path)?).map_err(no_plan)?;
        let messages = goal.reach(&plan, document.take_messages());
        let messages = messages.map_err(|it| Failure::refused(it, name))?;
        if !self.json {
            let applied = Some(&plan).filter(|_| goal == Goal::Apply);
            return Ok(printed(&mut document, messages, applied));
        }
        let mut text = Reached::new(goal, messages).to_json();
        text.push(b'\n');
        Ok(text)
    }

    /// The roles of what is mended. Only people need them.
    fn quotes(&self, messages: &[Message], fitter: &Fitter, cx: &Context) -> Quotes {
        match self.json || cx.quiet || !fitter.options().repair {
            true => Quotes::default(),
            false => Quotes::roles(messages),
        }
    }

    fn goal(&self) -> Option<(Goal, &Path)> {
        let apply = self.apply.as_deref().map(|it| (Goal::Apply, it));
        apply.or(self.undo.as_deref().map(|it| (Goal::Undo, it)))
    }

    fn side_files(&self, fitted: &Fitted, input: &Input) -> Result<(), Failure> {
        if let Some((path, plan)) = self.plan.as_deref().zip(fitted.plan.as_ref()) {
            let mut text = to_json(plan);
            text.push(b'\n');
            write_file(path, input, &text)?;
        }
        if let Some(path) = &self.records {
            let mut text = Vec::new();
            for record in fitted.records() {
                text.extend(to_json(record));
                text.push(b'\n');
            }
            write_file(path, input, &text)?;
        }
        Ok(())
    }
}

/// The document as it came.
fn unchanged(document: &mut Document, messages: Vec<Message>) -> Vec<u8> {
    document.put_messages(messages);
    let mut text = Vec::new();
    document.write(&WriteOptions::default(), &mut text);
    crate::output::end_line(&mut text);
    text
}

/// The conversation in its own format, where a plan says how it became another.
fn printed(document: &mut Document, messages: Vec<Message>, plan: Option<&Plan>) -> Vec<u8> {
    let mut text = Vec::new();
    document.put_planned(messages, plan);
    document.write(&WriteOptions::default(), &mut text);
    text.push(b'\n');
    text
}

/// A request as people and programs can read it.
fn request_line(request: &msg_compact::SummaryRequest) -> Vec<u8> {
    let mut line = serde_json::json!({
        "policy": request.policy(),
        "replaces": {"start": request.replaces().start, "end": request.replaces().end},
        "target": request.target(),
        "max": request.max(),
    });
    match request.prompt() {
        Ok(prompt) => line["prompt"] = prompt.iter().map(|it| it.text()).collect(),
        Err(refused) => line["error"] = refused.to_string().into(),
    }
    let mut line = to_json(&line);
    line.push(b'\n');
    line
}

/// One sentence about what became of the budget.
fn summary_line(fitted: &Fitted) -> String {
    let (before, after) = fitted.totals();
    let limit = fitted.limit.map(|it| format!(" (limit {it} {})", fitted.unit.as_str())).unwrap_or_default();
    let count = |it: Totals| {
        let Totals { messages, bytes, tokens } = it;
        format!("{}, {}, {}", plural(messages, "message"), plural(tokens, "token"), plural(bytes, "byte"))
    };
    let verdict = if fitted.fits() { "fits" } else { "does not fit" };
    match fitted.first_changed {
        Some(_) => format!("{verdict}{limit}: {} -> {}\n", count(before), count(after)),
        None => format!("{verdict}{limit}, nothing was changed: {}\n", count(after)),
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let mut input = Input::open(Some(path))?;
    let bytes = input.read_all()?;
    String::from_utf8(bytes).map_err(|_| Failure::Usage(format!("{} is not UTF-8", path.display())))
}

fn write_file(path: &Path, input: &Input, text: &[u8]) -> Result<(), Failure> {
    let mut file = Output::file(path, input)?;
    file.write(text)?;
    file.finish()
}
