//! The front door: bytes of any kind of body in, events and a message out (OA-17). It tells event
//! streams from JSON documents and providers from each other, and leaves the rest to its parts.

use msg_core::StreamEvent;

use super::assembled::Assembled;
use super::body::Body;
use super::calls::Sink;
use super::engine::Engine;
use super::finish::StreamState;
use super::limits::StreamLimits;
use super::sse::SseDecoder;

/// Whose stream it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Provider {
    /// Decided at the first event that tells.
    #[default]
    Auto,
    /// Chat Completions, of OpenAI and of everybody who is compatible.
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
}

/// How a stream is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Whose stream it is; recognised if not set.
    pub provider: Provider,
    /// Whether a call whose arguments are several objects becomes several calls (OA-19.5).
    pub split_concatenated: bool,
    /// What may be held in memory.
    pub limits: StreamLimits,
}

/// Reads the bytes of a response, in chunks of any size, and assembles the message.
///
/// The cuts between chunks change neither the events nor the result. Memory is bounded by
/// [`StreamLimits`]; the cost is linear in the bytes.
///
/// ```
/// use msg_core::StreamEvent;
/// use msg_openai::{StreamOptions, StreamReader};
///
/// let body = concat!(
///     "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n",
///     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
///     "data: [DONE]\n\n",
/// );
/// let mut reader = StreamReader::new(StreamOptions::default());
/// let mut shown = String::new();
/// for chunk in body.as_bytes().chunks(7) {
///     reader.feed(chunk, &mut |event| {
///         if let StreamEvent::TextDelta { text, .. } = event {
///             shown.push_str(&text);
///         }
///     });
/// }
/// let res = reader.finish(&mut |_| {});
/// assert_eq!(shown, "Hello");
/// assert_eq!(res.choices[0].message.text(), "Hello");
/// assert!(res.complete && res.diagnostics.is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct StreamReader {
    limits: StreamLimits,
    body: Body,
    decoder: SseDecoder,
    engine: Engine,
    taken: u64,
}

impl StreamReader {
    /// A reader at the start of a body.
    #[must_use]
    pub fn new(options: StreamOptions) -> Self {
        Self {
            limits: options.limits,
            body: Body::Unknown { bom: 0 },
            decoder: SseDecoder::new(options.limits),
            engine: Engine::new(&options),
            taken: 0,
        }
    }

    /// Takes the next bytes; what they add goes to `sink`, borrowed where possible.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut dyn FnMut(StreamEvent<'_>)) {
        if self.is_finished() {
            return;
        }
        let from = self.body.look(chunk, self.taken).unwrap_or(0);
        match &mut self.body {
            Body::Document(document) => document.push(&chunk[from..], self.limits.max_body_bytes),
            Body::Unknown { .. } | Body::Events => {
                let mut events = self.decoder.feed(chunk);
                while let Some((event, at)) = events.next_at() {
                    self.engine.event(event, at, sink);
                    if self.engine.is_finished() {
                        break;
                    }
                }
            }
        }
        self.taken += chunk.len() as u64;
    }

    /// Whether the stream has said that it is over: what is fed from now on is ignored.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.engine.is_finished()
    }

    /// What was assembled so far. Copies the texts: O(size). Of a body that is one JSON document
    /// there is nothing before its end.
    #[must_use]
    pub fn snapshot(&self) -> Assembled {
        self.clone().close(StreamState::Open, &mut |_| {})
    }

    /// Ends the stream: the bytes are over.
    pub fn finish(mut self, sink: &mut dyn FnMut(StreamEvent<'_>)) -> Assembled {
        if !self.is_finished() {
            self.end_body(sink);
        }
        self.close(StreamState::Ended, sink)
    }

    /// Stops the stream at the byte that was fed last; an event that is not whole is dropped.
    pub fn interrupt(self, sink: &mut dyn FnMut(StreamEvent<'_>)) -> Assembled {
        self.close(StreamState::Interrupted, sink)
    }

    fn end_body(&mut self, sink: &mut Sink<'_>) {
        match std::mem::replace(&mut self.body, Body::Events) {
            Body::Document(document) => document.deliver(&mut self.engine, sink),
            Body::Unknown { .. } | Body::Events => {
                if let Some((event, at)) = self.decoder.finish_at() {
                    self.engine.event(event, at, sink);
                }
            }
        }
    }

    fn close(mut self, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        self.engine.note(|it| it.merge(self.decoder.notes()));
        self.engine.close(state, self.taken, sink)
    }
}
