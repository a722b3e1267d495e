//! `msg stream`: the captured bytes of a provider's stream in, the assembled message out (OA-27).
//!
//! It reads and prints; what the bytes mean is for `msg-openai` to say.

use std::io::Read;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_anthropic::EventOptions;
use msg_core::{Code, Diagnostic, Part, Report, StreamEvent, json::Writer};
use msg_openai::{MessageForm, write_result};
use msg_wire::{Assembled, Family, StreamOptions, StreamReader};
use serde::Deserialize;

use super::Command;
use crate::cli::Context;
use crate::families;
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
    #[arg(long, value_enum, default_value_t)]
    provider: Whose,
    /// Feed N bytes at a time; 0 feeds all at once. The result is the same.
    #[arg(long, value_name = "N", default_value_t = 0)]
    chunk: usize,
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

/// Whose stream it is, as it is named here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Whose {
    /// Recognised from the first event that tells.
    #[default]
    Auto,
    /// Chat Completions, and everything compatible with it.
    #[value(name = "openai")]
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini, and Vertex AI.
    Gemini,
}

impl Whose {
    fn families(self) -> &'static [&'static dyn Family] {
        match self {
            Self::Auto => &families::ALL,
            Self::OpenAi => &families::CHAT,
            Self::Responses => &families::RESPONSES,
            Self::Anthropic => &families::ANTHROPIC,
            Self::Gemini => &families::GEMINI,
        }
    }
}

/// The form of the message in the result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum To {
    #[default]
    OpenAi,
    Native,
    Turns,
    /// The stream that Chat Completions would send.
    #[serde(rename = "openai-chunks")]
    OpenAiChunks,
    /// The stream that OpenAI Responses would send.
    #[serde(rename = "responses-events")]
    ResponsesEvents,
    /// The stream that Anthropic would send.
    #[serde(rename = "anthropic-events")]
    AnthropicEvents,
    /// The stream that Gemini would send.
    #[serde(rename = "gemini-chunks")]
    GeminiChunks,
}

/// Writes the stream that a provider would send, and says what it cannot hold.
type WriteStream = fn(&Assembled, &mut Vec<u8>) -> Report;

impl To {
    /// How the result is written, where it is a stream again.
    fn stream(self) -> Option<WriteStream> {
        match self {
            Self::OpenAiChunks => Some(msg_openai::write_chunks),
            Self::ResponsesEvents => Some(msg_openai::write_response_events),
            Self::AnthropicEvents => Some(anthropic_events),
            Self::GeminiChunks => Some(msg_gemini::write_chunks),
            Self::OpenAi | Self::Native | Self::Turns => None,
        }
    }
}

fn anthropic_events(res: &Assembled, out: &mut Vec<u8>) -> Report {
    let Some(choice) = res.choices.first() else { return Report::new() };
    let mut report = msg_anthropic::write_events(&choice.message, &EventOptions::of(res), out);
    for other in &res.choices[1..] {
        let text = format!("choice {} has no place in the stream", other.index);
        report.push(Diagnostic::warning(Code::new("convert::lost-part"), text));
    }
    report
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    to: To,
    events: bool,
    split_concatenated: bool,
    max_event_bytes: Option<usize>,
    interrupt_after: Option<usize>,
}

/// A line of `--jsonl`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    sse: Option<String>,
    sse_b64: Option<String>,
    provider: Option<Whose>,
    chunk: Option<usize>,
    options: Option<Options>,
}

/// One stream to assemble.
struct Job {
    whose: Whose,
    chunk: usize,
    options: Options,
}

impl Command for Args {
    fn run(self, cx: &Context) -> Result<Status, Failure> {
        let options = match &self.options {
            Some(json) => serde_json::from_str(json)
                .map_err(|it| Failure::Usage(format!("--options is not understood: {it}")))?,
            None => Options::default(),
        };
        let job = Job { whose: self.provider, chunk: self.chunk, options };
        let mut input = Input::open(self.input.as_deref())?;
        input.limit = self.max_bytes;
        if self.lines.jsonl {
            let out = self.output.open(&input)?;
            return jsonl::run(cx, &self.lines, input, out, None, |line| Ok(answer(line, &job)?));
        }
        self.single(cx, &job, input)
    }
}

impl Args {
    fn single(&self, cx: &Context, job: &Job, mut input: Input) -> Result<Status, Failure> {
        let name = input.name.clone();
        let mut out = self.output.open(&input)?;
        let mut run = Run::new(job);
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
        let (res, events) = run.end();
        let mut text = Vec::new();
        if let Some(write) = job.options.to.stream() {
            let lost = write(&res, &mut text).into_vec();
            let found = [with_places(&res.diagnostics), lost].concat();
            cx.note(&cx.list(&name, &Quotes::default()).findings(&found));
        } else if self.json {
            job.write(&res, &events, &mut text);
            text.push(b'\n');
        } else {
            text = for_people(&res).into_bytes();
            let found = with_places(&res.diagnostics);
            cx.note(&cx.list(&name, &Quotes::default()).findings(&found));
        }
        out.write(&text)?;
        out.finish()?;
        Ok(status(&res))
    }
}

fn answer(line: &[u8], defaults: &Job) -> Result<Answer, Box<Diagnostic>> {
    let bad = |text: String| Box::new(Diagnostic::error(Code::new("cli::bad-line"), text));
    let line: Line = serde_json::from_slice(line).map_err(|it| bad(it.to_string()))?;
    let bytes = match (line.sse, line.sse_b64) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(text)) => {
            BASE64_STANDARD.decode(text).map_err(|it| bad(format!("sse_b64 is not base64: {it}")))?
        }
        _ => return Err(bad("expected one of sse and sse_b64".to_owned())),
    };
    let job = Job {
        whose: line.provider.unwrap_or(defaults.whose),
        chunk: line.chunk.unwrap_or(defaults.chunk),
        options: line.options.unwrap_or_else(|| defaults.options.clone()),
    };
    let mut run = Run::new(&job);
    run.feed(&bytes);
    let (res, events) = run.end();
    let mut json = Vec::new();
    job.write(&res, &events, &mut json);
    Ok(Answer::new(json, status(&res)))
}

fn status(res: &Assembled) -> Status {
    Status::of(!res.diagnostics.iter().any(Diagnostic::is_error))
}

/// A stream on its way.
struct Run<'a> {
    job: &'a Job,
    reader: StreamReader,
    events: Vec<StreamEvent<'static>>,
    /// Bytes that may still be fed before the interruption.
    left: usize,
}

impl<'a> Run<'a> {
    fn new(job: &'a Job) -> Self {
        let mut options = StreamOptions::default();
        options.split_concatenated = job.options.split_concatenated;
        if let Some(limit) = job.options.max_event_bytes {
            options.limits.max_event_bytes = limit;
        }
        let left = job.options.interrupt_after.unwrap_or(usize::MAX);
        Self { job, reader: StreamReader::new(job.whose.families(), options), events: Vec::new(), left }
    }

    /// Takes the next bytes; false if no more are wanted.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        let bytes = &bytes[..bytes.len().min(self.left)];
        if self.job.options.interrupt_after.is_some() {
            self.left -= bytes.len();
        }
        let size = if self.job.chunk == 0 { bytes.len().max(1) } else { self.job.chunk };
        let keep = self.job.options.events;
        let events = &mut self.events;
        for chunk in bytes.chunks(size) {
            self.reader.feed(chunk, &mut |it| {
                if keep {
                    events.push(it.into_owned());
                }
            });
        }
        self.left > 0
    }

    fn end(mut self) -> (Assembled, Vec<StreamEvent<'static>>) {
        let keep = self.job.options.events;
        let mut sink = |it: StreamEvent<'_>| {
            if keep {
                self.events.push(it.into_owned());
            }
        };
        let res = if self.job.options.interrupt_after.is_some() {
            self.reader.interrupt(&mut sink)
        } else {
            self.reader.finish(&mut sink)
        };
        (res, self.events)
    }
}

impl Job {
    fn write(&self, res: &Assembled, events: &[StreamEvent<'_>], out: &mut Vec<u8>) {
        let form = match self.options.to {
            To::OpenAi => MessageForm::OpenAi,
            To::Native => MessageForm::Native,
            To::Turns => MessageForm::Turn,
            To::OpenAiChunks | To::ResponsesEvents | To::AnthropicEvents | To::GeminiChunks => {
                return self.write_line(res, out);
            }
        };
        write_result(res, form, self.options.events.then_some(events), out);
    }

    /// A stream on a line, in the form of the lines that are read, and what it cannot hold.
    fn write_line(&self, res: &Assembled, out: &mut Vec<u8>) {
        let (mut sse, mut lost) = (Vec::new(), Report::new());
        if let Some(write) = self.options.to.stream() {
            lost = write(res, &mut sse);
        }
        let found = res.diagnostics.iter().chain(lost.iter());
        Writer::new(out).object(|it| {
            it.key("sse").str(&String::from_utf8_lossy(&sse));
            it.key("diagnostics").array(found, |it, found| it.raw(&to_json(found)));
        });
    }
}

fn to_json(found: &Diagnostic) -> String {
    serde_json::to_string(found).expect("because text keys into a string cannot fail")
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
