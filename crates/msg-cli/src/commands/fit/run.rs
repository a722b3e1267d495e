//! One run of `msg fit`: each input compacted, or changed as a plan says, and what is printed of it.

use std::path::Path;

use msg_compact::Totals;
use msg_core::Message;
use msg_document::{
    Document, FitOptions, Fitted, Fitter, Goal, Reached, Refusal, Summarizer, to_json,
};

use super::Args;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::{Input, side_file};
use crate::jsonl::{self, Answer};
use crate::output::{Output, end_line};
use crate::render::{Quotes, plural};
use crate::sources::Sources;

/// What all inputs have in common.
pub(super) struct Run<'a> {
    pub(super) cx: &'a Context,
    pub(super) args: &'a Args,
    pub(super) sources: &'a Sources,
    pub(super) summarizer: &'a dyn Summarizer,
}

impl Run<'_> {
    /// Answers one input.
    pub(super) fn input(&self, mut input: Input, options: &FitOptions) -> Result<Status, Failure> {
        let args = self.args;
        let is_lines = args.input.is_lines(self.cx, &mut input, &args.lines)?;
        let out = args.output.open(&input, self.sources, None)?;
        if is_lines { self.lines(input, out, options) } else { self.document(input, out, options) }
    }

    fn lines(
        &self,
        input: Input,
        mut out: Output,
        options: &FitOptions,
    ) -> Result<Status, Failure> {
        self.args.expect_no_files()?;
        let fitter = Fitter::of_lines(self.args.input.of_lines(options.clone()));
        let fitter = fitter.map_err(|it| Failure::refused(it, &input.name))?;
        let job = |line: &[u8]| {
            let answer = fitter.answer(line, self.summarizer)?;
            Ok(Answer::new(answer.to_json(), Status::of(answer.is_clean())))
        };
        let status = jsonl::run(self.cx, &self.args.lines, input, &mut out, None, job)?;
        out.finish()?;
        Ok(status)
    }

    fn document(
        &self,
        mut input: Input,
        mut out: Output,
        options: &FitOptions,
    ) -> Result<Status, Failure> {
        let (cx, args) = (self.cx, self.args);
        let bytes = input.read_all()?;
        let options = options.for_document(&bytes).into_owned();
        let document = Document::read(&bytes, &args.input.of_a_document(&input.name));
        // A plan holds the text that it gives back, and is undone on the text that was written.
        let text =
            if args.plan.is_some() || args.undo.is_some() { bytes.clone() } else { Vec::new() };
        let document = formats::written_again(cx, document, bytes, &input.name, &args.input)?;
        let is_json = (args.json || document.format().is_json()) && !args.dry_run;
        args.pretty.expect(is_json, "what is printed is none, or a line each")?;
        if document.format().is_session() {
            out.replaces_a_session();
        }
        let status = formats::emptiness(cx, &document, &input.name);
        if let Some((goal, path)) = args.goal() {
            let text = self.reached(document, goal, path, (&input.name, &text))?;
            self.print(text, is_json, &input.name, out)?;
            return Ok(status);
        }
        let fitter = Fitter::new(options).map_err(|it| Failure::refused(it, &input.name))?;
        let fitted = match args.dry_run {
            true => self.requests(document, &fitter, &input, out),
            false => self.fit((document, &text), &fitter, &input, out),
        };
        fitted.map(|it| it.max(status))
    }

    /// Prints what would be asked first.
    fn requests(
        &self,
        mut document: Document,
        fitter: &Fitter,
        input: &Input,
        mut out: Output,
    ) -> Result<Status, Failure> {
        let mut lines = Vec::new();
        fitter
            .first_requests(&mut document, |it| lines.extend(request_line(it)))
            .map_err(|it| Failure::refused(it, &input.name))?;
        if lines.is_empty() && !self.cx.quiet {
            self.cx.note("no summary would be asked for\n");
        }
        out.write(&lines)?;
        out.finish().map(|()| Status::Clean)
    }

    /// Makes a document fit that was read from this text; it is there if a plan is wanted.
    fn fit(
        &self,
        (mut document, text): (Document, &[u8]),
        fitter: &Fitter,
        input: &Input,
        out: Output,
    ) -> Result<Status, Failure> {
        let (cx, args) = (self.cx, self.args);
        let quotes = self.quotes(document.messages(), fitter);
        let wants_plan = args.plan.is_some() && !args.json;
        let read = wants_plan.then(|| document.messages().to_vec());
        let is_json = args.json || document.format().is_json();
        let fitted = fitter.fit_document(&mut document, self.summarizer);
        let mut fitted = fitted.map_err(|it| Failure::refused(it, &input.name))?;
        let text =
            self.fitted_text(&mut document, &mut fitted, read.as_deref().map(|it| (text, it)));
        self.side_files(&fitted)?;
        let status = Status::of(fitted.fits());
        if !args.json {
            let mut edits = fitted.edits();
            // What went wrong is said in any case.
            edits.retain(|it| !cx.quiet || it.is_error() && it.fix.is_none());
            cx.note(&cx.list(&input.name, &quotes).edits(&edits));
        }
        if !args.json && !cx.quiet {
            cx.note(&summary_line(&fitted));
        }
        // What does not fit is not printed: a file stays as it is.
        let Some(text) = text else { return Ok(status) };
        self.print(text, is_json, &input.name, out).map(|()| status)
    }

    fn print(
        &self,
        text: Vec<u8>,
        is_json: bool,
        name: &str,
        mut out: Output,
    ) -> Result<(), Failure> {
        let text = if self.args.json { self.sources.headed_json(name, text) } else { text };
        let mut text = if is_json { self.args.pretty.laid_out(text) } else { text };
        if self.args.json {
            end_line(&mut text);
        }
        out.write_document(&text)?;
        self.args.output.finish(self.cx, out)
    }

    /// What is printed, if anything; makes the plan fit it. `read` is what was read, where a plan is wanted
    /// of a document that is printed in its own format.
    fn fitted_text(
        &self,
        document: &mut Document,
        fitted: &mut Fitted,
        read: Option<(&[u8], &[Message])>,
    ) -> Option<Vec<u8>> {
        if self.args.json {
            return Some(fitted.to_json());
        }
        let text = fitted.write_into(document)?;
        let text = if document.format().is_json() { self.args.pretty.laid_out(text) } else { text };
        if let Some(read) = read {
            fitted.plan_as_written(read, document, &text);
        }
        Some(text)
    }

    /// What a plan makes of the conversation, in its own format or as JSON of this program.
    fn reached(
        &self,
        mut document: Document,
        goal: Goal,
        path: &Path,
        (name, text): (&str, &[u8]),
    ) -> Result<Vec<u8>, Failure> {
        let no_plan = |it: Refusal| Failure::Usage(format!("{}: {it}", path.display()));
        let plan =
            Goal::read_plan(&side_file(path, self.args.input.max_bytes())?).map_err(no_plan)?;
        let reached = match self.args.json {
            true => goal
                .reach(&plan, document.take_messages())
                .map(|it| Reached::new(goal, it).to_json()),
            false => goal.reach_document(&plan, document, text),
        };
        reached.map_err(|it| Failure::refused(it, name))
    }

    /// The roles of what is mended. Only people need them.
    fn quotes(&self, messages: &[Message], fitter: &Fitter) -> Quotes {
        match self.args.json || self.cx.quiet || !fitter.options().repair {
            true => Quotes::default(),
            false => Quotes::roles(messages),
        }
    }

    fn side_files(&self, fitted: &Fitted) -> Result<(), Failure> {
        if let Some((path, plan)) = self.args.plan.as_deref().zip(fitted.plan.as_ref()) {
            let mut text = to_json(plan);
            text.push(b'\n');
            self.write_file(path, &text)?;
        }
        if let Some(path) = &self.args.records {
            let mut text = Vec::new();
            for record in fitted.records() {
                text.extend(to_json(record));
                text.push(b'\n');
            }
            self.write_file(path, &text)?;
        }
        Ok(())
    }

    fn write_file(&self, path: &Path, text: &[u8]) -> Result<(), Failure> {
        let mut file = Output::file(path, self.sources)?;
        file.write(text)?;
        file.finish()
    }
}

/// A request as people and programs can read it.
fn request_line(request: &msg_compact::SummaryRequest<'_>) -> Vec<u8> {
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
    let limit = fitted
        .limit
        .map(|it| format!(" (limit {it} {})", fitted.unit.as_str()))
        .unwrap_or_default();
    let count = |it: Totals| {
        let Totals { messages, bytes, tokens } = it;
        format!(
            "{}, {}, {}",
            plural(messages, "message"),
            plural(tokens, "token"),
            plural(bytes, "byte")
        )
    };
    let verdict = if fitted.fits() { "fits" } else { "does not fit" };
    match fitted.first_changed {
        Some(_) => format!("{verdict}{limit}: {} -> {}\n", count(before), count(after)),
        None => format!("{verdict}{limit}, nothing was changed: {}\n", count(after)),
    }
}
