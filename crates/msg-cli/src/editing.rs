//! Commands that take messages out of a document and write it back in its own format: `filter`, `trim`.
//!
//! Reads, writes and says what became of it, for one document, several and lines; what stays decides the
//! command.

use msg_document::{Document, Refusal, WriteOptions};

use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::{Input, InputArgs};
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{DocumentArgs, Output, PrettyArgs};
use crate::sources::Sources;

/// The arguments that such commands share.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EditingArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: DocumentArgs,
    #[command(flatten)]
    pretty: PrettyArgs,
}

/// What became of one document.
pub(crate) struct Edited {
    /// A sentence about it, for people.
    pub(crate) said: String,
    pub(crate) status: Status,
    /// Nothing is written: the file stays as it is.
    pub(crate) is_refused: bool,
}

impl EditingArgs {
    /// Edits each input by `edit`, which is given the source too, for the options that a line brings.
    pub(crate) fn run(
        &self,
        cx: &Context,
        edit: impl Fn(&mut Document, &[u8]) -> Result<Edited, Refusal> + Sync,
    ) -> Result<Status, Failure> {
        let sources = self.input.sources()?;
        self.output.expect_room(&sources, None)?;
        sources.each(cx, |mut input| {
            let is_lines = self.input.is_lines(cx, &mut input, &self.lines)?;
            let out = self.output.open(&input, &sources, None)?;
            match is_lines {
                true => self.lines(cx, input, out, &edit),
                false => self.document(cx, input, out, &sources, &edit),
            }
        })
    }

    fn lines(
        &self,
        cx: &Context,
        input: Input,
        mut out: Output,
        edit: &(impl Fn(&mut Document, &[u8]) -> Result<Edited, Refusal> + Sync),
    ) -> Result<Status, Failure> {
        let read = self.input.of_a_line();
        let job = |line: &[u8]| {
            let mut document = Document::read(line, &read)?;
            document.set_source(line.to_vec());
            let status = edit(&mut document, line)?.status;
            document.expect_writer()?;
            let mut json = Vec::with_capacity(line.len());
            document.write(&WriteOptions::default(), &mut json);
            Ok(Answer::new(json, status))
        };
        let status = jsonl::run(cx, &self.lines, input, &mut out, None, job)?;
        self.output.finish_lines(cx, out, status)
    }

    fn document(
        &self,
        cx: &Context,
        mut input: Input,
        mut out: Output,
        sources: &Sources,
        edit: &impl Fn(&mut Document, &[u8]) -> Result<Edited, Refusal>,
    ) -> Result<Status, Failure> {
        let mut document = formats::open_to_write(cx, &mut input, &self.input)?;
        let is_json = document.format().is_json();
        self.pretty.expect(is_json, "a message file is none")?;
        if document.format().is_session() {
            out.replaces_a_session();
        }
        let status = formats::emptiness(cx, &document, &input.name);
        let edited = edit(&mut document, b"");
        let edited = edited.and_then(|it| document.expect_writer().map(|()| it));
        let edited = edited.map_err(|it| Failure::refused(it, &input.name))?;
        if !cx.quiet || edited.is_refused {
            let name = if sources.is_one() { String::new() } else { format!("{}: ", input.name) };
            cx.note(&format!("{name}{}\n", edited.said));
        }
        if edited.is_refused {
            return Ok(edited.status.max(status));
        }
        let mut text = Vec::new();
        document.write(&WriteOptions::default(), &mut text);
        let text = if is_json { self.pretty.laid_out(text) } else { text };
        out.write_document(&text)?;
        self.output.finish(cx, out)?;
        Ok(edited.status.max(status))
    }
}
