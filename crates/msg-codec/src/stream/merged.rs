//! An object merged from several: unknown members (OA-18), and objects carried whole (OA-23). Later values overwrite,
//! extend or append to earlier ones. Members are not interpreted.

use msg_core::{Code, Diagnostic, Extra, Origin, RawJson, Severity, StreamEvent};
use msg_json::{Writer, to_text, validate};

use super::channel::Channel;
use super::frames::BAD_FRAME;
use super::reader::StreamLimits;
use crate::codec::argument_text;
use crate::json::{Json, Str};

/// The object so far, with members in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    members: Vec<(String, Value)>,
}

#[derive(Debug, Clone)]
enum Value {
    Json(String),
    /// A growing string.
    Text(Channel),
    /// A growing array, without its closing bracket.
    Array(String),
}

/// Small enough to search linearly.
const MAX_MEMBERS: usize = 256;

impl Merged {
    /// Overwrites member by member; null is ignored.
    pub fn merge(&mut self, object: Option<Json<'_>>, gauge: &mut Gauge<'_>) {
        let members = object.into_iter().flat_map(Json::members);
        for (key, value) in members.filter(|it| !it.1.is_null()) {
            self.set(&key, value, gauge);
        }
    }

    /// Sets one member; null does not overwrite.
    pub fn set(&mut self, key: &str, value: Json<'_>, gauge: &mut Gauge<'_>) {
        let is_there = self.find(key).is_some_and(|at| match &self.members[at].1 {
            Value::Json(kept) => value.is_null() || kept == value.source(),
            _ => value.is_null(),
        });
        if is_there || !gauge.take(value.source().len()) {
            return;
        }
        self.put(key, Value::Json(value.source().to_owned()), gauge);
    }

    /// Appends to a member that is a string, or sets it.
    pub fn grow(&mut self, key: &str, value: Json<'_>, gauge: &mut Gauge<'_>) {
        let Some(text) = value.string() else {
            return self.set(key, value, gauge);
        };
        let mut channel = Channel::default();
        match self.find(key).map(|at| &mut self.members[at].1) {
            Some(Value::Text(kept)) => channel = std::mem::take(kept),
            Some(Value::Json(json)) => {
                if let Some(start) = Json(json).string() {
                    channel.push(start, gauge);
                }
            }
            _ => {}
        }
        channel.push(text, gauge);
        self.put(key, Value::Text(channel), gauge);
    }

    /// Adds a member of a delta: an array is appended to an existing one, for other values the last one counts, and
    /// null is ignored.
    pub fn add(&mut self, key: &str, value: Json<'_>, gauge: &mut Gauge<'_>) {
        if value.is_null() || !gauge.take(value.source().len()) {
            return;
        }
        let kept = self.find(key).map(|at| &mut self.members[at].1);
        if !value.is_array() {
            if let Some(Value::Json(last)) = kept {
                *gauge.left += last.len();
            }
            return self.put(key, Value::Json(value.source().to_owned()), gauge);
        }
        let mut array = match kept {
            Some(Value::Array(array)) => std::mem::take(array),
            _ => "[".to_owned(),
        };
        value.elements().for_each(|it| push_element(&mut array, it));
        self.put(key, Value::Array(array), gauge);
    }

    /// Appends an element to an array; a member that is missing is an empty one.
    pub fn append(&mut self, key: &str, element: Json<'_>, gauge: &mut Gauge<'_>) {
        if self.find(key).is_none() {
            self.add(key, Json("[]"), gauge);
        }
        let place = self.find(key);
        if let Some(Value::Array(array)) = place.map(|at| &mut self.members[at].1)
            && gauge.take(element.source().len())
        {
            push_element(array, element);
        }
    }

    /// Sets the member `input` to JSON that arrived in pieces; invalid JSON is kept as text.
    pub fn put_input(&mut self, text: &str) {
        let json =
            if validate(text).is_ok() { text.to_owned() } else { to_text(|it| it.str(text)) };
        match self.find("input") {
            Some(at) => self.members[at].1 = Value::Json(json),
            None => self.members.push(("input".to_owned(), Value::Json(json))),
        }
    }

    /// Whether there is a member of this name.
    pub fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Whether the object is empty.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The object as JSON; `""` for an empty object.
    pub fn into_json(self) -> String {
        if self.members.is_empty() {
            return String::new();
        }
        let write = |it: &mut Writer<'_>| {
            for (key, value) in self.members {
                it.key(&key).raw(&value.into_json());
            }
        };
        to_text(|it| it.object(write))
    }

    /// Moves the members into `extra`.
    pub fn into_extra(self, origin: &Origin, extra: &mut Extra) {
        for (key, value) in self.members {
            if let Ok(json) = RawJson::new(value.into_json()) {
                extra.insert(origin.clone(), key, json);
            }
        }
    }

    fn find(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|(it, _)| it == key)
    }

    fn put(&mut self, key: &str, value: Value, gauge: &mut Gauge<'_>) {
        match self.find(key) {
            Some(at) => self.members[at].1 = value,
            None if self.members.len() < MAX_MEMBERS && gauge.take(key.len()) => {
                self.members.push((key.to_owned(), value));
            }
            None => gauge.limit(),
        }
    }
}

impl Value {
    fn into_json(self) -> String {
        match self {
            Self::Json(json) => json,
            Self::Text(text) => to_text(|it| it.str(text.text())),
            Self::Array(array) => array + "]",
        }
    }
}

fn push_element(array: &mut String, element: Json<'_>) {
    if array.len() > 1 {
        array.push(',');
    }
    array.push_str(element.source());
}

// Problems of a stream: each kind once, with the byte where it was first seen. The kinds are the `stream::` codes of
// OA-16 to OA-26.

/// A kind of finding: its code and severity. A crate with its own codes defines constants of this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    code: &'static str,
    severity: Severity,
}

/// Findings about bytes and events (OA-16, OA-17), calls (OA-19) and ends (OA-20, OA-21) that all families share.
/// [`CODES`](crate::CODES) has their meanings.
#[allow(missing_docs, reason = "the names are those of the codes, whose meanings are in CODES")]
impl Note {
    pub const INVALID_UTF8: Self = Self::warning("stream::invalid-utf8");
    pub const BARE_JSON: Self = Self::warning("stream::bare-json");
    pub const NOT_SEPARATED: Self = Self::warning("stream::not-separated");
    pub const COMMENT_IN_DATA: Self = Self::warning("stream::comment-in-data");
    pub const BAD_JSON: Self = Self::warning("stream::bad-json");
    pub const EVENT_TOO_LARGE: Self = Self::error("stream::event-too-large");
    pub const NDJSON: Self = Self::warning("stream::ndjson");
    pub const SEVERAL_RESPONSES: Self = Self::warning("stream::several-responses");
    pub const FOREIGN_FORMAT: Self = Self::error("stream::foreign-format");
    pub const UNKNOWN_EVENT: Self = Self::warning("stream::unknown-event");
    pub const INDEX_MISSING: Self = Self::warning("stream::index-missing");
    pub const INDEX_REUSED: Self = Self::warning("stream::index-reused");
    pub const CALL_REPEATED: Self = Self::warning("stream::call-repeated");
    pub const ID_CHANGED: Self = Self::warning("stream::id-changed");
    pub const ID_SYNTHESISED: Self = Self::warning("stream::id-synthesised");
    pub const NAME_REPEATED: Self = Self::warning("stream::name-repeated");
    pub const NAME_FRAGMENT: Self = Self::warning("stream::name-fragment");
    pub const NAME_CHANGED: Self = Self::warning("stream::name-changed");
    pub const EMPTY_OBJECT_PREFIX: Self = Self::warning("stream::empty-object-prefix");
    pub const ARGUMENTS_OBJECT: Self = Self::warning("stream::arguments-object");
    pub const ARGUMENTS_EMPTY: Self = Self::info("stream::arguments-empty");
    pub const ARGUMENTS_INCOMPLETE: Self = Self::warning("stream::arguments-incomplete");
    pub const ARGUMENTS_CONCATENATED: Self = Self::warning("stream::arguments-concatenated");
    pub const ARGUMENTS_INVALID: Self = Self::warning("stream::arguments-invalid");
    pub const ARGUMENTS_NOT_OBJECT: Self = Self::warning("stream::arguments-not-object");
    pub const FINISH_DUPLICATE: Self = Self::info("stream::finish-duplicate");
    pub const FINISH_CONFLICT: Self = Self::warning("stream::finish-conflict");
    pub const FINISH_PROMOTED: Self = Self::warning("stream::finish-promoted");
    pub const FINISH_DEMOTED: Self = Self::warning("stream::finish-demoted");
    pub const INTERLEAVED: Self = Self::warning("stream::interleaved");
    pub const DATA_AFTER_FINISH: Self = Self::warning("stream::data-after-finish");
    pub const WRONG_TYPE: Self = Self::warning("stream::wrong-type");
    pub const LEFT_OUT: Self = Self::warning("stream::left-out");
    pub const DATA_AFTER_END: Self = Self::warning("stream::data-after-end");
    pub const PROVIDER_ERROR: Self = Self::error("stream::provider-error");
    pub const MISSING_EVENTS: Self = Self::warning("stream::missing-events");
    pub const TRUNCATED: Self = Self::error("stream::truncated");
    pub const DONE_DIFFERS: Self = Self::warning("stream::done-differs");
    pub const LONE_SURROGATE: Self = Self::warning("stream::lone-surrogate");
    pub const LIMIT: Self = Self::error("stream::limit");
    pub const USAGE: Self = Self::warning("convert::usage-inconsistent");

    /// A problem that lost part of the provider's data.
    #[must_use]
    pub const fn error(code: &'static str) -> Self {
        Self { code, severity: Severity::Error }
    }

    /// A problem that was handled.
    #[must_use]
    pub const fn warning(code: &'static str) -> Self {
        Self { code, severity: Severity::Warning }
    }

    /// Something worth knowing.
    #[must_use]
    pub const fn info(code: &'static str) -> Self {
        Self { code, severity: Severity::Info }
    }
}

/// The findings of one stream, in order of first occurrence.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    found: Vec<(Note, u64, String)>,
    /// Whether further findings are ignored.
    closed: bool,
}

impl Notes {
    /// Adds a finding about a member, or adds the name to an existing finding of its kind. As cheap as [`Notes::add`]
    /// for a repeated name.
    fn add_member(
        &mut self,
        note: Note,
        (name, at): (&str, u64),
        message: impl FnOnce() -> String,
    ) {
        const MOST: usize = 400;
        const SO_WERE: &str = "; so were ";
        match self.found.iter_mut().find(|(it, ..)| *it == note) {
            Some((.., said)) if !self.closed && said.len() < MOST => {
                let quoted = format!("`{name}`");
                if !said.contains(&*quoted) {
                    said.push_str(if said.contains(SO_WERE) { ", " } else { SO_WERE });
                    said.push_str(&quoted);
                }
            }
            Some(_) => {}
            None => self.add(note, at, message),
        }
    }

    /// Adds a finding at a byte offset, unless there is one of its kind. O(1), because there are a few dozen kinds;
    /// allocates only the first time.
    pub fn add(&mut self, note: Note, at: u64, message: impl FnOnce() -> String) {
        if !self.closed && !self.found.iter().any(|(it, ..)| *it == note) {
            self.found.push((note, at, message()));
        }
    }

    /// Ignores further findings.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether there is a finding of this kind.
    pub(super) fn has(&self, note: Note) -> bool {
        self.found.iter().any(|it| it.0 == note)
    }

    /// Whether an event was dropped.
    pub(super) fn has_dropped(&self) -> bool {
        self.has(Note::EVENT_TOO_LARGE) || self.has(BAD_FRAME)
    }

    /// Moves findings after `end` to it. In text that is not UTF-8, offsets count the replacement characters, which may
    /// be more bytes than the source.
    pub fn cap(&mut self, end: u64) {
        for (_, at, _) in &mut self.found {
            *at = end.min(*at);
        }
    }

    /// Adds the findings of another list that are new here.
    pub fn merge(&mut self, other: &Notes) {
        for (note, at, message) in &other.found {
            self.add(*note, *at, || message.clone());
        }
    }

    /// The findings as diagnostics, by byte offset.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found: Vec<_> = self.found.iter().collect();
        msg_core::sort_by_rank(&mut found, |(_, at, _)| *at);
        found.into_iter().map(|(note, at, message)| diagnostic(*note, *at, message)).collect()
    }
}

fn diagnostic(note: Note, at: u64, message: &str) -> Diagnostic {
    let offset = usize::try_from(at).unwrap_or(usize::MAX);
    Diagnostic::new(note.severity, Code::new(note.code), message.to_owned()).at_span(offset..offset)
}

// The environment of an assembler step: the caller's limits, and the receivers of events and findings.

/// The receiver of events.
pub type Sink<'a> = dyn FnMut(StreamEvent<'_>) + 'a;

/// The environment of an assembler step.
pub struct AssemblerStep<'a, 's> {
    /// The memory limits.
    pub limits: &'a StreamLimits,
    /// The bytes of text that the stream may still add.
    pub left: &'a mut usize,
    /// The receiver of findings.
    pub notes: &'a mut Notes,
    /// Offset of the current event.
    pub at: u64,
    /// The current choice.
    pub choice: u32,
    /// The number of gaps so far.
    pub holes: u32,
    /// The receiver of events.
    pub sink: &'a mut Sink<'s>,
}

impl AssemblerStep<'_, '_> {
    /// Adds a finding at the current event.
    pub fn note(&mut self, note: Note, message: impl FnOnce() -> String) {
        self.notes.add(note, self.at, message);
    }

    /// The non-empty text of a member: of a string, or the JSON of another value, which is noted (MS-29).
    pub fn said<'j>(&mut self, name: &str, value: Json<'j>) -> Option<Said<'j>> {
        if value.is_null() || value.is_string() {
            return value.filled().map(Said::Text);
        }
        self.wrong_type(name, "a string", value);
        let text = argument_text(&value.compact());
        Some(Said::Json(to_text(|it| it.str(&text))))
    }

    /// A text block as JSON, for a string in place of a block (MS-29); `None` for other values.
    pub fn text_as_block(&mut self, member: &str, raw: Json<'_>) -> Option<String> {
        raw.filled()?;
        self.wrong_type(member, "an object", raw);
        Some(msg_json::to_text(|it| {
            it.object(|it| {
                it.key("type").str("text");
                it.key("text").raw(raw.source());
            });
        }))
    }

    /// Notes a value of the wrong type, unless it is null.
    pub fn wrong_type(&mut self, name: &str, expected: &str, value: Json<'_>) {
        if !value.is_null() {
            let text = || format!("{name} must be {expected}, found `{}`", value.shortened());
            self.note(Note::WRONG_TYPE, text);
        }
    }

    /// [`AssemblerStep::wrong_type`] for a value that is dropped.
    pub fn left_out(&mut self, name: &str, expected: &str, value: Json<'_>) {
        if !value.is_null() {
            let text =
                || format!("{name} must be {expected}, `{}` was left out", value.shortened());
            self.note(Note::LEFT_OUT, text);
        }
    }

    /// Notes an unknown member without a place in the message, unless it is null.
    pub fn unknown_member(&mut self, name: &str, value: Json<'_>) {
        if !value.is_null() {
            let text = || format!("unknown member `{name}`, `{}` was left out", value.shortened());
            self.notes.add_member(Note::LEFT_OUT, (name, self.at), text);
        }
    }

    /// Notes the members of an object that are not in `known`.
    pub fn unknown_members(&mut self, object: Json<'_>, known: &[&str]) {
        for (name, value) in object.members().filter(|it| !known.contains(&&*it.0)) {
            self.unknown_member(&name, value);
        }
    }

    /// The limits for a text of the message.
    pub fn text_gauge(&mut self) -> Gauge<'_> {
        Gauge { left: self.left, most: usize::MAX, notes: self.notes, at: self.at }
    }

    /// The limits for a call's arguments.
    pub fn argument_gauge(&mut self) -> Gauge<'_> {
        let most = self.limits.max_argument_bytes;
        Gauge { left: self.left, most, notes: self.notes, at: self.at }
    }
}

/// The text of a value.
#[derive(Debug, Clone)]
pub enum Said<'j> {
    /// A string.
    Text(Str<'j>),
    /// The JSON text of another value, as a JSON string.
    Json(String),
}

impl Said<'_> {
    /// The text as a JSON string.
    #[must_use]
    pub fn text(&self) -> Str<'_> {
        match self {
            Self::Text(text) => *text,
            Self::Json(json) => Json(json).string().unwrap_or(Str::plain("")),
        }
    }
}

/// The remaining room for text, and the receiver of findings.
#[derive(Debug)]
pub struct Gauge<'a> {
    /// The bytes that the stream may still add.
    pub left: &'a mut usize,
    /// The maximum bytes of the current channel.
    pub most: usize,
    /// The receiver of findings.
    pub notes: &'a mut Notes,
    /// Offset of the current event.
    pub at: u64,
}

impl Gauge<'_> {
    /// Reserves room for text stored elsewhere; returns false if there is not enough.
    pub fn take(&mut self, bytes: usize) -> bool {
        let fits = bytes <= *self.left;
        if fits {
            *self.left -= bytes;
        } else {
            self.limit();
        }
        fits
    }

    /// Reports that something was dropped.
    pub fn limit(&mut self) {
        self.notes.add(Note::LIMIT, self.at, || {
            "the stream went over a limit; the rest of what grew too large was dropped".into()
        });
    }
}
