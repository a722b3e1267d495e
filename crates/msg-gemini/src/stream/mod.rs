//! Assembles Gemini streams (GE-14 to GE-17): each chunk is a whole response whose parts are appended. Arguments may be
//! streamed value by value: `partialArgs` set the value at a path, and the next piece may continue a string (GE-17).
//!
//! ```text
//! {"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}
//! {"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}   -> Text "Hello", stop
//! {"jsonPath":"$.a","stringValue":"x","willContinue":true}, {"jsonPath":"$.a","stringValue":"y"}   -> {"a":"xy"}
//! ```

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use msg_codec::{
    Assembled, Assembler, Json, ProviderError, Sink, Str, StreamFamily, StreamOptions, StreamState,
    stream::{AssemblerStep as Limits, Channel, Head, Note},
};
use msg_core::{FinishReason, RawJson};
use msg_json::{Kind, write_str};

use crate::stream::candidate::Candidate;
use crate::stream::chunk::{BODY, Body, CandidateView};

mod candidate;
mod chunk;

/// Gemini streams, for a [`StreamReader`](msg_codec::StreamReader).
///
/// ```
/// use msg_gemini::GEMINI;
/// use msg_codec::{StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
/// reader.feed(br#"[{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}]"#, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub const GEMINI: StreamFamily = StreamFamily {
    name: "gemini",
    recognises,
    assembler: Some(|options| Box::new(GeminiAssembler::new(options))),
};

fn recognises(event: Json<'_>) -> bool {
    let response = event.get("response").filter(|it| it.is_object()).unwrap_or(event);
    let names =
        ["candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"];
    names.iter().any(|name| response.get(name).is_some())
}

/// A piece of an argument without a call.
pub(crate) const UNKNOWN_DELTA: Note = Note::warning("stream::unknown-delta");

/// A piece of an argument with an impossible path.
pub(super) const BAD_PATH: Note = Note::warning("stream::bad-path");

// Finish reasons of candidates (GE-16): maps Gemini's words to those of `msg-core`.

/// The meaning of a reason; an unknown one is kept.
pub(crate) fn meaning(raw: &str) -> FinishReason {
    match raw {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" | "CONTINUATION" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE"
        | "MALFORMED_RESPONSE" => FinishReason::Error,
        other => FinishReason::from(other),
    }
}

/// The error for a reason: an answer without content is never a success.
pub(super) fn error(raw: &str, message: Option<&str>) -> ProviderError {
    let what = if raw.contains("CALL") { "tool call" } else { "answer" };
    let sentence = || format!("the model's {what} was refused: {raw}");
    coded(message.map_or_else(sentence, str::to_owned), raw)
}

/// The error for a blocked prompt.
pub(super) fn blocked(raw: &str, message: Option<&str>) -> ProviderError {
    let sentence = || format!("the prompt was blocked: {raw}");
    coded(message.map_or_else(sentence, str::to_owned), raw)
}

fn coded(message: String, raw: &str) -> ProviderError {
    let mut error = ProviderError::new(message);
    error.code = Some(RawJson::string(raw));
    error
}

// Assembles chunks of a Gemini stream (GE-14): each is a complete response, bare or wrapped.

/// Assembles the chunks of a Gemini stream.
///
/// ```
/// use msg_gemini::GeminiAssembler;
/// use msg_codec::{Assembler, StreamOptions};
///
/// let mut assembler = GeminiAssembler::new(&StreamOptions::default());
/// for data in [
///     r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}]}"#,
///     r#"{"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}"#,
/// ] {
///     assembler.event(data.into(), &mut |_| {});
/// }
/// let res = assembler.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hello");
/// ```
#[derive(Debug, Clone)]
pub struct GeminiAssembler {
    head: Head,
    candidates: BTreeMap<u32, Candidate>,
    /// The source of the first content. If it comes again after the end, the response was captured twice.
    first: Option<Box<str>>,
}

impl GeminiAssembler {
    /// An assembler at the start of a stream.
    #[must_use]
    pub fn new(options: &StreamOptions) -> Self {
        Self { head: Head::new(options), candidates: BTreeMap::new(), first: None }
    }

    fn candidate(&mut self, view: CandidateView<'_>, sink: &mut Sink<'_>) {
        let index = view.index.and_then(Json::whole_number).unwrap_or(0);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let mut step = self.head.step(index, sink);
        let is_new = !self.candidates.contains_key(&index);
        if is_new && self.candidates.len() >= step.limits.max_calls {
            return step.text_gauge().limit();
        }
        let candidate = self.candidates.entry(index).or_default();
        candidate.take(view.members, &mut step);
        let given = view.finish.get();
        if let Some(odd) = given.filter(|it| !it.is_string()) {
            step.left_out("finishReason", "a string", odd);
        }
        let Some(word) = given.and_then(Json::text) else { return };
        let meaning = meaning(&word);
        let is_error = meaning == FinishReason::Error;
        if candidate.finish(&word, meaning, &mut step) && is_error {
            let message = view.message.get().and_then(Json::text);
            self.head.fail(error(&word, message.as_deref()), sink);
        }
    }

    /// Whether each candidate has a finish reason.
    fn is_over(&self) -> bool {
        !self.candidates.is_empty() && self.candidates.values().all(|it| it.finish.is_known())
    }

    /// Whether these candidates begin the same response again.
    fn is_repeated(&mut self, candidates: &[CandidateView<'_>]) -> bool {
        if self.first.is_some() && !self.is_over() {
            return false;
        }
        let Some(content) = candidates.first().and_then(CandidateView::content) else {
            return false;
        };
        match self.first.as_deref() {
            Some(first) => first == content,
            None => {
                self.first = Some(content.into());
                false
            }
        }
    }

    /// Handles a response, and the error beside it.
    fn response(&mut self, body: Body<'_>, error: Option<Json<'_>>, sink: &mut Sink<'_>) {
        let is_over = self.is_over();
        let id = body.id.get().and_then(Json::text);
        if is_over && id.is_some_and(|id| self.head.id.as_ref().is_some_and(|own| *own != id)) {
            self.head.note_another();
        }
        self.head.follow(body.id.get(), || !self.candidates.is_empty() && !is_over);
        self.head.identify(body.id.get(), body.version.get(), None);
        let says_something = body.says_something();
        let mut is_known = self.head.set_usage(body.usage.get());
        for candidate in body.candidates {
            is_known = true;
            let source = candidate.source;
            if body.is_lone || !source.is_object() {
                let step = &mut self.head.step(0, sink);
                match source.is_object() {
                    true => step.wrong_type("candidates", "a list of candidates", source),
                    false => step.left_out("candidates", "a list of candidates", source),
                }
            }
            self.candidate(candidate, sink);
        }
        is_known |= self.feedback(body.feedback.get(), sink);
        if let Some(error) = error.or(body.error) {
            is_known |= self.error(error, sink);
        }
        if !is_known && !says_something {
            self.head.note(Note::UNKNOWN_EVENT, || "a chunk that is not a response".into());
        }
    }

    /// Handles a blocked prompt, which has no answer; returns false if it is not blocked.
    fn feedback(&mut self, feedback: Option<Json<'_>>, sink: &mut Sink<'_>) -> bool {
        let Some(feedback) = feedback else { return false };
        let member = |camel, snake| {
            let [camel, snake] = feedback.pick([camel, snake]);
            camel.or(snake).and_then(Json::text)
        };
        if let Some(word) = member("blockReason", "block_reason") {
            let message = member("blockReasonMessage", "block_reason_message");
            self.head.finish.get_or_insert(FinishReason::ContentFilter);
            self.head.fail(blocked(&word, message.as_deref()), sink);
        }
        true
    }

    /// `{"error":{"code":400,"message":"..","status":"INVALID_ARGUMENT"}}`: the status is its type (GE-20).
    fn error(&mut self, raw: Json<'_>, sink: &mut Sink<'_>) -> bool {
        let Some(mut error) = ProviderError::of_member(raw) else { return false };
        let status = raw.get("status").and_then(Json::text).map(Cow::into_owned);
        error.kind = error.kind.or(status);
        self.head.fail(error, sink);
        true
    }
}

impl Assembler for GeminiAssembler {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn take(&mut self, data: &str, _name: Option<&str>, sink: &mut Sink<'_>) {
        let (mut whole, mut response) = (Body::default(), None);
        let is_read = self.head.read(data, |name, reader| {
            if name == "response" && reader.peek()? == Kind::Object {
                response = Some(Body::read(reader)?);
                return Ok(());
            }
            whole.member(name, reader)
        });
        if is_read {
            let error = whole.error;
            let body = response.unwrap_or(whole);
            if self.is_repeated(&body.candidates) {
                self.head.note_another();
            }
            if body.has_others && body.says_something() {
                let whole = Json::from_valid(data.trim_ascii());
                let inner = whole.get("response").filter(|it| it.is_object());
                self.head.step(0, sink).unknown_members(inner.unwrap_or(whole), &BODY);
            }
            self.response(body, error, sink);
        }
    }

    fn close(mut self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        let early = (!self.is_over()).then_some("without a finish reason");
        let ending = self.head.ending(state, early);
        let candidates = std::mem::take(&mut self.candidates).into_iter();
        let choices = candidates
            .map(|(index, it)| it.close(index, (state, ending), &mut self.head, sink))
            .collect();
        self.head.assemble(choices, ending, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}

/// The arguments of a call while they arrive.
#[derive(Debug, Clone, Default)]
struct Partial {
    root: Members,
    /// The number of values, including gaps.
    n_values: usize,
}

/// More values than in any call.
const MAX_VALUES: usize = 1 << 16;

/// The members of an object in the order of their first appearance.
#[derive(Debug, Clone, Default)]
struct Members {
    list: Vec<(String, Value)>,
    places: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
enum Value {
    /// A gap, or a container of unknown kind.
    Empty,
    /// JSON text.
    Json(String),
    /// A string, and whether its last piece announced more.
    Text {
        text: Channel,
        is_open: bool,
    },
    Object(Members),
    Array(Vec<Value>),
}

impl Partial {
    /// Sets arguments that arrived complete with the beginning of the call.
    fn take_args(&mut self, args: Json<'_>, limits: &mut Limits<'_, '_>) {
        for (name, value) in args.members() {
            let fits = limits.argument_gauge().take(name.len() + value.source().len());
            if fits && let Some(place) = self.root.place(&name, &mut self.n_values) {
                *place = Value::Json(value.compact());
            }
        }
    }

    /// Handles one of the `partialArgs`; skips a path that does not parse or fit.
    fn take(&mut self, piece: Json<'_>, limits: &mut Limits<'_, '_>) {
        let [path, goes_on, text, number, boolean, null] = piece.pick([
            "jsonPath",
            "willContinue",
            "stringValue",
            "numberValue",
            "boolValue",
            "nullValue",
        ]);
        let goes_on = goes_on.is_some_and(|it| it.source() == "true");
        let number = number.filter(|it| it.number().is_some());
        let boolean = boolean.filter(|it| matches!(it.source(), "true" | "false"));
        let value = number.or(boolean).or(null.map(|_| Json::from_valid("null")));
        let path = path.and_then(Json::text).unwrap_or_default();
        let steps = parse(&path).filter(|_| limits.argument_gauge().take(path.len()));
        let place = steps.and_then(|it| self.place(&it));
        let is_set = place.is_some_and(|place| match text.and_then(Json::string) {
            Some(text) => place.append(text, goes_on, limits),
            None => place.set(value, limits),
        });
        if !is_set {
            limits.note(BAD_PATH, || format!("an argument for the path {path} was skipped"));
        }
    }

    /// The arguments as JSON.
    fn into_json(self) -> String {
        let mut out = Vec::new();
        Value::Object(self.root).write(&mut out);
        String::from_utf8(out).expect("because JSON of texts is UTF-8")
    }

    fn place(&mut self, steps: &[Step<'_>]) -> Option<&mut Value> {
        let (first, rest) = steps.split_first()?;
        let Step::Name(name) = first else { return None };
        let mut place = self.root.place(name, &mut self.n_values)?;
        for step in rest {
            place = place.step(step, &mut self.n_values)?;
        }
        Some(place)
    }
}

impl Members {
    fn place(&mut self, name: &str, n_values: &mut usize) -> Option<&mut Value> {
        let at = match self.places.get(name) {
            Some(at) => *at,
            None => {
                *n_values += 1;
                if *n_values > MAX_VALUES {
                    return None;
                }
                self.places.insert(name.to_owned(), self.list.len());
                self.list.push((name.to_owned(), Value::Empty));
                self.list.len() - 1
            }
        };
        self.list.get_mut(at).map(|it| &mut it.1)
    }
}

impl Value {
    /// The value one step deeper, created if missing; `None` if another kind is there.
    fn step(&mut self, step: &Step<'_>, n_values: &mut usize) -> Option<&mut Self> {
        if let Self::Empty = self {
            *self = match step {
                Step::Name(_) => Self::Object(Members::default()),
                Step::Index(_) => Self::Array(Vec::new()),
            };
        }
        match (self, step) {
            (Self::Object(members), Step::Name(name)) => members.place(name, n_values),
            (Self::Array(list), Step::Index(at)) if *at <= MAX_INDEX => {
                if *at >= list.len() {
                    *n_values += *at + 1 - list.len();
                    if *n_values > MAX_VALUES {
                        return None;
                    }
                    list.resize_with(*at + 1, || Self::Empty);
                }
                list.get_mut(*at)
            }
            _ => None,
        }
    }

    /// Sets a value; returns false if it is missing or does not fit.
    fn set(&mut self, value: Option<Json<'_>>, limits: &mut Limits<'_, '_>) -> bool {
        match (self, value) {
            (Self::Object(_) | Self::Array(_), _) | (_, None) => false,
            (place, Some(value)) => {
                let fits = limits.argument_gauge().take(value.source().len());
                if fits {
                    *place = Self::Json(value.source().to_owned());
                }
                fits
            }
        }
    }

    fn append(&mut self, piece: Str<'_>, goes_on: bool, limits: &mut Limits<'_, '_>) -> bool {
        if matches!(self, Self::Object(_) | Self::Array(_)) {
            return false;
        }
        if !matches!(self, Self::Text { is_open: true, .. }) {
            *self = Self::Text { text: Channel::default(), is_open: true };
        }
        if let Self::Text { text, is_open } = self {
            text.push(piece, &mut limits.argument_gauge());
            if !goes_on {
                text.end(&mut limits.argument_gauge());
            }
            *is_open = goes_on;
        }
        true
    }

    /// Containers are at most as deep as paths have steps.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Empty => out.extend_from_slice(b"null"),
            Self::Json(text) => out.extend_from_slice(text.as_bytes()),
            Self::Text { text, .. } => write_str(out, text.text()),
            Self::Object(members) => msg_json::Writer::new(out).object(|it| {
                for (name, value) in &members.list {
                    it.key(name).value(|out| value.write(out));
                }
            }),
            Self::Array(list) => msg_json::Writer::new(out).array(list, |it, value| {
                it.value(|out| value.write(out));
            }),
        }
    }
}

// Paths into the arguments of a call (GE-17): only the names and indexes of RFC 9535.
//
// ```text
// $.a['k k'][1].q      Name a, Name "k k", Index 1, Name q
// ```

/// The largest index: gaps before it become nulls.
const MAX_INDEX: usize = 4096;

/// More steps than in any schema.
const MAX_STEPS: usize = 128;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step<'p> {
    Name(Cow<'p, str>),
    Index(usize),
}

/// The steps of a path; `None` if it uses other syntax or is too deep.
fn parse(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.as_bytes().first()? {
            b'.' => dotted(&rest[1..])?,
            b'[' => bracketed(&rest[1..])?,
            _ => return None,
        };
        steps.push(step);
        rest = after;
        if steps.len() > MAX_STEPS {
            return None;
        }
    }
    (!steps.is_empty()).then_some(steps)
}

fn dotted(rest: &str) -> Option<(Step<'_>, &str)> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-' || !it.is_ascii();
    let is_plain = !name.is_empty() && name.chars().all(is_name);
    is_plain.then_some((Step::Name(Cow::Borrowed(name)), after))
}

fn bracketed(rest: &str) -> Option<(Step<'_>, &str)> {
    let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'));
    let Some(quote) = quote else {
        let (digits, after) = rest.split_once(']')?;
        let is_index = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        // A number that does not parse is too large for an index.
        let index = digits.parse().unwrap_or(usize::MAX);
        return is_index.then_some((Step::Index(index), after));
    };
    let end = closing(&rest[1..], quote)?;
    let name = &rest[1..=end];
    let after = rest[end + 2..].strip_prefix(']')?;
    Some((Step::Name(unquoted(name, quote)?), after))
}

/// The offset of the quote that ends a name.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, it) in text.char_indices() {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            it if it == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// The name in a quoted text: escapes are those of JSON, and that of the quote.
fn unquoted(name: &str, quote: char) -> Option<Cow<'_, str>> {
    if !name.contains('\\') {
        return Some(Cow::Borrowed(name));
    }
    let json =
        if quote == '\'' { name.replace("\\'", "'").replace('"', "\\\"") } else { name.into() };
    msg_json::validate(&format!("\"{json}\"")).ok()?;
    Some(Cow::Owned(msg_json::unescape(&json).text.into_owned()))
}
