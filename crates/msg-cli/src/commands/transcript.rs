//! `msg transcript`: a conversation as text or XML, for the prompt of a model that is to summarise it.

use msg_document::{Document, ObjectWriter, TranscriptForm, TranscriptOptions, transcript};
use serde::{Deserialize, Serialize};

use super::Command;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::formats;
use crate::input::InputArgs;
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::OutputArgs;
use crate::{line_options, sizes};

/// Write a conversation as text or XML, for the prompt of a summariser.
///
/// Each message under a line [ROLE NAME]: its texts, calls as name(arguments), results as name: … What a model
/// thought stays out. With --jsonl each line is answered by {"transcript":TEXT}, and may bring "options" with
/// the flags below, in snake case.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg transcript session.json
  msg transcript --form xml --max-bytes-per-result 2k session.json -o prompt.xml")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Transcript")]
struct HowArgs {
    /// text, or xml: elements `message` with `text`, `call` and `result`, escaped [default: text].
    #[arg(long, value_name = "FORM", value_parser = ["text", "xml"])]
    form: Option<String>,
    /// Cut the results of tools behind so many bytes (k, M).
    #[arg(long, value_name = "N", value_parser = sizes::count)]
    max_bytes_per_result: Option<usize>,
}

impl HowArgs {
    fn options(&self) -> Result<TranscriptOptions, msg_document::Refusal> {
        let form = match self.form.as_deref() {
            None | Some("text") => TranscriptForm::Text,
            Some("xml") => TranscriptForm::Xml,
            Some(_) => return Err(msg_document::Refusal::bad_option("form takes text or xml")),
        };
        let options = TranscriptOptions::default().with_form(form);
        Ok(match self.max_bytes_per_result {
            Some(bytes) => options.with_max_bytes_per_result(bytes),
            None => options,
        })
    }
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let sources = self.input.sources()?;
        let mut out = self.output.open(&sources)?;
        let read = self.input.of_a_line();
        let status = sources.each(cx, |mut input| {
            if self.input.is_lines(cx, &mut input, &self.lines)? {
                let job = |line: &[u8]| {
                    let options = line_options::of_line(&self.how, line)?.options()?;
                    let messages = Document::read(line, &read)?.into_messages();
                    let text = transcript(&messages, &options);
                    let json = ObjectWriter::new().with("transcript", &text).finish();
                    Ok(Answer::new(json, Status::of(!messages.is_empty())))
                };
                return jsonl::run(cx, &self.lines, input, &mut out, None, job);
            }
            let document = formats::open(cx, &mut input, &self.input)?;
            let status = formats::emptiness(cx, &document, &input.name);
            let options = self.how.options().map_err(|it| Failure::refused(it, &input.name))?;
            let text = transcript(document.messages(), &options);
            out.write((sources.head(&input.name) + &text).as_bytes())?;
            Ok(status)
        })?;
        out.finish()?;
        Ok(status)
    }
}
