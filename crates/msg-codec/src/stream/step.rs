//! What every step of an assembler needs besides its own state: the caller's limits, and where events and
//! findings go.

use msg_core::StreamEvent;
use msg_json::to_text;

use super::limits::StreamLimits;
use super::notes::{Note, Notes};
use crate::codec::argument_text;
use crate::{Json, Str};

/// Where events go.
pub type Sink<'a> = dyn FnMut(StreamEvent<'_>) + 'a;

/// What every step of an assembler needs besides its own state.
pub struct Step<'a, 's> {
    /// What may be held in memory.
    pub limits: &'a StreamLimits,
    /// Bytes of text that the stream may still add.
    pub left: &'a mut usize,
    /// Where findings go.
    pub notes: &'a mut Notes,
    /// Offset of the event at hand.
    pub at: u64,
    /// The choice that is at hand.
    pub choice: u32,
    /// Where events go.
    pub sink: &'a mut Sink<'s>,
}

impl Step<'_, '_> {
    /// Notes a finding at the event at hand.
    pub fn note(&mut self, note: Note, message: impl FnOnce() -> String) {
        self.notes.add(note, self.at, message);
    }

    /// The text of a member of this name, unless it is empty: of a string, or the JSON text of any other value, which
    /// is noted (MS-29).
    pub fn said<'j>(&mut self, name: &str, value: Json<'j>) -> Option<Said<'j>> {
        if value.is_null() || value.is_string() {
            return value.filled().map(Said::Text);
        }
        self.wrong_type(name, "a string", value);
        let text = argument_text(&value.compact());
        Some(Said::Json(to_text(|it| it.str(&text))))
    }

    /// Notes a value that is not what its member holds, unless it is null.
    pub fn wrong_type(&mut self, name: &str, expected: &str, value: Json<'_>) {
        if !value.is_null() {
            let text = || format!("{name} must be {expected}, found `{}`", value.shortened());
            self.note(Note::WRONG_TYPE, text);
        }
    }

    /// As [`Step::wrong_type`], of a value that is not read.
    pub fn left_out(&mut self, name: &str, expected: &str, value: Json<'_>) {
        if !value.is_null() {
            let text =
                || format!("{name} must be {expected}, `{}` was left out", value.shortened());
            self.note(Note::LEFT_OUT, text);
        }
    }

    /// The bounds of a text of the message.
    pub fn text_gauge(&mut self) -> Gauge<'_> {
        Gauge { left: self.left, most: usize::MAX, notes: self.notes, at: self.at }
    }

    /// The bounds of a call's arguments.
    pub fn argument_gauge(&mut self) -> Gauge<'_> {
        let most = self.limits.max_argument_bytes;
        Gauge { left: self.left, most, notes: self.notes, at: self.at }
    }
}

/// A text that was said.
#[derive(Debug, Clone)]
pub enum Said<'j> {
    /// A string.
    Text(Str<'j>),
    /// The JSON text of another value, as a JSON string.
    Json(String),
}

impl Said<'_> {
    /// The text.
    #[must_use]
    pub fn text(&self) -> Str<'_> {
        match self {
            Self::Text(text) => *text,
            Self::Json(json) => Json(json).string().unwrap_or(Str::plain("")),
        }
    }
}

/// How much text may still be held, and where findings go.
#[derive(Debug)]
pub struct Gauge<'a> {
    /// Bytes that may still be added to the stream.
    pub left: &'a mut usize,
    /// Bytes that the channel at hand may hold.
    pub most: usize,
    /// Where findings go.
    pub notes: &'a mut Notes,
    /// Offset of the event at hand.
    pub at: u64,
}

impl Gauge<'_> {
    /// Takes room for text that is kept elsewhere; false if there is none left.
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
