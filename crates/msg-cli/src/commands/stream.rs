//! `msg stream`: the captured bytes of a provider's stream in, the assembled message out (OA-27).
//!
//! `msg-document` interprets the bytes.

use std::io::Read;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use msg_codec::Assembled;
use msg_core::{Diagnostic, Part};
use msg_document::{
    CaptureOptions, Provider, StreamForm, StreamRun, binary_refusal, options_from_json,
};

use super::Command;
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::{Input, LimitArgs, Sources};
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::{Output, OutputArgs, PrettyArgs, end_line};
use crate::render::Quotes;

/// Assemble captured provider streams into their messages.
///
/// An input is the body as it came over the wire: server-sent events, or a JSON document; for Bedrock also its binary
/// events. Exits with status 1 if a stream has errors.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  msg stream capture.sse
  msg stream --json --provider anthropic capture.sse
  msg stream --json '*.sse'                  a line of JSON for each, with its path
  msg stream --to anthropic capture.sse")]
pub(crate) struct Args {
    /// The files to read, or patterns such as 'captures/*.sse'; `-` is standard input, the default when input
    /// is piped.
    #[arg(value_name = "FILE")]
    inputs: Vec<std::path::PathBuf>,
    #[command(flatten)]
    limit: LimitArgs,
    /// The provider of the stream.
    #[arg(long, value_name = "PROVIDER", value_parser = provider())]
    provider: Option<Provider>,
    /// Write the stream that this API would send, instead of the message.
    #[arg(long, value_name = "FORMAT", value_parser = family())]
    to: Option<StreamForm>,
    /// Feed N bytes at a time; 0 feeds everything at once. The result is the same.
    #[arg(long, value_name = "N")]
    chunk: Option<usize>,
    /// Options as a JSON object: to, events, split_concatenated, max_event_bytes, interrupt_after.
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    /// Print the result as JSON.
    #[arg(help_heading = "Output", long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pretty: PrettyArgs,
}

/// The parser of a provider's name.
fn provider() -> impl TypedValueParser<Value = Provider> {
    let value = |it: Provider| PossibleValue::new(it.name()).help(it.about());
    let names = PossibleValuesParser::new(Provider::ALL.map(value));
    names.map(|name| name.parse().expect("because the names are those of providers"))
}

/// The parser of an output stream's format.
fn family() -> impl TypedValueParser<Value = StreamForm> {
    let names = PossibleValuesParser::new(StreamForm::FAMILIES.map(|it| it.0));
    let form = |name: String| StreamForm::FAMILIES.into_iter().find(|it| it.0 == name);
    names.map(move |name| form(name).expect("because the names are those of families").1)
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options = self.options()?;
        let is_lines = self.lines.asked()?;
        if !is_lines {
            self.expect_used(&options)?;
        }
        let sources = Sources::find(&self.inputs, self.limit.max_bytes)?;
        sources.expect_one("a stream as `to`", !is_lines && !is_message(&options))?;
        if is_lines {
            let mut input = sources.open_one()?;
            let mut out = self.output.open(&sources)?;
            input.expect_lines()?;
            let job = |_: u64, line: &[u8]| options.answer_line(line).map(Answer::from);
            let status =
                jsonl::run(cx, &self.lines, input, (&mut out, None), &jsonl::as_it_is, job)?;
            return out.finish().map(|()| status);
        }
        let mut out = self.output.open(&sources)?;
        let one = |input| self.assemble(cx, &options, input, (&sources, &mut out));
        let status = sources.each(cx, one)?;
        // Not a stream: the output file is unchanged.
        if out.is_blank() && status != Status::Clean {
            return Ok(status);
        }
        out.finish().map(|()| status)
    }
}

/// Whether a message is requested instead of a stream.
fn is_message(options: &CaptureOptions) -> bool {
    matches!(options.to, StreamForm::OpenAi | StreamForm::Native | StreamForm::Turns)
}

impl Args {
    fn options(&self) -> Result<CaptureOptions, Failure> {
        let options = self.options.as_ref().map(|json| options_from_json(json.as_bytes()));
        let mut options: CaptureOptions = options
            .transpose()
            .map_err(|it| Failure::Usage(format!("--options: {it}")))?
            .unwrap_or_default();
        options.provider = self.provider.unwrap_or(options.provider);
        options.to = self.to.unwrap_or(options.to);
        options.chunk = self.chunk.unwrap_or(options.chunk);
        options.max_bytes.get_or_insert(self.limit.max_bytes);
        Ok(options)
    }

    /// Refuses options without effect.
    fn expect_used(&self, options: &CaptureOptions) -> Result<(), Failure> {
        let is_message = is_message(options);
        self.pretty.expect(self.json && is_message, "it needs --json, and no stream as `to`")?;
        let refused = match (is_message, self.json) {
            (false, true) => {
                "--json gives a message, and `to` asks for a stream: leave one of them out"
            }
            (false, false) if options.events => {
                "`events` belong to a message, and `to` asks for a stream: leave one of them out"
            }
            (true, false) if options.events => {
                "events are added to the JSON form: give --json with it"
            }
            (true, false) if options.to != StreamForm::OpenAi => {
                "`to` is the form of the message in JSON: give --json with it"
            }
            _ => return Ok(()),
        };
        Err(Failure::Usage(refused.to_owned()))
    }

    /// Reads a stream and writes its result.
    fn assemble(
        &self,
        cx: &Context,
        options: &CaptureOptions,
        mut input: Input,
        (sources, out): (&Sources, &mut Output),
    ) -> Result<Status, Failure> {
        let name = input.name.clone();
        let mut run = StreamRun::new(options);
        let mut block = vec![0; 64 << 10];
        let limit = input.limit;
        let mut reader = (&mut input.reader).take(limit.saturating_add(1));
        let mut taken = 0;
        loop {
            let n = reader.read(&mut block).map_err(|it| Failure::read(&name, it))?;
            if let Some(refused) = binary_refusal(&block[..n]).filter(|_| taken == 0) {
                return Err(Failure::document(refused, &name, block[..n].to_vec()));
            }
            taken += n as u64;
            if taken > limit {
                return Err(Failure::too_large(&name, limit));
            }
            if n == 0 || !run.feed(&block[..n]) {
                break;
            }
        }
        let streamed = run.finish();
        let mut text = Vec::new();
        let mut found = with_places(&streamed.assembled.diagnostics);
        if let Some(lost) = streamed.write_stream(&mut text) {
            found.extend(lost.into_vec());
        } else if self.json {
            text = self.pretty.laid_out(sources.headed_json(&name, streamed.to_json()));
            end_line(&mut text);
            found.clear();
        } else {
            text =
                format!("{}{}", sources.head(&name), for_people(&streamed.assembled)).into_bytes();
        }
        cx.note(&cx.list(&name, &Quotes::default()).findings(&found));
        out.write(&text)?;
        Ok(Status::of(streamed.is_clean()))
    }
}

/// The findings, with the byte offset in the message, because a stream has no lines.
fn with_places(found: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut found = found.to_vec();
    for it in &mut found {
        if let Some(at) = it.at.start {
            it.set_message(format!("{}, at byte {at}", it.message()));
        }
    }
    found
}

/// The texts and calls for people.
fn for_people(res: &Assembled) -> String {
    let mut text = String::new();
    for choice in &res.choices {
        if res.choices.len() > 1 {
            text.push_str(&format!("choice {}\n", choice.index));
        }
        let message = &choice.message;
        for reasoning in message.reasoning().map(|it| it.display_text()).filter(|it| !it.is_empty())
        {
            text.push_str(&format!("[reasoning] {reasoning}\n"));
        }
        let said = message.text();
        if !said.is_empty() {
            text.push_str(&format!("{said}\n"));
        }
        for call in message.tool_calls() {
            let cut = if choice.incomplete.contains(&call.id) { " [incomplete]" } else { "" };
            text.push_str(&format!("{}({}){cut}\n", call.name, call.arguments.text()));
        }
        for part in &message.parts {
            if let Part::Other(item) = part {
                text.push_str(&format!("[item] {}\n", item.value.text()));
            }
        }
        let finish = choice.finish.as_ref().map_or("no finish reason", |it| it.as_str());
        text.push_str(&format!("[{finish}]\n"));
    }
    text
}
