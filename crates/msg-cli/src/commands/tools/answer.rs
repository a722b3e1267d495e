//! What `msg tools` answers in JSON. The text for people is `outline`'s.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic};
use msg_xml::{
    ArgPath, Call, Collector, Event, Outcome, Parsed, PathItem, SegmentKind, StreamParser, Thinking, ThinkingStyle, ToolDefinition, ToolResult,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::LineOptions;
use super::options::Setup;
use crate::exit::Status;
use crate::jsonl::Answer;

/// A line: text to read, or something to write.
#[derive(Deserialize)]
struct Line {
    input: Option<String>,
    input_b64: Option<String>,
    #[serde(default)]
    options: LineOptions,
    #[serde(default)]
    stream_splits: Vec<usize>,
    call: Option<CallForm>,
    result: Option<ResultForm>,
    result_text: Option<String>,
    definitions: Option<Vec<ToolDefinition>>,
}

#[derive(Deserialize)]
struct CallForm {
    server_name: Option<String>,
    tool_name: String,
    arguments: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct ResultForm {
    name: String,
    content: String,
    #[serde(default)]
    is_error: bool,
}

/// The answer to text.
#[derive(Serialize)]
pub(crate) struct Form {
    segments: Vec<SegmentForm>,
    errors: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<EventForm>>,
}

#[derive(Serialize)]
struct SegmentForm {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    style: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(flatten)]
    call: Option<CallAnswer>,
}

#[derive(Serialize)]
struct CallAnswer {
    server_name: String,
    tool_name: Option<String>,
    arguments: Box<RawValue>,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fenced: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recovered: bool,
}

#[derive(Default, Serialize)]
struct EventForm {
    at: u64,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
}

struct PathForm(ArgPath);

impl Serialize for PathForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.items().iter().map(|item| match item {
            PathItem::Key(key) => serde_json::Value::from(&**key),
            PathItem::Index(n) => serde_json::Value::from(*n),
        }))
    }
}

#[derive(Serialize)]
struct TextAnswer {
    text: String,
}

#[derive(Serialize)]
struct ResultAnswer {
    result: Option<ResultForm>,
}

#[derive(Serialize)]
struct ErrorAnswer {
    error: &'static str,
}

/// Text that has been read.
pub(crate) struct Answered {
    pub(crate) parsed: Parsed,
    pub(crate) form: Form,
    pub(crate) status: Status,
}

/// Answers one line.
pub(crate) fn line(line: &[u8], base: &Setup) -> Result<Answer, Box<Diagnostic>> {
    let line: Line = serde_json::from_slice(line).map_err(|error| refuse("cli::bad-line", format!("the line is no request: {error}")))?;
    if let Some(call) = line.call {
        return Ok(written(render_call(call)));
    }
    if let Some(result) = line.result {
        let ResultForm { name, content, is_error } = result;
        return Ok(written(ToolResult { name, content, is_error }.render()));
    }
    if let Some(text) = line.result_text {
        let result = ToolResult::parse(&text).map(|it| ResultForm { name: it.name, content: it.content, is_error: it.is_error });
        return Ok(Answer::of(&ResultAnswer { result }, Status::Clean));
    }
    if let Some(definitions) = line.definitions {
        let thinking = line.options.thinking.unwrap_or(Thinking::Extract);
        return Ok(Answer::of(&TextAnswer { text: msg_xml::instructions(&definitions, thinking) }, Status::Clean));
    }
    let setup = line.options.over(base).map_err(|error| refuse("cli::bad-option", error.to_string()))?;
    let bytes = match (line.input, line.input_b64) {
        (Some(text), _) => text.into_bytes(),
        (None, Some(text)) => {
            BASE64_STANDARD.decode(text).map_err(|error| refuse("cli::bad-line", format!("input_b64 is no base64: {error}")))?
        }
        (None, None) => return Err(refuse("cli::bad-line", "expected input, input_b64, call, result, result_text or definitions")),
    };
    let res = read(&bytes, &setup, &line.stream_splits);
    Ok(Answer::of(&res.form, res.status))
}

fn refuse(code: &'static str, text: impl Into<Cow<'static, str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::new(code), text))
}

fn render_call(form: CallForm) -> Result<String, msg_xml::Error> {
    let arguments = form.arguments.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned());
    let server = form.server_name.unwrap_or_else(|| "local".to_owned());
    msg_xml::render(&Call::new(form.tool_name, arguments).with_server(server))
}

fn written(res: Result<String, msg_xml::Error>) -> Answer {
    match res {
        Ok(text) => Answer::of(&TextAnswer { text }, Status::Clean),
        Err(error) => Answer::of(&ErrorAnswer { error: error.code() }, Status::Problems),
    }
}

/// Reads text, in the pieces that are asked for.
pub(crate) fn read(bytes: &[u8], setup: &Setup, splits: &[usize]) -> Answered {
    let mut parser = StreamParser::shared(Arc::clone(&setup.options));
    let mut all = Collector::default();
    let mut events = setup.events.then(Vec::new);
    for piece in pieces(bytes, setup.chunk, splits) {
        let at = parser.position() + piece.len() as u64;
        for event in parser.feed(piece) {
            note(&mut events, at, &event);
            all.push(event);
        }
    }
    for event in parser.finish(setup.finish.clone()) {
        note(&mut events, bytes.len() as u64, &event);
        all.push(event);
    }
    let parsed = all.finish();
    let status = Status::of(!parsed.diagnostics.iter().any(Diagnostic::is_error));
    let form = form(&parsed, events);
    Answered { parsed, form, status }
}

fn pieces<'a>(bytes: &'a [u8], chunk: usize, splits: &[usize]) -> Vec<&'a [u8]> {
    if chunk > 0 {
        return bytes.chunks(chunk).collect();
    }
    let mut from = 0;
    let mut res = Vec::with_capacity(splits.len() + 1);
    for &split in splits {
        let to = split.clamp(from, bytes.len());
        res.push(&bytes[from..to]);
        from = to;
    }
    res.push(&bytes[from..]);
    res
}

fn form(parsed: &Parsed, events: Option<Vec<EventForm>>) -> Form {
    let segments = parsed.segments.iter().map(|segment| segment_form(&segment.kind)).collect();
    let code = |it: &Diagnostic| it.code.as_str().rsplit("::").next().unwrap_or_default().replace('-', "_");
    Form { segments, errors: parsed.diagnostics.iter().map(code).collect(), events }
}

fn segment_form(kind: &SegmentKind) -> SegmentForm {
    let plain = |kind, style, text: &str| SegmentForm { kind, style, text: Some(text.to_owned()), call: None };
    let call = |call| SegmentForm { kind: "tool_call", style: None, text: None, call: Some(call) };
    match kind {
        SegmentKind::Text(text) => plain("text", None, text),
        SegmentKind::Thinking { text, style } => {
            let style = match style {
                ThinkingStyle::Bracket => "bracket",
                ThinkingStyle::Tag => "tag",
            };
            plain("thinking", Some(style), text)
        }
        SegmentKind::Call(it) => call(CallAnswer {
            server_name: it.server_name().to_owned(),
            tool_name: Some(it.tool_name().to_owned()),
            arguments: raw(it.arguments().text()),
            complete: true,
            format: it.origin().format.as_deref().map(str::to_owned),
            fenced: it.origin().fenced,
            recovered: it.origin().recovered,
        }),
        SegmentKind::Partial(it) => call(CallAnswer {
            server_name: it.server_name().to_owned(),
            tool_name: it.tool_name().map(str::to_owned),
            arguments: raw(it.arguments().text()),
            complete: false,
            format: it.origin().format.as_deref().map(str::to_owned),
            fenced: false,
            recovered: false,
        }),
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_default()
}

fn note(events: &mut Option<Vec<EventForm>>, at: u64, event: &Event<'_>) {
    let Some(events) = events else { return };
    let base = EventForm { at, ..EventForm::default() };
    events.push(match event {
        Event::Text { text, .. } => EventForm { event: "text", text: Some(text.to_string()), ..base },
        Event::Thinking { text, .. } => EventForm { event: "thinking", text: Some(text.to_string()), ..base },
        Event::ToolBegin { call } => EventForm { event: "tool_begin", call: Some(*call), ..base },
        Event::ToolName { call, name } => EventForm { event: "tool_name", call: Some(*call), name: Some(name.clone()), ..base },
        Event::Arg { call, path, text } => {
            EventForm { event: "arg", call: Some(*call), path: Some(PathForm(path.clone())), text: Some(text.to_string()), ..base }
        }
        Event::ArgReset { call, path } => EventForm { event: "arg_reset", call: Some(*call), path: Some(PathForm(path.clone())), ..base },
        Event::ToolEnd { call, outcome } => {
            EventForm { event: "tool_end", call: Some(*call), complete: Some(matches!(**outcome, Outcome::Complete(_))), ..base }
        }
        Event::ToolVoid { call, code } => EventForm { event: "tool_void", call: Some(*call), code: Some(code.as_str()), ..base },
        Event::Reclaim(range) => EventForm { event: "reclaim", start: Some(range.start), end: Some(range.end), ..base },
        _ => return,
    });
}
