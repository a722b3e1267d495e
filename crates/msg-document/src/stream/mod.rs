//! Assembles the captured bytes of a provider's stream into its message (OA-27).
//!
//! ```text
//! data: {"choices":[{"delta":{"content":"he"}}]} …     {"message":{"role":"assistant","content":"hello"},"complete":true,…}
//! ```
//!
//! The wire crates interpret the bytes; nothing is fetched here.

mod options;

use std::borrow::Cow;
use std::collections::HashSet;

use msg_codec::{Assembled, Json, StreamFamily, StreamReader};
use msg_core::{Code, Diagnostic, Report, StreamEvent, Usage};
use msg_formats::{ReadOptions, Refusal};
use msg_json::Writer;
use msg_openai::{MessageForm, write_result};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::to_json;
use crate::json::{bad_line, decoded};

pub use self::options::{CaptureOptions, Provider, StreamForm};

// A line of `msg stream --jsonl`: a captured body, with options.

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    sse: Option<String>,
    sse_b64: Option<String>,
    provider: Option<Provider>,
    chunk: Option<usize>,
    options: Option<Own>,
}

/// The `options` of a line that are not direct members of the line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Own {
    to: StreamForm,
    events: bool,
    split_concatenated: bool,
    max_event_bytes: Option<usize>,
    interrupt_after: Option<usize>,
}

impl Line {
    fn options(&self, defaults: &CaptureOptions) -> CaptureOptions {
        let mut res = defaults.clone();
        if let Some(own) = &self.options {
            res.to = own.to;
            res.events = own.events;
            res.split_concatenated = own.split_concatenated;
            res.max_event_bytes = own.max_event_bytes;
            res.interrupt_after = own.interrupt_after;
        }
        res.provider = self.provider.unwrap_or(res.provider);
        res.chunk = self.chunk.unwrap_or(res.chunk);
        res
    }
}

impl CaptureOptions {
    /// Answers a line of `msg stream --jsonl`: an object with `sse` or `sse_b64`, and options for this stream. Also
    /// returns whether the stream had no errors.
    ///
    /// Fails if the line is not such an object. Linear in the line.
    ///
    /// ```
    /// use msg_document::CaptureOptions;
    ///
    /// assert!(CaptureOptions::default().answer_line(br#"{"sse":"data: [DONE]\n\n"}"#).is_ok());
    /// assert!(CaptureOptions::default().answer_line(b"[]").is_err());
    /// ```
    pub fn answer_line(&self, line: &[u8]) -> Result<(Vec<u8>, bool), Refusal> {
        let line: Line = serde_json::from_slice(line).map_err(|it| bad_line(it.to_string()))?;
        let options = line.options(self);
        let body = match (line.sse, line.sse_b64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => decoded("sse_b64", &text)?,
            _ => return Err(bad_line("expected one of sse and sse_b64")),
        };
        let streamed = stream(&body, &options)?;
        Ok((streamed.to_json(), streamed.is_clean()))
    }
}

// The known families of streams, in the order of recognition (OA-17). The wire crates define those that are read; the
// others are known only to refuse their streams by name.

/// All families. A stream that none recognises counts as Chat Completions.
pub(super) static ALL: [StreamFamily; 11] = [
    msg_openai::RESPONSES,
    msg_anthropic::ANTHROPIC,
    COHERE,
    msg_gemini::GEMINI,
    msg_gemini::interactions::INTERACTIONS,
    msg_bedrock::BEDROCK,
    OLLAMA,
    ASSISTANTS,
    GENERATION,
    UI_MESSAGES,
    msg_openai::CHAT,
];

pub(super) static CHAT: [StreamFamily; 1] = [msg_openai::CHAT];
pub(super) static RESPONSES: [StreamFamily; 1] = [msg_openai::RESPONSES];
pub(super) static ANTHROPIC: [StreamFamily; 1] = [msg_anthropic::ANTHROPIC];
pub(super) static GEMINI: [StreamFamily; 1] = [msg_gemini::GEMINI];
pub(super) static BEDROCK: [StreamFamily; 1] = [msg_bedrock::BEDROCK];
pub(super) static INTERACTIONS: [StreamFamily; 1] = [msg_gemini::interactions::INTERACTIONS];

const COHERE: StreamFamily = foreign("Cohere", |it| {
    let kinds =
        ["message-start", "content-delta", "tool-plan-delta", "citation-start", "message-end"];
    is_one_of(it, "type", &kinds)
        || is_one_of(it, "event_type", &["stream-start", "text-generation", "stream-end"])
});
const OLLAMA: StreamFamily = foreign("Ollama", |it| {
    let says = it.get("message").is_some_and(Json::is_object) || it.get("response").is_some();
    says && it.get("created_at").is_some()
        && it.get("done").is_some()
        && it.get("choices").is_none()
});
const ASSISTANTS: StreamFamily = foreign("OpenAI Assistants", |it| {
    it.get("object").and_then(Json::text).is_some_and(|it| it.starts_with("thread."))
});
const GENERATION: StreamFamily = foreign("Hugging Face text generation", |it| {
    it.get("token").is_some_and(Json::is_object) && it.get("choices").is_none()
});
const UI_MESSAGES: StreamFamily = foreign("Vercel AI SDK UI messages", |it| {
    is_one_of(it, "type", &["start", "start-step", "text-start", "text-delta", "finish-step"])
});

/// A family that is not read: its common name, and whether an event belongs to it.
const fn foreign(name: &'static str, recognises: fn(Json<'_>) -> bool) -> StreamFamily {
    StreamFamily { name, recognises, assembler: None }
}

fn is_one_of(event: Json<'_>, member: &str, words: &[&str]) -> bool {
    event.get(member).and_then(Json::text).is_some_and(|it| words.contains(&&*it))
}

// A stream that is being assembled, and the result.

/// A stream that has been assembled.
#[derive(Debug)]
pub struct Streamed {
    /// The assembled messages.
    pub assembled: Assembled,
    events: Vec<StreamEvent<'static>>,
    options: CaptureOptions,
}

/// Assembles a captured stream, or a JSON document with one.
///
/// Fails if the body is larger than `max_bytes`. Errors in the stream are part of the answer. Linear in
/// the bytes.
///
/// ```
/// use msg_document::{CaptureOptions, stream};
///
/// let body = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n";
/// let streamed = stream(body, &CaptureOptions::default())?;
/// assert_eq!(streamed.assembled.choices[0].message.text(), "hello");
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn stream(body: &[u8], options: &CaptureOptions) -> Result<Streamed, Refusal> {
    let read = ReadOptions::default();
    let max_bytes = options.max_bytes.unwrap_or(read.max_bytes);
    read.with_max_bytes(max_bytes).expect_size(body)?;
    let mut run = StreamRun::new(options);
    run.feed(body);
    Ok(run.finish())
}

/// Assembles a stream while its bytes arrive.
///
/// ```
/// use msg_document::{CaptureOptions, StreamRun};
///
/// let mut run = StreamRun::new(&CaptureOptions::default());
/// for piece in b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n".chunks(7) {
///     run.feed(piece);
/// }
/// assert!(!run.finish().assembled.complete);
/// ```
pub struct StreamRun {
    reader: StreamReader,
    options: CaptureOptions,
    events: Vec<StreamEvent<'static>>,
    /// Bytes that may still be fed before the interruption.
    left: usize,
}

impl std::fmt::Debug for StreamRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamRun").field("options", &self.options).finish_non_exhaustive()
    }
}

impl StreamRun {
    /// A run before its first bytes.
    pub fn new(options: &CaptureOptions) -> Self {
        let split_concatenated = options.split_concatenated;
        let mut wire = msg_codec::StreamOptions { split_concatenated, ..Default::default() };
        if let Some(limit) = options.max_event_bytes {
            wire.limits.max_event_bytes = limit;
        }
        let reader = StreamReader::new(options.provider.families(), wire);
        let left = options.interrupt_after.unwrap_or(usize::MAX);
        StreamRun { reader, options: options.clone(), events: Vec::new(), left }
    }

    /// Takes the next bytes. Returns false if no more are needed.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        let bytes = &bytes[..bytes.len().min(self.left)];
        if self.options.interrupt_after.is_some() {
            self.left -= bytes.len();
        }
        let size = if self.options.chunk == 0 { bytes.len().max(1) } else { self.options.chunk };
        let (keep, events) = (self.options.events, &mut self.events);
        for chunk in bytes.chunks(size) {
            self.reader.feed(chunk, &mut |it| {
                if keep {
                    events.push(it.into_owned());
                }
            });
        }
        self.left > 0
    }

    /// The events since the last call, if the options ask for events. [`StreamRun::finish`] returns the
    /// remaining ones.
    pub fn take_events(&mut self) -> Vec<StreamEvent<'static>> {
        std::mem::take(&mut self.events)
    }

    /// Ends the stream, whether it is complete or was cut off.
    pub fn finish(mut self) -> Streamed {
        let keep = self.options.events;
        let mut sink = |it: StreamEvent<'_>| {
            if keep {
                self.events.push(it.into_owned());
            }
        };
        let assembled = match self.options.interrupt_after {
            Some(_) => self.reader.interrupt(&mut sink),
            None => self.reader.finish(&mut sink),
        };
        tracing::debug!(
            complete = assembled.complete,
            choices = assembled.choices.len(),
            findings = assembled.diagnostics.len(),
            "stream assembled"
        );
        Streamed { assembled, events: self.events, options: self.options }
    }
}

impl Streamed {
    /// Whether the stream had no errors.
    pub fn is_clean(&self) -> bool {
        !self.assembled.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The line of `msg stream --jsonl`, without its line end: the result, or the stream of another provider
    /// and what that cannot hold.
    pub fn to_json(&self) -> Vec<u8> {
        if self.options.to.families().is_empty() {
            return self.message_json();
        }
        let mut out = Vec::new();
        self.write_as_line(&mut out);
        out
    }

    /// The result, with a message in the form of the options; a chat message if these name a stream. Does not link the
    /// writers of streams.
    ///
    /// ```
    /// use msg_document::{CaptureOptions, stream};
    ///
    /// let streamed = stream(b"", &CaptureOptions::default())?;
    /// assert_eq!(streamed.message_json(), streamed.to_json());
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn message_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let events = self.options.events.then_some(&self.events[..]);
        let form = match self.options.to {
            StreamForm::Native => MessageForm::Native,
            StreamForm::Turns => MessageForm::Turn,
            _ => MessageForm::OpenAi,
        };
        write_result(&self.assembled, form, events, &mut out);
        out
    }

    /// Writes the stream that another provider would send, if the options name one. Returns what it cannot
    /// hold.
    pub fn write_stream(&self, out: &mut Vec<u8>) -> Option<Report> {
        let write = self.options.to.writer()?;
        let made = self
            .options
            .to
            .made_id()
            .filter(|_| self.assembled.id.as_ref().is_none_or(String::is_empty));
        let mut assembled = Cow::Borrowed(&self.assembled);
        if let Some(id) = made {
            assembled.to_mut().id = Some(id.to_owned());
        }
        let mut usage = self.assembled.usage.clone();
        let odd = usage.as_mut().and_then(Usage::settle_parts);
        if odd.is_some() {
            assembled.to_mut().usage = usage;
        }
        let from = out.len();
        let mut report = write(&assembled, out);
        report.extend(odd);
        report.extend(lost_around(&assembled, &out[from..], self.options.to.families()));
        if let Some(id) = made {
            let text = format!("the stream has no id and is called {id}");
            report.push(Diagnostic::info(Code::new("convert::id-synthesised"), text));
        }
        Some(report)
    }

    /// Writes a stream as a line, in the form of input lines.
    fn write_as_line(&self, out: &mut Vec<u8>) {
        let mut sse = Vec::new();
        let lost = self.write_stream(&mut sse).unwrap_or_default();
        let found = self.assembled.diagnostics.iter().chain(lost.iter());
        Writer::new(out).object(|it| {
            it.key("sse").str(&String::from_utf8_lossy(&sse));
            it.key("diagnostics")
                .array(found, |it, found| it.raw(&String::from_utf8_lossy(&to_json(found))));
        });
    }

    /// The result as a row of a table.
    ///
    /// ```
    /// use msg_document::{CaptureOptions, stream};
    ///
    /// let streamed = stream(b"", &CaptureOptions::default())?;
    /// assert_eq!(streamed.row().complete, Some(false));
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn row(&self) -> StreamRow {
        let json = self.to_json();
        serde_json::from_slice(&json).unwrap_or_default()
    }
}

/// The losses of a written stream besides the content: id, model and usage. Found by reading it again.
fn lost_around(of: &Assembled, written: &[u8], families: &[StreamFamily]) -> Vec<Diagnostic> {
    let mut reader = StreamReader::new(families, msg_codec::StreamOptions::default());
    reader.feed(written, &mut |_| {});
    let read = reader.finish(&mut |_| {});
    let is_lost = |one: &Option<String>, other: &Option<String>| {
        one.as_ref().is_some_and(|it| !it.is_empty()) && other.is_none()
    };
    let lost = |text: String| Diagnostic::info(Code::new("convert::lost-member"), text);
    let around = [("id", is_lost(&of.id, &read.id)), ("model", is_lost(&of.model, &read.model))];
    let around = around.into_iter().filter(|it| it.1).map(|it| it.0);
    let mut res: Vec<_> =
        around.map(|it| lost(format!("the stream has no place for the {it}"))).collect();
    let Some(usage) = &of.usage else { return res };
    let mut known: HashSet<String> = derived(usage).map(|it| it.to_string()).collect();
    known.extend(leaves(read.usage.as_ref()).into_iter().map(|it| it.1));
    for (name, value) in leaves(Some(usage)) {
        // The same number in another place is not a new value.
        if known.insert(value.clone()) {
            let text = format!("the stream has no place for `{name}` of the usage: {value}");
            res.push(Diagnostic::warning(Code::new("convert::lost-member"), text));
        }
    }
    res
}

/// Sums that other providers report as one count.
fn derived(usage: &Usage) -> impl Iterator<Item = u64> {
    let of = |it: Option<u64>| it.unwrap_or(0);
    let (input, output) = (of(usage.input), of(usage.output));
    let (cached, written) = (of(usage.cached), of(usage.cache_write));
    let thought = of(usage.reasoning);
    let both = cached.saturating_add(written);
    let inputs = [input, input.saturating_sub(cached), input.saturating_sub(both)];
    let outputs = [output, output.saturating_sub(thought), output.saturating_add(thought)];
    let sums = [of(usage.total), input.saturating_add(output), input.saturating_add(both)];
    inputs.into_iter().chain(outputs).chain(sums)
}

/// The counts and words of a usage object, each with the name of its member. Skips zeros and empty values.
fn leaves(usage: Option<&Usage>) -> Vec<(String, String)> {
    let Some(raw) = usage.and_then(|it| it.raw.as_ref()) else { return Vec::new() };
    let mut res = Vec::new();
    let mut next = vec![(Cow::Borrowed(""), Json::from_valid(raw.text()))];
    while let Some((name, value)) = next.pop() {
        next.extend(value.members());
        next.extend(value.elements().map(|it| (name.clone(), it)));
        let is_empty = matches!(value.source(), "0" | "0.0" | "\"\"" | "null" | "true" | "false");
        let is_leaf = !value.is_object() && !value.is_array() && !is_empty;
        // `modality` only labels the counts.
        if is_leaf && name != "modality" {
            res.push((name.into_owned(), value.source().to_owned()));
        }
    }
    res.reverse();
    res
}

/// The result of a stream as a row of a table (SC-10). Objects of the JSON form are JSON text here.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct StreamRow {
    #[serde(deserialize_with = "raw")]
    /// The message.
    pub message: Option<String>,
    /// The finish reason.
    pub finish_reason: Option<String>,
    /// The usage, as the provider reported it.
    #[serde(deserialize_with = "raw")]
    pub usage: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The id of the response.
    pub id: Option<String>,
    /// Whether the end of the stream was seen.
    pub complete: Option<bool>,
    /// Findings that are errors.
    pub errors: Vec<Diagnostic>,
    /// Findings that are warnings.
    pub warnings: Vec<Diagnostic>,
}

fn raw<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(deserializer)?;
    Ok(raw.map(|it| it.get().to_owned()))
}
