//! Whose stream it is (OA-17): the first event that tells chooses the assembler among the families
//! that the caller registered. Events that tell nothing wait, in bounded memory.

use super::assembled::Assembled;
use super::assembler::{Assembler, Family, Sink};
use super::finish::StreamState;
use super::head::{Data, Head};
use super::notes::{Note, Notes};
use super::options::StreamOptions;
use super::sse::SseEvent;
use crate::Json;
use crate::json::read_members;

/// The assembler of a stream, once it is known whose stream it is.
#[derive(Debug, Clone)]
pub(super) enum Recognition {
    Undecided(Waiting),
    Decided(Box<dyn Assembler>),
}

/// Events that came before one that tells the family.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    families: Vec<&'static dyn Family>,
    options: StreamOptions,
    events: Vec<Held>,
    bytes: usize,
    notes: Notes,
}

#[derive(Debug, Clone)]
struct Held {
    name: Option<String>,
    data: String,
    at: u64,
    is_document: bool,
}

impl Recognition {
    /// The only family takes every event; among several the first event that tells decides.
    pub(super) fn new(families: &[&'static dyn Family], options: StreamOptions) -> Self {
        let waiting = Waiting {
            families: families.to_vec(),
            options,
            events: Vec::new(),
            bytes: 0,
            notes: Notes::default(),
        };
        let mut res = Self::Undecided(waiting);
        if let [only] = families {
            res.decide(Some(*only), &mut |_| {});
        }
        res
    }

    /// Takes an event that began at byte `at`.
    pub(super) fn event(&mut self, event: SseEvent<'_>, at: u64, sink: &mut Sink<'_>) {
        match self {
            Self::Decided(it) => {
                it.locate(at);
                it.event(event, sink);
            }
            Self::Undecided(waiting) => match Data::of(&event.data, at, &mut waiting.notes) {
                Data::Noise => {}
                Data::Done => {
                    self.settle(sink);
                    self.event(event, at, sink);
                }
                Data::Json => {
                    if self.recognise(event.event, &event.data, at, false, sink) {
                        self.event(event, at, sink);
                    }
                }
            },
        }
    }

    /// Takes a body, or a line of it, that is a document of its own.
    pub(super) fn document(&mut self, text: &str, at: u64, sink: &mut Sink<'_>) {
        match self {
            Self::Decided(it) => {
                it.locate(at);
                it.document(text, sink);
            }
            Self::Undecided(_) => {
                if self.recognise(None, text, at, true, sink) {
                    self.document(text, at, sink);
                }
            }
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        match self {
            Self::Decided(it) => it.is_finished(),
            Self::Undecided(_) => false,
        }
    }

    /// Adds findings of the layers below.
    pub(super) fn note(&mut self, add: impl FnOnce(&mut Notes)) {
        add(match self {
            Self::Decided(it) => &mut it.head().notes,
            Self::Undecided(waiting) => &mut waiting.notes,
        });
    }

    /// Ends the stream, whose last byte was before `at`.
    pub(super) fn close(mut self, state: StreamState, at: u64, sink: &mut Sink<'_>) -> Assembled {
        self.settle(sink);
        let mut it = match self {
            Self::Decided(it) => it,
            // `settle` leaves nothing undecided.
            Self::Undecided(waiting) => Refused::boxed(&waiting.options),
        };
        // What is found at the end of a stream that said where it ends is found there, not where the
        // bytes happened to stop.
        if !it.is_finished() {
            it.locate(at);
        }
        let head = it.head();
        let end = head.at;
        head.notes.cap(end);
        it.close(state, sink)
    }

    /// Decides by an event, or lets it wait; true if it is still to be taken.
    fn recognise(
        &mut self,
        name: Option<&str>,
        data: &str,
        at: u64,
        is_document: bool,
        sink: &mut Sink<'_>,
    ) -> bool {
        let Self::Undecided(waiting) = self else {
            return true;
        };
        if let Err(error) = read_members(data, |_, _| {}) {
            waiting.notes.add(Note::BAD_JSON, at + error.offset as u64, || {
                format!("an event is not a JSON object and was skipped: {}", error.problem)
            });
            return false;
        }
        let object = Json(data.trim_ascii());
        if let Some(family) = waiting.families.iter().copied().find(|it| it.recognises(object)) {
            self.decide(Some(family), sink);
            return true;
        }
        if waiting.hold(Held {
            name: name.map(str::to_owned),
            data: data.to_owned(),
            at,
            is_document,
        }) {
            return false;
        }
        self.settle(sink);
        true
    }

    /// Decides without an event that tells: the last family takes what waits.
    fn settle(&mut self, sink: &mut Sink<'_>) {
        if let Self::Undecided(waiting) = self {
            let last = waiting.families.last().copied();
            self.decide(last, sink);
        }
    }

    fn decide(&mut self, family: Option<&'static dyn Family>, sink: &mut Sink<'_>) {
        let Self::Undecided(waiting) = self else {
            return;
        };
        let mut assembler = family
            .and_then(|it| it.assembler(&waiting.options))
            .unwrap_or_else(|| Refused::boxed(&waiting.options));
        assembler.head().notes.merge(&waiting.notes);
        let events = std::mem::take(&mut waiting.events);
        *self = Self::Decided(assembler);
        for it in events {
            if it.is_document {
                self.document(&it.data, it.at, sink);
            } else {
                let event = SseEvent { event: it.name.as_deref(), data: it.data.into() };
                self.event(event, it.at, sink);
            }
        }
    }
}

impl Waiting {
    /// Keeps an event; false if there is no more room.
    fn hold(&mut self, event: Held) -> bool {
        self.bytes += event.data.len() + size_of::<Held>();
        let fits = self.bytes <= self.options.limits.max_body_bytes;
        if fits {
            self.events.push(event);
        }
        fits
    }
}

/// Stands in for a family that is not read: takes nothing, and says so.
#[derive(Debug, Clone)]
struct Refused {
    head: Head,
}

impl Refused {
    fn boxed(options: &StreamOptions) -> Box<dyn Assembler> {
        Box::new(Self { head: Head::new(options) })
    }
}

impl Assembler for Refused {
    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn event(&mut self, _: SseEvent<'_>, _: &mut Sink<'_>) {}

    fn is_finished(&self) -> bool {
        false
    }

    fn close(self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        self.head.assemble(Vec::new(), false, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
