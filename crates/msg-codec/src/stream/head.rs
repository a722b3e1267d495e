//! What all assemblers know of a stream besides its messages: who answers, what it cost, what went
//! wrong, and how to tell an event from noise (OA-16, OA-21).

use std::borrow::Cow;

use msg_core::{FinishReason, RawJson, StreamEvent, Usage};
use msg_json::{JsonError, Reader};

use super::close::Closing;
use super::finish::{Ending, StreamState};
use super::limits::StreamLimits;
use super::notes::{Note, Notes};
use super::options::StreamOptions;
use super::provider_error::ProviderError;
use super::step::Sink;
use super::step::Step;
use crate::json::{Json, put, read_members};

/// The part of a stream's state that is the same for every provider.
#[derive(Debug, Clone)]
pub struct Head {
    /// What may be held in memory.
    pub limits: StreamLimits,
    /// Whether a call of several objects becomes several calls.
    pub split: bool,
    left: usize,
    /// What was found.
    pub notes: Notes,
    /// Offset of the event at hand.
    pub at: u64,
    /// The id of the response.
    pub id: Option<String>,
    /// The model that answers.
    pub model: Option<String>,
    /// When it was made, in seconds since 1970.
    pub created: Option<f64>,
    /// The provider's first error.
    pub error: Option<ProviderError>,
    /// Why the response ended without any choice, where the provider says so (GE-16).
    pub finish: Option<FinishReason>,
    /// The last usage object; empty if there was none.
    pub usage: String,
    /// `[DONE]`, or the family's own last event: what follows is ignored.
    pub stopped: bool,
}

/// What the data of an event is.
pub(super) enum Data {
    /// Nothing that counts.
    Noise,
    /// `[DONE]`
    Done,
    /// Something that should be a JSON object.
    Json,
}

impl Data {
    /// Tells noise and the end from data.
    pub(super) fn of(data: &str, at: u64, notes: &mut Notes) -> Self {
        match data.trim_ascii() {
            "" => Self::Noise,
            "[DONE]" => Self::Done,
            text if text.starts_with(':') => {
                notes.add(Note::COMMENT_IN_DATA, at, || "a comment came as data".into());
                Self::Noise
            }
            _ => Self::Json,
        }
    }
}

impl Head {
    /// The head of a stream that begins.
    pub fn new(options: &StreamOptions) -> Self {
        Self {
            limits: options.limits,
            split: options.split_concatenated,
            left: options.limits.max_text_bytes,
            notes: Notes::default(),
            at: 0,
            id: None,
            model: None,
            created: None,
            error: None,
            finish: None,
            usage: String::new(),
            stopped: false,
        }
    }

    /// What a step of an assembler needs, for this choice.
    pub fn step<'a, 's>(&'a mut self, choice: u32, sink: &'a mut Sink<'s>) -> Step<'a, 's> {
        Step {
            limits: &self.limits,
            left: &mut self.left,
            notes: &mut self.notes,
            at: self.at,
            choice,
            sink,
        }
    }

    /// Notes a finding at the event at hand.
    pub fn note(&mut self, note: Note, message: impl FnOnce() -> String) {
        self.notes.add(note, self.at, message);
    }

    /// The members of an event, which count only if it is a JSON object: else false.
    pub fn object<'a>(&mut self, data: &'a str, mut member: impl FnMut(&str, Json<'a>)) -> bool {
        self.read(data, |key, reader| reader.raw().map(|it| member(key, Json(it))))
    }

    /// The last member of each of these names of an event, which must be a JSON object: else none.
    pub fn pick<'a, const N: usize>(
        &mut self,
        data: &'a str,
        names: [&str; N],
    ) -> Option<[Option<Json<'a>>; N]> {
        let mut res = [None; N];
        let is_object = self.object(data, |key, value| put(&mut res, names, key, value));
        is_object.then_some(res)
    }

    /// As [`Head::object`], for a family that reads inner objects in the same pass: it gets the reader before the
    /// value of a member, which it must then read.
    pub fn read<'a>(
        &mut self,
        data: &'a str,
        member: impl FnMut(&str, &mut Reader<'a>) -> Result<(), JsonError>,
    ) -> bool {
        let Err(error) = read_members(data, member) else { return true };
        let at = self.at + error.offset as u64;
        self.notes.add(Note::BAD_JSON, at, || {
            format!("an event is not a JSON object and was skipped: {}", error.problem)
        });
        false
    }

    /// Keeps the first of each that is not empty (OA-21).
    pub fn identify(
        &mut self,
        id: Option<Json<'_>>,
        model: Option<Json<'_>>,
        created: Option<Json<'_>>,
    ) {
        if self.id.is_none() {
            self.id = id.and_then(Json::text).map(Cow::into_owned);
        }
        if self.model.is_none() {
            self.model = model.and_then(Json::text).map(Cow::into_owned);
        }
        if self.created.is_none() {
            self.created = created.and_then(Json::number).filter(|it| *it != 0.0);
        }
    }

    /// The last usage object wins (OA-21); false if it is none.
    pub fn set_usage(&mut self, usage: Option<Json<'_>>) -> bool {
        let Some(usage) = usage.filter(|it| it.is_object()) else {
            return false;
        };
        self.usage.clear();
        self.usage.push_str(usage.source());
        true
    }

    /// Whether all of an answer came; `early` says how a stream whose bytes are over stopped before its answer
    /// was, `without a stop reason`. Unless it told of an error, such a stream is truncated.
    pub fn ending(&mut self, state: StreamState, early: Option<&str>) -> Ending {
        if state != StreamState::Ended || self.error.is_some() {
            return Ending::Cut;
        }
        let Some(early) = early else { return Ending::Whole };
        self.note(Note::TRUNCATED, || format!("the stream stopped {early}"));
        Ending::Cut
    }

    /// How the calls of a choice end that stopped for this reason.
    pub fn closing(&self, ending: Ending, reason: Option<&FinishReason>) -> Closing {
        let cut = ending == Ending::Cut || reason.is_some_and(FinishReason::is_cut);
        Closing { cut, split: self.split }
    }

    /// Reports a provider's error; the first is the stream's.
    pub fn fail(&mut self, error: ProviderError, sink: &mut Sink<'_>) {
        let message = &error.message;
        sink(StreamEvent::Error { choice: 0, message: Cow::Borrowed(message) });
        self.notes.add(Note::PROVIDER_ERROR, self.at, || format!("the provider said: {message}"));
        self.error.get_or_insert(error);
    }

    /// The last usage, on one line.
    pub fn final_usage(&self) -> Option<Usage> {
        let usage = Json(&self.usage);
        let compact = usage.is_object().then(|| usage.compact())?;
        RawJson::new(compact).ok().map(Usage::from_raw)
    }
}
