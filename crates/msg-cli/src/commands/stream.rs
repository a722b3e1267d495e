//! `msg stream`: the captured bytes of a provider's stream in, the assembled message out (OA-27).
//!
//! It reads and prints; what the bytes mean is for `msg-document` to say.

use std::io::Read;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use msg_core::{Diagnostic, Part};
use msg_document::{Provider, StreamOptions, StreamRun, options_from_json, stream_line};
use msg_wire::Assembled;

use super::Command;
use crate::cli::Context;
use crate::exit::{Failure, Status};
use crate::input::{Input, MAX_DOCUMENT};
use crate::jsonl::{self, Answer, LineArgs};
use crate::output::OutputArgs;
use crate::render::Quotes;

/// Assemble a captured provider stream into its message.
///
/// The input is the body as it came over the wire: server-sent events of Chat Completions,
/// Responses, Anthropic Messages or Gemini, or a JSON document. Exit status 1 if the stream has errors in it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to read; `-` is standard input, and so is nothing when input is piped.
    #[arg(value_name = "FILE")]
    input: Option<std::path::PathBuf>,
    /// The largest body (a file, or a line with --jsonl) that is read, in bytes.
    #[arg(long, value_name = "N", default_value_t = MAX_DOCUMENT, hide_default_value = true)]
    max_bytes: u64,
    /// Whose stream it is.
    #[arg(long, value_name = "PROVIDER", value_parser = provider())]
    provider: Option<Provider>,
    /// Feed N bytes at a time; 0 feeds all at once. The result is the same.
    #[arg(long, value_name = "N")]
    chunk: Option<usize>,
    /// Options as a JSON object: to, events, split_concatenated, max_event_bytes, interrupt_after.
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// The parser of a provider's name.
fn provider() -> impl TypedValueParser<Value = Provider> {
    let value = |it: Provider| PossibleValue::new(it.name()).help(it.about());
    let names = PossibleValuesParser::new(Provider::ALL.map(value));
    names.map(|name| name.parse().expect("because the names are those of providers"))
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options = self.options()?;
        let mut input = Input::open(self.input.as_deref())?;
        input.limit = self.max_bytes;
        if self.lines.jsonl {
            let out = self.output.open(&input)?;
            return jsonl::run(cx, &self.lines, input, out, None, |line| {
                stream_line(line, &options).map(Answer::from)
            });
        }
        self.single(cx, &options, input)
    }
}

impl Args {
    fn options(&self) -> Result<StreamOptions, Failure> {
        let options = self.options.as_ref().map(|json| options_from_json(json.as_bytes()));
        let mut options: StreamOptions = options
            .transpose()
            .map_err(|it| Failure::Usage(format!("--options: {it}")))?
            .unwrap_or_default();
        options.provider = self.provider.unwrap_or(options.provider);
        options.chunk = self.chunk.unwrap_or(options.chunk);
        options.max_bytes.get_or_insert(self.max_bytes);
        Ok(options)
    }

    fn single(&self, cx: &Context, options: &StreamOptions, mut input: Input) -> Result<Status, Failure> {
        let name = input.name.clone();
        let mut out = self.output.open(&input)?;
        let mut run = StreamRun::new(options);
        let mut block = vec![0; 64 << 10];
        let mut reader = (&mut input.reader).take(self.max_bytes.saturating_add(1));
        let mut taken = 0;
        loop {
            let n = reader.read(&mut block).map_err(|it| Failure::read(&name, it))?;
            taken += n as u64;
            if taken > self.max_bytes {
                let limit = self.max_bytes;
                let text = format!("it has more than {limit} bytes (--max-bytes raises the limit)");
                return Err(Failure::read(&name, std::io::Error::other(text)));
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
            text = streamed.to_json();
            text.push(b'\n');
            found.clear();
        } else {
            text = for_people(&streamed.assembled).into_bytes();
        }
        cx.note(&cx.list(&name, &Quotes::default()).findings(&found));
        out.write(&text)?;
        out.finish()?;
        Ok(Status::of(streamed.is_clean()))
    }
}

/// What was found, with its byte in the sentence: there is no line of text to point at.
fn with_places(found: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut found = found.to_vec();
    for it in &mut found {
        if let Some(at) = it.at.start {
            it.set_message(format!("{}, at byte {at}", it.message()));
        }
    }
    found
}

/// The texts and calls, as they would be read.
fn for_people(res: &Assembled) -> String {
    let mut text = String::new();
    for choice in &res.choices {
        if res.choices.len() > 1 {
            text.push_str(&format!("choice {}\n", choice.index));
        }
        let message = &choice.message;
        for reasoning in message.reasoning().map(|it| it.display_text()).filter(|it| !it.is_empty()) {
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
