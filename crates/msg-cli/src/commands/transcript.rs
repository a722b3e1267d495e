//! `msg transcript`: a conversation as text or XML, for the prompt of a model that is to summarise it.

use msg_document::{Document, ObjectWriter, TranscriptOptions, transcript};
use serde::Serialize;

use super::Command;
use crate::context::Context;
use crate::documents::{AnswerArgs, Form, Lines};
use crate::exit::{Failure, Status};
use crate::input;
use crate::jsonl::Answer;
use crate::options::Flags;
use crate::words;

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
    io: AnswerArgs,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Debug, Clone, Default, clap::Args, Serialize)]
#[command(next_help_heading = "Transcript")]
struct HowArgs {
    /// text, or xml: elements `message` with `text`, `call` and `result`, escaped [default: text].
    #[arg(long, value_name = "FORM", value_parser = ["text", "xml"])]
    form: Option<String>,
    /// Cut tool results after so many bytes (k, M).
    #[arg(long, value_name = "N", value_parser = words::count)]
    max_bytes_per_result: Option<usize>,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options: TranscriptOptions = Flags::of(&self.how).options()?;
        let read = self.io.input.of_a_line();
        let lines = |it: Lines<'_>| {
            it.answer(|line| {
                let options = Flags::of(&self.how).options_of_line(line)?;
                let messages = Document::read(line, &read)?.into_messages();
                let text = transcript(&messages, &options);
                let json = ObjectWriter::new().with("transcript", &text).finish();
                Ok(Answer::new(json, Status::of(!messages.is_empty())))
            })
        };
        self.io.run(cx, (Form::Text, None), lines, |mut input, sources, out| {
            let document = input::open(cx, &mut input, &self.io.input)?;
            let status = input::say_unread(cx, &document, &input.name);
            let text = transcript(document.messages(), &options);
            out.write((sources.head(&input.name) + &text).as_bytes())?;
            Ok(status)
        })
    }
}
