//! Text that has been read, and its segments as values.

use std::sync::Arc;

use msg_core::Diagnostic;
use msg_xml::{Collector, Origin, Parsed, SegmentKind, StreamParser, ThinkingStyle};
use serde::Serialize;
use serde_json::value::RawValue;

use super::events::{EventForm, note};
use super::options::ToolsOptions;
use crate::json::to_json;

/// A stretch of model text, and what it is.
#[derive(Debug, Clone, Serialize)]
pub struct Segment {
    /// `text`, `thinking` or `tool_call`.
    pub kind: &'static str,
    /// How thinking was marked: `tag` or `bracket`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<&'static str>,
    /// The text, of text and of thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The call.
    #[serde(flatten)]
    pub call: Option<SegmentCall>,
}

/// A call that was in model text.
#[derive(Debug, Clone, Serialize)]
pub struct SegmentCall {
    /// The server that has the tool; `local` if none is named.
    pub server_name: String,
    /// The tool, if its name came.
    pub tool_name: Option<String>,
    /// The arguments, as JSON.
    pub arguments: Box<RawValue>,
    /// Whether the end of the call came.
    pub complete: bool,
    /// The dialect that it was written in, if another than ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// It was in a code fence.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fenced: bool,
    /// Something of it was mended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
}

/// Model text that has been read.
#[derive(Debug)]
pub struct Segmented {
    /// What was read, with the place of each segment.
    pub parsed: Parsed,
    /// The same as values.
    pub segments: Vec<Segment>,
    events: Option<Vec<EventForm>>,
}

/// Reads model text. Any text has segments; what was wrong with it is beside them.
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

/// Reads model text in pieces that end at `splits`, or of the size that the options say.
pub(super) fn read(text: &[u8], options: &ToolsOptions, splits: &[usize]) -> Segmented {
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
    /// Whether nothing was wrong with the text.
    pub fn is_clean(&self) -> bool {
        !self.parsed.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The line of `msg tools --jsonl`, without its end.
    pub fn to_json(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Form<'a> {
            segments: &'a [Segment],
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

fn segment(kind: &SegmentKind) -> Segment {
    let plain =
        |kind, style, text: &str| Segment { kind, style, text: Some(text.to_owned()), call: None };
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
            let Origin { fenced, recovered, .. } = *it.origin();
            let name = Some(it.tool_name());
            let call = call(it.server_name(), name, it.arguments().text(), it.origin());
            a_call(SegmentCall { complete: true, fenced, recovered, ..call })
        }
        SegmentKind::Partial(it) => {
            a_call(call(it.server_name(), it.tool_name(), it.arguments().text(), it.origin()))
        }
    }
}

fn a_call(call: SegmentCall) -> Segment {
    Segment { kind: "tool_call", style: None, text: None, call: Some(call) }
}

/// A call whose end did not come.
fn call(server: &str, tool: Option<&str>, arguments: &str, origin: &Origin) -> SegmentCall {
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
