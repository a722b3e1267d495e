//! What was read, as one line of JSON: everything that a caller sees of it, members in their order.

use msg_core::Diagnostic;
use msg_xml::{CallOrigin, Parsed, ParsedPart, SegmentKind, ThinkingStyle};
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct All<'a> {
    segments: Vec<Shown<'a>>,
    reports: Vec<Report<'a>>,
}

#[derive(Default, Serialize)]
struct Shown<'a> {
    kind: &'static str,
    at: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    style: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(flatten)]
    call: Option<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    server_name: &'a str,
    tool_name: Option<&'a str>,
    arguments: Box<RawValue>,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fenced: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recovered: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    code: &'a str,
    at: [usize; 2],
    message: String,
    fix: Option<&'a str>,
}

impl<'a> Call<'a> {
    fn new(
        server_name: &'a str,
        tool_name: Option<&'a str>,
        arguments: &str,
        origin: &'a CallOrigin,
    ) -> Self {
        let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
        let CallOrigin { format, fenced, recovered } = origin;
        Call {
            server_name,
            tool_name,
            arguments,
            complete: true,
            format: format.as_deref(),
            fenced: *fenced,
            recovered: *recovered,
        }
    }
}

fn segment(segment: &ParsedPart) -> Shown<'_> {
    let at = [segment.span.start, segment.span.end];
    let of_call = |call| Shown { kind: "tool_call", at, call: Some(call), ..Shown::default() };
    match &segment.kind {
        SegmentKind::Text(text) => Shown { kind: "text", at, text: Some(text), ..Shown::default() },
        SegmentKind::Thinking { text, style } => {
            let style = Some(if *style == ThinkingStyle::Tag { "tag" } else { "bracket" });
            Shown { kind: "thinking", at, style, text: Some(text), call: None }
        }
        SegmentKind::Call(it) => of_call(Call::new(
            it.server_name(),
            Some(it.tool_name()),
            it.arguments().text(),
            it.origin(),
        )),
        SegmentKind::Partial(it) => {
            let call =
                Call::new(it.server_name(), it.tool_name(), it.arguments().text(), it.origin());
            of_call(Call { complete: false, ..call })
        }
    }
}

fn report(it: &Diagnostic) -> Report<'_> {
    let place = |at: Option<usize>| at.expect("because each has a place");
    Report {
        code: it.code.as_str(),
        at: [place(it.at.start), place(it.at.end)],
        message: it.message().to_string(),
        fix: it.fix.as_deref(),
    }
}

/// A message.
pub(crate) fn parsed(parsed: &Parsed) -> String {
    let segments = parsed.segments.iter().map(segment).collect();
    line(&All { segments, reports: parsed.diagnostics.iter().map(report).collect() })
}

/// Reports alone.
pub(crate) fn reports(all: &[Diagnostic]) -> String {
    line(&all.iter().map(report).collect::<Vec<_>>())
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("because it is made of texts")
}
