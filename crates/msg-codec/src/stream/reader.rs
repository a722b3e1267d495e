//! The front door: bytes of any kind of body in, events and a message out (OA-17). It tells event
//! streams from JSON documents and providers from each other, and leaves the rest to its parts.

use msg_core::StreamEvent;

use super::assembled::Assembled;
use super::assembler::Family;
use super::document::Body;
use super::finish::StreamState;
use super::frames::{BAD_FRAME, Frames};
use super::limits::StreamLimits;
use super::notes::Notes;
use super::options::StreamOptions;
use super::recognition::{Form, Recognition};
use super::sse::SseDecoder;
use super::step::Sink;

/// Reads the bytes of a response, in chunks of any size, and assembles the message.
///
/// The cuts between chunks change neither the events nor the result. Memory is bounded by
/// [`StreamLimits`]; the cost is linear in the bytes.
///
/// It knows no family of its own. Crates of wire formats have theirs, for example `msg_openai::CHAT`;
/// with a list of several the stream's own events decide:
///
/// ```text
/// let mut reader = StreamReader::new(&[msg_openai::RESPONSES, msg_openai::CHAT], options);
/// reader.feed(chunk, &mut |event| show(event));       // as often as bytes come
/// let res = reader.finish(&mut |event| show(event));  // the message, and what was odd
/// ```
#[derive(Debug, Clone)]
pub struct StreamReader {
    limits: StreamLimits,
    body: Body,
    decoder: SseDecoder,
    recognition: Recognition,
    taken: u64,
}

impl StreamReader {
    /// A reader at the start of a body of one of these families: of the only one, or of the first
    /// in the list that recognises an event; the last takes what none of them recognised.
    #[must_use]
    pub fn new(families: &[Family], options: StreamOptions) -> Self {
        Self {
            limits: options.limits,
            body: Body::Unknown { bom: 0 },
            decoder: SseDecoder::new(options.limits),
            recognition: Recognition::new(families, options),
            taken: 0,
        }
    }

    /// Takes the next bytes; what they add goes to `sink`, borrowed where possible.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut dyn FnMut(StreamEvent<'_>)) {
        if self.taken == 0 && chunk.first() == Some(&0) {
            self.body = Body::Frames(Frames::new(self.limits.max_event_bytes));
        }
        let from = self.body.begin(chunk, self.taken).unwrap_or(0);
        match &mut self.body {
            Body::Document(document) => document.push(&chunk[from..], self.limits.max_body_bytes),
            Body::Frames(frames) => {
                frames.feed(chunk, |event| self.recognition.take(event, Form::Event, sink));
            }
            Body::Unknown { .. } | Body::Events => {
                let mut events = self.decoder.feed(chunk);
                while let Some(event) = events.next() {
                    self.recognition.take(event, Form::Event, sink);
                    if self.recognition.is_finished() {
                        events.mute();
                    }
                }
            }
        }
        self.taken += chunk.len() as u64;
    }

    /// Whether the stream has said that it is over: what is fed from now on is ignored, but that another
    /// response begins in it is noted.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.recognition.is_finished()
    }

    /// What was assembled so far. Copies the texts: O(size). Of a body that is one JSON document
    /// there is nothing before its end.
    #[must_use]
    pub fn snapshot(&self) -> Assembled {
        self.clone().close(StreamState::Open, &mut |_| {})
    }

    /// Ends the stream: the bytes are over.
    pub fn finish(mut self, sink: &mut dyn FnMut(StreamEvent<'_>)) -> Assembled {
        self.end_body(sink);
        self.close(StreamState::Ended, sink)
    }

    /// Stops the stream at the byte that was fed last; an event that is not whole is dropped.
    pub fn interrupt(self, sink: &mut dyn FnMut(StreamEvent<'_>)) -> Assembled {
        self.close(StreamState::Interrupted, sink)
    }

    fn end_body(&mut self, sink: &mut Sink<'_>) {
        if let Body::Frames(_) = self.body {
            return;
        }
        match std::mem::replace(&mut self.body, Body::Events) {
            Body::Document(document) => document.deliver(&mut self.recognition, sink),
            Body::Frames(_) | Body::Unknown { .. } | Body::Events => {
                if let Some(event) = self.decoder.finish() {
                    self.recognition.take(event, Form::Event, sink);
                }
            }
        }
    }

    fn close(mut self, state: StreamState, sink: &mut Sink<'_>) -> Assembled {
        self.recognition.note(|it| it.merge(self.decoder.notes()));
        let mut is_cut = false;
        if let Body::Frames(frames) = &self.body {
            self.recognition.note(|it| it.merge(frames.notes()));
            is_cut = frames.is_cut();
        }
        let mut res = self.recognition.close(state, self.taken, sink);
        // A stream that did not say why it stopped is truncated anyway.
        if is_cut && state == StreamState::Ended && res.complete {
            let mut notes = Notes::default();
            let text = || "the last frame is cut off".into();
            notes.add(BAD_FRAME, self.taken, text);
            res.diagnostics.extend(notes.diagnostics());
        }
        res
    }
}
