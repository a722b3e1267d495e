//! One assembler of three, chosen by the caller or by the first event that tells (OA-17).

use super::Assembler;
use super::anthropic::AnthropicAssembler;
use super::assembled::Assembled;
use super::calls::Sink;
use super::chat::ChatAssembler;
use super::finish::StreamState;
use super::head::{Data, Head};
use super::notes::{Note, Notes};
use super::reader::{Provider, StreamOptions};
use super::responses::ResponsesAssembler;
use super::sse::SseEvent;
use super::wire::object;

/// The assembler of a stream, once it is known whose stream it is.
#[derive(Debug, Clone)]
pub(crate) enum Engine {
    Undecided(Waiting),
    Chat(Box<ChatAssembler>),
    Responses(Box<ResponsesAssembler>),
    Anthropic(Box<AnthropicAssembler>),
}

/// Events that came before one that tells the provider.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
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

impl Engine {
    pub(crate) fn new(options: &StreamOptions) -> Self {
        match options.provider {
            Provider::Auto => Self::Undecided(Waiting {
                options: *options,
                events: Vec::new(),
                bytes: 0,
                notes: Notes::default(),
            }),
            Provider::OpenAi => Self::Chat(Box::new(ChatAssembler::new(options))),
            Provider::Responses => Self::Responses(Box::new(ResponsesAssembler::new(options))),
            Provider::Anthropic => Self::Anthropic(Box::new(AnthropicAssembler::new(options))),
        }
    }

    /// Takes an event that began at byte `at`.
    pub(crate) fn event(&mut self, event: SseEvent<'_>, at: u64, sink: &mut Sink<'_>) {
        match self {
            Self::Undecided(waiting) => match Data::of(&event.data, at, &mut waiting.notes) {
                Data::Noise => {}
                Data::Done => {
                    self.decide(Provider::OpenAi, sink);
                    self.event(event, at, sink);
                }
                Data::Json => {
                    if self.recognise(event.event, &event.data, at, false, sink) {
                        self.event(event, at, sink);
                    }
                }
            },
            Self::Chat(it) => take(&mut **it, event, at, sink),
            Self::Responses(it) => take(&mut **it, event, at, sink),
            Self::Anthropic(it) => take(&mut **it, event, at, sink),
        }
    }

    /// Takes a body, or a line of it, that is a document of its own.
    pub(crate) fn document(&mut self, text: &str, at: u64, sink: &mut Sink<'_>) {
        match self {
            Self::Undecided(_) => {
                if self.recognise(None, text, at, true, sink) {
                    self.document(text, at, sink);
                }
            }
            Self::Chat(it) => {
                it.locate(at);
                it.document(text, sink);
            }
            Self::Responses(_) | Self::Anthropic(_) => {
                self.event(SseEvent { event: None, data: text.into() }, at, sink);
            }
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Self::Undecided(_) => false,
            Self::Chat(it) => it.is_finished(),
            Self::Responses(it) => it.is_finished(),
            Self::Anthropic(it) => it.is_finished(),
        }
    }

    /// Adds findings of the layers below.
    pub(crate) fn note(&mut self, add: impl FnOnce(&mut Notes)) {
        add(match self {
            Self::Undecided(waiting) => &mut waiting.notes,
            Self::Chat(it) => &mut it.head_mut().notes,
            Self::Responses(it) => &mut it.head_mut().notes,
            Self::Anthropic(it) => &mut it.head_mut().notes,
        });
    }

    /// Ends the stream, whose last byte was before `at`.
    pub(crate) fn close(mut self, state: StreamState, at: u64, sink: &mut Sink<'_>) -> Assembled {
        if let Self::Undecided(_) = self {
            self.decide(Provider::OpenAi, sink);
        }
        match self {
            Self::Undecided(waiting) => {
                // `decide` leaves nothing undecided; an empty stream is what is left to say.
                close(ChatAssembler::new(&waiting.options), state, at, sink)
            }
            Self::Chat(it) => close(*it, state, at, sink),
            Self::Responses(it) => close(*it, state, at, sink),
            Self::Anthropic(it) => close(*it, state, at, sink),
        }
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
        match provider_of(data) {
            Told::Provider(provider) => {
                self.decide(provider, sink);
                true
            }
            Told::NotJson(offset, problem) => {
                waiting.notes.add(Note::BadJson, at + offset as u64, || {
                    format!("an event is not a JSON object and was skipped: {problem}")
                });
                false
            }
            Told::Nothing => {
                waiting.bytes += data.len() + size_of::<Held>();
                if waiting.bytes > waiting.options.limits.max_body_bytes {
                    self.decide(Provider::OpenAi, sink);
                    return true;
                }
                let (name, data) = (name.map(str::to_owned), data.to_owned());
                waiting.events.push(Held { name, data, at, is_document });
                false
            }
        }
    }

    fn decide(&mut self, provider: Provider, sink: &mut Sink<'_>) {
        let Self::Undecided(waiting) = self else {
            return;
        };
        let options = StreamOptions { provider, ..waiting.options };
        let events = std::mem::take(&mut waiting.events);
        let notes = std::mem::take(&mut waiting.notes);
        *self = Self::new(&options);
        self.note(|it| it.merge(&notes));
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

/// The state that every assembler has.
pub(crate) trait Headed: Assembler {
    fn head_mut(&mut self) -> &mut Head;

    fn close(self, state: StreamState, sink: &mut Sink<'_>) -> Assembled;
}

fn take(assembler: &mut impl Assembler, event: SseEvent<'_>, at: u64, sink: &mut Sink<'_>) {
    assembler.locate(at);
    assembler.event(event, sink);
}

fn close(mut it: impl Headed, state: StreamState, at: u64, sink: &mut Sink<'_>) -> Assembled {
    // What is found at the end of a stream that said where it ends is found there, not where the
    // bytes happened to stop.
    if !it.is_finished() {
        it.locate(at);
    }
    let end = it.head_mut().at;
    it.head_mut().notes.cap(end);
    it.close(state, sink)
}

enum Told {
    Provider(Provider),
    Nothing,
    NotJson(usize, String),
}

/// Whose event this is, if it tells.
fn provider_of(data: &str) -> Told {
    let (mut kind, mut of, mut has_choices) = (None, None, false);
    let members = object(data, |key, value| match key {
        "type" => kind = value.text(),
        "object" => of = value.text(),
        "choices" => has_choices = true,
        _ => {}
    });
    if let Err(error) = members {
        return Told::NotJson(error.offset, error.problem.to_string());
    }
    let kind = kind.as_deref().unwrap_or_default();
    let of = of.as_deref().unwrap_or_default();
    let is_anthropic =
        matches!(kind, "message" | "message_start" | "message_delta" | "message_stop")
            || kind.starts_with("content_block_");
    if kind.starts_with("response.") || of == "response" {
        Told::Provider(Provider::Responses)
    } else if is_anthropic {
        Told::Provider(Provider::Anthropic)
    } else if has_choices || of.starts_with("chat.completion") {
        Told::Provider(Provider::OpenAi)
    } else {
        Told::Nothing
    }
}
