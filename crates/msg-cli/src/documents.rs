//! Shared code of the commands over documents: the inputs, each one document or lines of documents, and the outputs.
//!
//! ```text
//! answers   check, stats, cut-points, transcript    a.json b.json ─▶ one output, an answer to each
//! edits     repair, convert, fit, trim, filter      a.json b.json ─▶ an output each: in place, in a folder
//! ```
//!
//! The command decides on the answers and on the handling of a document.

use msg_document::{FieldPath, Format, JoinedPaths, ReadOptions, Refusal, RowFields};
use serde::{Serialize, Serializer};

use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::{Input, InputArgs, Sources};
use crate::jsonl;
use crate::jsonl::{Answer, LineArgs};
use crate::output::{
    DocumentArgs, Output, OutputArgs, PrettyArgs, ReportArgs, end_line, expect_two_files,
};
use crate::render::Quotes;

// No doc comments on the flattened structs: clap would use them as the help of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    pub(crate) output: DocumentArgs,
    #[command(flatten)]
    pub(crate) pretty: PrettyArgs,
}

/// The form of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One line of JSON per input.
    Json,
    /// Text for people.
    Text,
}

impl Form {
    /// JSON if requested.
    pub(crate) fn of(json: bool) -> Self {
        if json { Form::Json } else { Form::Text }
    }
}

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One conversation.
    Document,
    /// One document per line.
    Lines,
    /// One row, with its conversation in a member.
    Row,
}

/// An input of lines, or of one row, for the command that answers each.
pub(crate) struct Lines<'a> {
    cx: &'a Context,
    args: &'a LineArgs,
    input: Input,
    kind: Kind,
    pub(crate) out: &'a mut Output,
    report: Option<&'a mut Output>,
    /// All inputs, if each answer names its own.
    heads: Option<&'a Sources>,
}

/// An input of one document, and the place of its result.
pub(crate) struct Opened<'a> {
    pub(crate) input: Input,
    pub(crate) out: Output,
    pub(crate) report: Option<&'a mut Output>,
    pub(crate) sources: &'a Sources,
}

impl AnswerArgs {
    /// Answers each input: its lines, or its single document.
    pub(crate) fn run(
        &self,
        cx: &Context,
        how: (Form, Option<&RowArgs>),
        lines: impl Fn(Lines<'_>) -> Result<Status, Failure>,
        document: impl Fn(Input, &Sources, &mut Output) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        self.run_to_end(cx, how, lines, document, |_, _| Ok(()))
    }

    /// [`AnswerArgs::run`], with a final output after the last answer.
    pub(crate) fn run_to_end(
        &self,
        cx: &Context,
        (form, rows): (Form, Option<&RowArgs>),
        lines: impl Fn(Lines<'_>) -> Result<Status, Failure>,
        document: impl Fn(Input, &Sources, &mut Output) -> Result<Status, Failure>,
        end: impl FnOnce(&Sources, &mut Output) -> Result<(), Failure>,
    ) -> Result<Status, Failure> {
        let sources = self.input.sources()?;
        let mut out = self.output.open(&sources)?;
        let answer = |mut input: Input, out: &mut Output| {
            let kind = self.input.kind(cx, &mut input, &self.lines, rows)?;
            if kind == Kind::Document {
                return document(input, &sources, out);
            }
            let (args, heads) = (&self.lines, Some(&sources));
            lines(Lines { cx, args, input, kind, out, report: None, heads })
        };
        let status = sources.each_path(cx, |path| {
            let answered = sources.open(path).and_then(|it| answer(it, &mut out));
            // Each path has a line of JSON, including those that failed.
            let refused = answered.as_ref().err().and_then(Failure::to_json);
            if let Some(json) = refused.filter(|_| form == Form::Json && !sources.is_one()) {
                let name = path.map_or_else(|| "<stdin>".to_owned(), |it| it.display().to_string());
                let mut line = sources.headed_json(&name, json);
                end_line(&mut line);
                out.write(&line)?;
            }
            answered
        })?;
        end(&sources, &mut out)?;
        // If there are only problems to report, the file is unchanged.
        if status == Status::Clean || !out.is_blank() {
            out.finish()?;
        }
        Ok(status)
    }
}

impl EditArgs {
    /// Edits each input, with `to` as the output format if it differs: its lines, which are handled here, or its single
    /// document. The output has a place for each source.
    pub(crate) fn run(
        &self,
        cx: &Context,
        (sources, to): (&Sources, Option<Format>),
        (report, rows): (Option<&ReportArgs>, Option<&RowArgs>),
        lines: impl Fn(Lines<'_>) -> Result<Status, Failure>,
        document: impl Fn(Opened<'_>) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        let mut report = report.map(|it| it.open(sources)).transpose()?.flatten();
        let shared = self.output.shared(sources, to)?;
        let status = sources.each(cx, |mut input| {
            let kind = self.input.kind(cx, &mut input, &self.lines, rows)?;
            let mut out = match &shared {
                Some(shared) => shared.part(),
                None => self.output.open(&input, sources, to)?,
            };
            expect_two_files(report.as_ref(), &out)?;
            let report = report.as_mut();
            if kind == Kind::Document {
                return document(Opened { input, out, report, sources });
            }
            let args = &self.lines;
            let status =
                lines(Lines { cx, args, input, kind, out: &mut out, report, heads: None })?;
            self.output.finish_lines(cx, out, status)
        })?;
        report.map(Output::finish).transpose()?;
        shared.map(|it| self.output.finish_shared(cx, it)).transpose()?;
        Ok(status)
    }

    /// The named inputs, if there is a place for their results.
    pub(crate) fn sources(&self, to: Option<Format>) -> Result<Sources, Failure> {
        let sources = self.input.sources()?;
        self.output.expect_room(&sources, to)?;
        Ok(sources)
    }
}

impl Lines<'_> {
    /// The name of the input.
    pub(crate) fn name(&self) -> &str {
        &self.input.name
    }

    /// Whether it is one row, so there is a single answer.
    pub(crate) fn is_row(&self) -> bool {
        self.kind == Kind::Row
    }

    /// Answers each line with `job`, in JSON.
    pub(crate) fn answer(
        self,
        job: impl Fn(&[u8]) -> Result<Answer, Refusal> + Sync,
    ) -> Result<Status, Failure> {
        self.answer_numbered(|_, line| job(line))
    }

    /// [`Lines::answer`] with the number of each line; `None` for a single row.
    pub(crate) fn answer_numbered(
        self,
        job: impl Fn(Option<u64>, &[u8]) -> Result<Answer, Refusal> + Sync,
    ) -> Result<Status, Failure> {
        let (name, heads) = (self.input.name.clone(), self.heads);
        let head = |json: Vec<u8>| match heads {
            Some(sources) => sources.headed_json(&name, json),
            None => json,
        };
        if self.is_row() {
            return self.answer_row(&head, |row| job(None, row));
        }
        let job = |number: u64, line: &[u8]| job(Some(number), line);
        jsonl::run(self.cx, self.args, self.input, (self.out, self.report), &head, job)
    }

    /// Shows the lines for which `job` returns text. It gets the line number; `None` for a single row.
    pub(crate) fn show(
        self,
        job: impl Fn(Option<u64>, &[u8]) -> Result<Answer, Refusal> + Sync,
    ) -> Result<Status, Failure> {
        if self.is_row() {
            let Lines { mut input, out, .. } = self;
            let row = input.read_all()?;
            let answer = job(None, &row);
            let answer = answer.map_err(|it| Failure::document(it, &input.name, row))?;
            out.write_coloured(&String::from_utf8_lossy(&answer.json))?;
            return Ok(answer.status);
        }
        let job = |number: u64, line: &[u8]| job(Some(number), line);
        jsonl::run_for_people(self.cx, self.args, self.input, self.out, job)
    }

    /// Answers a single row. An edited row is written as it is, and its edits are listed for people.
    fn answer_row(
        self,
        head: &dyn Fn(Vec<u8>) -> Vec<u8>,
        job: impl Fn(&[u8]) -> Result<Answer, Refusal>,
    ) -> Result<Status, Failure> {
        let Lines { cx, mut input, out, report, heads, .. } = self;
        let row = input.read_all()?;
        let answer = job(&row).map_err(|it| Failure::document(it, &input.name, row))?;
        let Answer { mut json, edits, left_behind, remaining, rewrite, status } = answer;
        if heads.is_some() {
            json = head(json);
            end_line(&mut json);
        }
        out.write_document(&json)?;
        match report {
            Some(report) => {
                report.write(&jsonl::report_line(
                    &edits,
                    &left_behind,
                    &remaining,
                    rewrite.as_ref(),
                ))?;
            }
            None if !cx.quiet => {
                let quotes = Quotes::default();
                let list = cx.list(&input.name, &quotes);
                cx.note(&list.edits(&edits));
                cx.note(&list.findings(&remaining));
                if status != Status::Clean && edits.is_empty() && remaining.is_empty() {
                    cx.note(&format!("{}: the row has no messages\n", input.name));
                }
            }
            None => {}
        }
        Ok(status)
    }
}

// The flags for the place of the conversation in each document.
//
// `msg_document::Row` implements them.

// No doc comment on the flattened struct: clap would use it as the help of the command.
#[derive(Debug, Clone, Default, clap::Args, Serialize)]
#[command(next_help_heading = "Rows")]
pub(crate) struct RowArgs {
    /// Take the conversation from this member of each document or line, such as `request.body`; `[]` represents
    /// each element of a list. Repeatable.
    #[arg(long, value_name = "PATH")]
    #[serde(serialize_with = "as_texts")]
    field: Vec<FieldPath>,
    /// Take the request from one member and its answer from another, such as `input,output`. Repeatable.
    #[arg(long, value_name = "INPUT,OUTPUT")]
    #[serde(serialize_with = "as_pairs")]
    join: Vec<JoinedPaths>,
}

impl RowArgs {
    /// Whether a document is a row with a conversation in it.
    pub(crate) fn are_given(&self) -> bool {
        !self.field.is_empty() || !self.join.is_empty()
    }

    /// The read options with these places.
    pub(crate) fn over(&self, read: ReadOptions) -> ReadOptions {
        let fields = self.field.iter().cloned().map(RowFields::field);
        let pairs = self.join.iter().cloned().map(|it| RowFields::join(it.input, it.output));
        read.with_fields(fields.chain(pairs).fold(RowFields::default(), RowFields::and))
    }
}

fn as_texts<S: Serializer>(paths: &[FieldPath], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(ToString::to_string))
}

fn as_pairs<S: Serializer>(pairs: &[JoinedPaths], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(pairs.iter().map(|it| format!("{},{}", it.input, it.output)))
}
