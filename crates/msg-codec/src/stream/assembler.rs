//! What a wire format brings along so that its streams are read: how its events are recognised, and
//! how they become a message. It names no format; crates above register theirs with a reader.

use std::fmt;

use super::head::{Data, Head};
use super::step::Sink;
use super::{Assembled, SseEvent, StreamOptions, StreamState};
use crate::Json;

/// A family of streams: what one wire format sends.
///
/// [`StreamReader`](crate::StreamReader) is given a list of them and asks each, in the order of the
/// list, whether an event is one of its own (OA-17). The last one of the list also takes what none of
/// them recognised.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The word by which a caller names it, such as `anthropic`.
    pub name: &'static str,
    /// Whether this event, or this whole body, is of this family. It is a JSON object.
    pub recognises: fn(Json<'_>) -> bool,
    /// Makes an assembler at the start of a stream; none for a family that is recognised only in order
    /// to be refused by its name.
    pub assembler: Option<MakeAssembler>,
}

type MakeAssembler = fn(&StreamOptions) -> Box<dyn Assembler>;

/// Makes a message of the events of one family's stream.
///
/// Whatever the events hold, the result is well formed; what was wrong is in its diagnostics.
pub trait Assembler: fmt::Debug + Send + Sync {
    /// The state that every assembler has.
    fn head(&self) -> &Head;

    /// The same, to change.
    fn head_mut(&mut self) -> &mut Head;

    /// Takes the data of an event, which should be a JSON object, and the event's name.
    fn take(&mut self, data: &str, name: Option<&str>, sink: &mut Sink<'_>);

    /// Takes the next event; what it adds goes to `sink`, borrowed where possible.
    fn event(&mut self, event: SseEvent<'_>, sink: &mut Sink<'_>) {
        let head = self.head_mut();
        head.at = event.at;
        if head.stopped {
            return;
        }
        match Data::of(&event.data, head.at, &mut head.notes) {
            Data::Noise => {}
            Data::Done => head.stopped = true,
            Data::Json => self.take(&event.data, event.event, sink),
        }
    }

    /// Takes a body, or a line or element of it, that is a document of its own (OA-17).
    fn document(&mut self, text: &str, sink: &mut Sink<'_>) {
        self.event(SseEvent { at: self.head().at, ..text.into() }, sink);
    }

    /// Whether the stream has said that it is over: what follows is ignored.
    fn is_finished(&self) -> bool {
        self.head().stopped
    }

    /// Whether an event that comes after the end of the stream begins another response. It is a JSON
    /// object.
    fn begins_another(&self, _event: Json<'_>) -> bool {
        false
    }

    /// Whether an event that comes after the end of the stream says something of the answer, and is not one of
    /// those that only tell of the stream. It is a JSON object.
    fn says_something(&self, event: Json<'_>) -> bool {
        let says = |name: &str| {
            event.get(name).is_some_and(|it| {
                it.is_object() || it.elements().next().is_some() || it.filled().is_some()
            })
        };
        ["choices", "delta", "content_block", "message", "candidates", "item", "part", "response"]
            .iter()
            .any(|it| says(it))
    }

    /// Gives the result; calls that may not be whole are incomplete. Usage and finish reasons go to
    /// `sink`, last.
    fn close(self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled;

    /// A copy, for a snapshot.
    fn boxed_clone(&self) -> Box<dyn Assembler>;

    /// Says at which byte of the stream the next event begins, for the diagnostics.
    fn locate(&mut self, offset: u64) {
        self.head_mut().at = offset;
    }

    /// What was assembled so far, as [`StreamState::Open`]. Copies the texts: O(size).
    fn snapshot(&self) -> Assembled {
        self.boxed_clone().close(StreamState::Open, &mut |_| {})
    }

    /// Ends the stream; calls, usage and finish reasons go to `sink`.
    fn finish(self, sink: &mut Sink<'_>) -> Assembled
    where
        Self: Sized,
    {
        Box::new(self).close(StreamState::Ended, sink)
    }

    /// Stops a stream that goes on; calls that may not be whole are incomplete.
    fn interrupt(self, sink: &mut Sink<'_>) -> Assembled
    where
        Self: Sized,
    {
        Box::new(self).close(StreamState::Interrupted, sink)
    }
}

impl Clone for Box<dyn Assembler> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}
