//! Splits model text into thinking, text and tool calls. Also writes calls, results and the instructions that
//! teach a model the format.
//!
//! ```text
//! "[I add]\n<tool>…<tool_name>sum</tool_name>…"     [{"kind":"text",…},{"kind":"tool_call","tool_name":"sum",…}]
//! ```
//!
//! `msg-xml` interprets the markup; here are the options and the JSON forms.

mod options;

use std::sync::Arc;

use msg_core::Diagnostic;
use msg_formats::Refusal;
use msg_xml::{
    ArgPath, CallEnd, CallOrigin, Collector, Event, Parsed, ParsedCall, ParsedResult, PathItem,
    SegmentKind, StreamParser, ThinkingMode, ThinkingStyle, ToolDefinition,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::to_json;
use crate::json::{bad_line, decoded};
use crate::tools::options::Own;

pub use self::options::ToolsOptions;

// Text that was read, and its segments as plain values.

/// A segment of model text.
#[derive(Debug, Clone, Serialize)]
pub struct TextSegment {
    /// `text`, `thinking` or `tool_call`.
    pub kind: &'static str,
    /// How thinking was marked: `tag` or `bracket`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<&'static str>,
    /// The text, for text and thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The call.
    #[serde(flatten)]
    pub call: Option<SegmentCall>,
}

/// A tool call in model text.
#[derive(Debug, Clone, Serialize)]
pub struct SegmentCall {
    /// The server of the tool; `local` if the call names none.
    pub server_name: String,
    /// The name of the tool, if the text contains it.
    pub tool_name: Option<String>,
    /// The arguments, as JSON.
    pub arguments: Box<RawValue>,
    /// Whether the text contains the end of the call.
    pub complete: bool,
    /// The dialect, if it is not the native one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Whether the call was in a code fence.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fenced: bool,
    /// Whether the call was malformed and repaired.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
}

/// Model text that has been split into segments.
#[derive(Debug)]
pub struct Segmented {
    /// The parsed text, with the place of each segment.
    pub parsed: Parsed,
    /// The segments as plain values.
    pub segments: Vec<TextSegment>,
    events: Option<Vec<EventForm>>,
}

/// Splits model text into segments. Accepts any text; problems are in the result.
///
/// ```
/// use msg_document::{ToolsOptions, tools};
///
/// let text = b"I add.<tool><tool_name>sum</tool_name><arguments><a>1</a></arguments></tool>";
/// let read = tools(text, &ToolsOptions::default());
/// assert_eq!(read.segments[0].text.as_deref(), Some("I add."));
/// assert_eq!(read.segments[1].call.as_ref().and_then(|it| it.tool_name.as_deref()), Some("sum"));
/// ```
pub fn tools(text: &[u8], options: &ToolsOptions) -> Segmented {
    read(text, options, &[])
}

/// Reads model text in pieces that end at `splits`, or pieces of the size in the options.
fn read(text: &[u8], options: &ToolsOptions, splits: &[usize]) -> Segmented {
    let mut parser = StreamParser::shared(Arc::clone(&options.read));
    let mut all = Collector::default();
    let mut events = options.events.then(Vec::new);
    for piece in pieces(text, options.chunk, splits) {
        let at = parser.position() + piece.len() as u64;
        for event in parser.feed(piece) {
            note(&mut events, at, &event);
            all.push(event);
        }
    }
    for event in parser.finish(options.finish.clone()) {
        note(&mut events, text.len() as u64, &event);
        all.push(event);
    }
    let parsed = all.finish();
    let segments = parsed.segments.iter().map(|it| segment(&it.kind)).collect();
    Segmented { parsed, segments, events }
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

impl Segmented {
    /// Whether the text had no errors.
    pub fn is_clean(&self) -> bool {
        !self.parsed.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The line of `msg tools --jsonl`, without its line end.
    pub fn to_json(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Form<'a> {
            segments: &'a [TextSegment],
            errors: Vec<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            events: Option<&'a [EventForm]>,
        }
        let errors = self.parsed.diagnostics.iter().map(code).collect();
        to_json(&Form { segments: &self.segments, errors, events: self.events.as_deref() })
    }
}

/// The code as a word.
fn code(it: &Diagnostic) -> String {
    it.code.as_str().rsplit("::").next().unwrap_or_default().replace('-', "_")
}

fn segment(kind: &SegmentKind) -> TextSegment {
    let plain = |kind, style, text: &str| TextSegment {
        kind,
        style,
        text: Some(text.to_owned()),
        call: None,
    };
    match kind {
        SegmentKind::Text(text) => plain("text", None, text),
        SegmentKind::Thinking { text, style } => {
            let style = match style {
                ThinkingStyle::Bracket => "bracket",
                ThinkingStyle::Tag => "tag",
            };
            plain("thinking", Some(style), text)
        }
        SegmentKind::Call(it) => {
            let CallOrigin { fenced, recovered, .. } = *it.origin();
            let name = Some(it.tool_name());
            let call = call(it.server_name(), name, it.arguments().text(), it.origin());
            a_call(SegmentCall { complete: true, fenced, recovered, ..call })
        }
        SegmentKind::Partial(it) => {
            a_call(call(it.server_name(), it.tool_name(), it.arguments().text(), it.origin()))
        }
    }
}

fn a_call(call: SegmentCall) -> TextSegment {
    TextSegment { kind: "tool_call", style: None, text: None, call: Some(call) }
}

/// A call without an end.
fn call(server: &str, tool: Option<&str>, arguments: &str, origin: &CallOrigin) -> SegmentCall {
    SegmentCall {
        server_name: server.to_owned(),
        tool_name: tool.map(str::to_owned),
        arguments: RawValue::from_string(arguments.to_owned()).unwrap_or_default(),
        complete: false,
        format: origin.format.as_deref().map(str::to_owned),
        fenced: false,
        recovered: false,
    }
}

// A line of `msg tools --jsonl`: text to read, or something to write as text.

/// A line: text to read, or something to write.
#[derive(Deserialize)]
struct Line {
    input: Option<String>,
    input_b64: Option<String>,
    #[serde(default)]
    options: Own,
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

impl From<ParsedResult> for ResultForm {
    fn from(it: ParsedResult) -> Self {
        ResultForm { name: it.name, content: it.content, is_error: it.is_error }
    }
}

impl ToolsOptions {
    /// Answers a line of `msg tools --jsonl`: an object with `input` or `input_b64` (model text to read), with `call`,
    /// `result` or `definitions` (to write), or with `result_text` (a result to read). Also returns whether there were
    /// no errors.
    ///
    /// Fails if the line is not such an object, and for invalid options. Linear in the line.
    ///
    /// ```
    /// use msg_document::ToolsOptions;
    ///
    /// let answer = ToolsOptions::default().answer_line(br#"{"input":"hello"}"#)?;
    /// assert!(answer.1 && answer.0.starts_with(b"{"));
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn answer_line(&self, line: &[u8]) -> Result<(Vec<u8>, bool), Refusal> {
        let line: Line = serde_json::from_slice(line)
            .map_err(|it| bad_line(format!("the line is not a request: {it}")))?;
        if let Some(call) = line.call {
            return Ok(written(render_call(call)));
        }
        if let Some(result) = line.result {
            let ResultForm { name, content, is_error } = result;
            return Ok(written(ParsedResult { name, content, is_error }.render()));
        }
        if let Some(text) = line.result_text {
            let result = ParsedResult::parse(&text).map(ResultForm::from);
            return Ok(clean(&ResultAnswer { result }));
        }
        if let Some(definitions) = line.definitions {
            let thinking = line.options.thinking.unwrap_or(ThinkingMode::Extract);
            return Ok(clean(&TextAnswer { text: msg_xml::instructions(&definitions, thinking) }));
        }
        let options = line.options.over(self)?;
        let text = input(line.input, line.input_b64)?;
        let read = read(&text, &options, &line.stream_splits);
        Ok((read.to_json(), read.is_clean()))
    }
}

fn input(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, Refusal> {
    match (text, base64) {
        (Some(text), _) => Ok(text.into_bytes()),
        (None, Some(text)) => decoded("input_b64", &text),
        (None, None) => {
            Err(bad_line("expected input, input_b64, call, result, result_text or definitions"))
        }
    }
}

fn clean(value: &impl Serialize) -> (Vec<u8>, bool) {
    (to_json(value), true)
}

fn render_call(form: CallForm) -> Result<String, msg_xml::Error> {
    let arguments = form.arguments.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned());
    let server = form.server_name.unwrap_or_else(|| "local".to_owned());
    msg_xml::render(&ParsedCall::new(form.tool_name, arguments).with_server(server))
}

fn written(res: Result<String, msg_xml::Error>) -> (Vec<u8>, bool) {
    match res {
        Ok(text) => clean(&TextAnswer { text }),
        Err(error) => (to_json(&ErrorAnswer { error: error.code() }), false),
    }
}

// The events of a stream of model text in their JSON form.

/// An event, and the offset after the piece that produced it.
#[derive(Debug, Clone, Default, Serialize)]
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

#[derive(Debug, Clone)]
struct PathForm(ArgPath);

impl Serialize for PathForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.items().iter().map(|item| match item {
            PathItem::Key(key) => serde_json::Value::from(&**key),
            PathItem::Index(n) => serde_json::Value::from(*n),
        }))
    }
}

/// Adds an event, if events were requested.
fn note(events: &mut Option<Vec<EventForm>>, at: u64, event: &Event<'_>) {
    let Some(events) = events else { return };
    let base = EventForm { at, ..EventForm::default() };
    events.push(match event {
        Event::Text { text, .. } => {
            EventForm { event: "text", text: Some(text.to_string()), ..base }
        }
        Event::Thinking { text, .. } => {
            EventForm { event: "thinking", text: Some(text.to_string()), ..base }
        }
        Event::ToolBegin { call } => EventForm { event: "tool_begin", call: Some(*call), ..base },
        Event::ToolName { call, name } => {
            EventForm { event: "tool_name", call: Some(*call), name: Some(name.clone()), ..base }
        }
        Event::Arg { call, path, text } => EventForm {
            event: "arg",
            call: Some(*call),
            path: Some(PathForm(path.clone().into_owned())),
            text: Some(text.to_string()),
            ..base
        },
        Event::ArgReset { call, path } => EventForm {
            event: "arg_reset",
            call: Some(*call),
            path: Some(PathForm(path.clone())),
            ..base
        },
        Event::ToolEnd { call, outcome } => EventForm {
            event: "tool_end",
            call: Some(*call),
            complete: Some(matches!(**outcome, CallEnd::Complete(_))),
            ..base
        },
        Event::ToolVoid { call, code } => {
            EventForm { event: "tool_void", call: Some(*call), code: Some(code.as_str()), ..base }
        }
        Event::Reclaim(range) => {
            EventForm { event: "reclaim", start: Some(range.start), end: Some(range.end), ..base }
        }
        _ => return,
    });
}
