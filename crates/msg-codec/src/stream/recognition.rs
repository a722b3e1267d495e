//! Recognises the family of a stream (OA-17): the first specific event selects the assembler among
//! the families that the caller registered. Events before it wait, in bounded memory.

use super::assembler::{Assembled, Assembler, StreamFamily};
use super::close::{Ending, StreamState};
use super::head::{Data, Head, ProviderError};
use super::merged::{Note, Notes, Sink};
use super::reader::StreamOptions;
use super::sse::SseEvent;
use crate::json::{Json, check_object};

/// The assembler of a stream, once its family is known.
#[derive(Debug, Clone)]
pub(crate) enum Recognition {
    Undecided(Waiting),
    Decided(Decided),
}

/// An assembler, and what came after the end of its stream.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    assembler: Box<dyn Assembler>,
    /// The other families.
    others: Vec<StreamFamily>,
    /// The offset of another response.
    another_at: Option<u64>,
    /// The offset of ignored data.
    unread_at: Option<u64>,
}

/// Events before the one that determines the family.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    families: Vec<StreamFamily>,
    options: StreamOptions,
    events: Vec<Held>,
    bytes: usize,
    /// The offset of the event that determined the family.
    recognised_at: u64,
    notes: Notes,
}

/// A waiting event.
#[derive(Debug, Clone)]
struct Held {
    name: Option<String>,
    data: String,
    at: u64,
    form: Form,
}

/// The source of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In an event stream.
    Event,
    /// A body, or a line or element of one, that is a document of its own.
    Document,
}

impl Recognition {
    /// A single family gets every event; among several, the first recognised event decides.
    pub(crate) fn new(families: &[StreamFamily], options: StreamOptions) -> Self {
        let waiting = Waiting {
            families: families.to_vec(),
            options,
            events: Vec::new(),
            bytes: 0,
            recognised_at: 0,
            notes: Notes::default(),
        };
        let mut res = Self::Undecided(waiting);
        if let [only] = families {
            res.decide(Some(*only), &mut |_| {});
        }
        res
    }

    /// The head of the stream, once its family is known.
    pub(crate) fn head(&self) -> Option<&Head> {
        match self {
            Self::Undecided(_) => None,
            Self::Decided(it) => Some(it.assembler.head()),
        }
    }

    /// Handles an event.
    pub(crate) fn take(&mut self, event: SseEvent<'_>, form: Form, sink: &mut Sink<'_>) {
        if let Self::Decided(it) = self {
            it.assembler.head_mut().hear(&event.data);
        }
        match self {
            Self::Decided(it) if it.assembler.is_finished() => it.note_next(&event.data, event.at),
            Self::Decided(it) if form == Form::Event => it.assembler.event(event, sink),
            Self::Decided(it) => {
                it.assembler.locate(event.at);
                it.assembler.document(&event.data, sink);
            }
            Self::Undecided(waiting) => match waiting.data_of(&event, form) {
                Data::Noise => {}
                Data::Done => {
                    self.decide_without_event(sink);
                    self.take(event, form, sink);
                }
                Data::Json => {
                    if self.recognise(&event, form, sink) {
                        self.take(event, form, sink);
                    }
                }
            },
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Self::Decided(it) => it.assembler.is_finished(),
            Self::Undecided(_) => false,
        }
    }

    /// Adds findings of the layers below.
    pub(crate) fn note(&mut self, add: impl FnOnce(&mut Notes)) {
        add(match self {
            Self::Decided(it) => &mut it.assembler.head_mut().notes,
            Self::Undecided(waiting) => &mut waiting.notes,
        });
    }

    /// Ends the stream, whose last byte was before `at`.
    pub(crate) fn close(mut self, state: StreamState, at: u64, sink: &mut Sink<'_>) -> Assembled {
        self.decide_without_event(sink);
        let (mut it, another_at, unread_at) = match self {
            Self::Decided(it) => (it.assembler, it.another_at, it.unread_at),
            // Nothing is undecided at this point.
            Self::Undecided(waiting) => (Refused::boxed(&waiting.options), None, None),
        };
        // Findings at the end of a stream that stated its end belong there, not to the last byte.
        if !it.is_finished() {
            it.locate(at);
        }
        let head = it.head_mut();
        let end = head.at;
        head.notes.cap(end);
        head.ids.is_torn = head.notes.has_dropped();
        if let Some(at) = another_at {
            head.notes.add(Note::SEVERAL_RESPONSES, at, || {
                "another response begins after the end of this one and is not read".into()
            });
        }
        if let Some(at) = unread_at.filter(|_| another_at.is_none()) {
            head.notes.add(Note::DATA_AFTER_END, at, || {
                "data came after the end of the stream and is not read".into()
            });
        }
        it.close(state, sink)
    }

    /// Decides by an event, or stores it; returns true if the event must still be handled.
    fn recognise(&mut self, event: &SseEvent<'_>, form: Form, sink: &mut Sink<'_>) -> bool {
        let Self::Undecided(waiting) = self else {
            return true;
        };
        if let Err(error) = check_object(&event.data) {
            waiting.notes.add(Note::BAD_JSON, event.at + error.offset as u64, || {
                format!("an event is not a JSON object and was skipped: {}", error.problem)
            });
            return false;
        }
        let object = Json(event.data.trim_ascii());
        if let Some(family) = waiting.families.iter().copied().find(|it| (it.recognises)(object)) {
            waiting.recognised_at = event.at;
            self.decide(Some(family), sink);
            return true;
        }
        let is_held = waiting.hold(event, form);
        if !is_held {
            self.decide_without_event(sink);
        }
        !is_held
    }

    /// Decides without a recognised event: the last family gets the stored events if they contain an error or are
    /// empty; anything else belongs to no supported family.
    fn decide_without_event(&mut self, sink: &mut Sink<'_>) {
        let Self::Undecided(waiting) = self else {
            return;
        };
        let is_error = |it: &Held| ProviderError::looks_like_one(Json(it.data.trim_ascii()));
        if waiting.events.is_empty() || waiting.events.iter().any(is_error) {
            let last = waiting.families.last().copied();
            return self.decide(last, sink);
        }
        let at = waiting.events[0].at;
        let known = waiting.read_names();
        waiting.notes.add(Note::FOREIGN_FORMAT, at, || {
            format!("no event of the stream is of a format that is read, which are {known}")
        });
        waiting.events.clear();
        self.decide(None, sink);
    }

    fn decide(&mut self, family: Option<StreamFamily>, sink: &mut Sink<'_>) {
        let Self::Undecided(waiting) = self else {
            return;
        };
        let assembler = family.and_then(|it| it.assembler).map(|new| new(&waiting.options));
        if let (Some(family), None) = (family, &assembler) {
            waiting.refuse(family);
        }
        let mut assembler = assembler.unwrap_or_else(|| Refused::boxed(&waiting.options));
        assembler.head_mut().notes.merge(&waiting.notes);
        let events = std::mem::take(&mut waiting.events);
        let mut others = std::mem::take(&mut waiting.families);
        others.retain(|it| family.is_none_or(|own| own.name != it.name));
        *self = Self::Decided(Decided { assembler, others, another_at: None, unread_at: None });
        for it in events {
            let (event, data) = (it.name.as_deref(), it.data.into());
            self.take(SseEvent { event, data, at: it.at }, it.form, sink);
        }
    }
}

impl Decided {
    /// For an event after the end, only checks whether it begins another response.
    fn note_next(&mut self, data: &str, at: u64) {
        let head = self.assembler.head_mut();
        if !matches!(Data::of(data, at, &mut head.notes), Data::Json) {
            return;
        }
        let data = data.trim_ascii();
        if check_object(data).is_err() {
            self.unread_at.get_or_insert(at);
            return;
        }
        let is_another = |it: &Self| {
            let is_of_another = || it.others.iter().any(|family| (family.recognises)(Json(data)));
            it.assembler.begins_another(Json(data)) || is_of_another()
        };
        if self.another_at.is_none() && is_another(self) {
            self.another_at = Some(at);
        } else if self.assembler.says_something(Json(data)) {
            self.unread_at.get_or_insert(at);
        }
    }
}

impl Waiting {
    /// The kind of an event's data; documents are never noise.
    fn data_of(&mut self, event: &SseEvent<'_>, form: Form) -> Data {
        match form {
            Form::Event => Data::of(&event.data, event.at, &mut self.notes),
            Form::Document => Data::Json,
        }
    }

    /// Stores an event; returns false without room.
    fn hold(&mut self, event: &SseEvent<'_>, form: Form) -> bool {
        self.bytes += event.data.len() + size_of::<Held>();
        let fits = self.bytes <= self.options.limits.max_body_bytes;
        if fits {
            let (name, data) = (event.event.map(str::to_owned), event.data.clone().into_owned());
            self.events.push(Held { name, data, at: event.at, form });
        }
        fits
    }

    /// Reports that the stream belongs to an unsupported family.
    fn refuse(&mut self, family: StreamFamily) {
        let (name, known) = (family.name, self.read_names());
        self.notes.add(Note::FOREIGN_FORMAT, self.recognised_at, || {
            format!("this looks like a stream of {name}, which is not read; read are {known}")
        });
    }

    /// The names of the supported families.
    fn read_names(&self) -> String {
        let read = self.families.iter().filter(|it| it.assembler.is_some());
        read.map(|it| it.name).collect::<Vec<_>>().join(", ")
    }
}

/// Replaces the assembler of an unsupported family: ignores all events and reports that.
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
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    /// Not even `[DONE]` ends an unsupported stream.
    fn event(&mut self, _: SseEvent<'_>, _: &mut Sink<'_>) {}

    fn take(&mut self, _: &str, _: Option<&str>, _: &mut Sink<'_>) {}

    fn close(self: Box<Self>, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        self.head.assemble(Vec::new(), Ending::Cut, state, sink)
    }

    fn boxed_clone(&self) -> Box<dyn Assembler> {
        Box::new(self.clone())
    }
}
