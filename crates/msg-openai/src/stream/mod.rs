//! Event streams of Chat Completions, Responses and Anthropic Messages (OA-16 to OA-26): bytes in,
//! [`StreamEvent`]s and a message out. Sans-IO: the caller brings the bytes, in chunks of any size.
//!
//! [`StreamReader`] does all of it; [`SseDecoder`] and the assemblers are its parts, for callers who
//! have events already. Nothing here executes, repairs or retries.

mod limits;
mod reader;

mod sse;

mod anthropic;
mod chat;
mod responses;

mod assembled;
mod error;
mod finish;
mod render;
mod turn;

mod blocks;
mod body;
mod calls;
mod channel;
mod choice;
mod close;
mod details;
mod engine;
mod head;
mod items;
mod loose;
mod merge;
mod notes;
mod output;
mod scan;
mod template;
mod wire;

use msg_core::StreamEvent;

pub use anthropic::AnthropicAssembler;
pub use assembled::{Assembled, AssembledChoice};
pub use chat::ChatAssembler;
pub use error::ProviderError;
pub use finish::StreamState;
pub use limits::StreamLimits;
pub use reader::{Provider, StreamOptions, StreamReader};
pub use render::MessageForm;
pub use responses::ResponsesAssembler;
pub use sse::{Events, SseDecoder, SseEvent};

/// Makes a message of the events of one provider's stream.
///
/// Whatever the events hold, the result is well formed; what was wrong is in its diagnostics.
pub trait Assembler: Sized {
    /// Takes the next event; what it adds goes to `sink`, borrowed where possible.
    fn event(&mut self, event: SseEvent<'_>, sink: &mut dyn FnMut(StreamEvent<'_>));

    /// Says at which byte of the stream the next event begins, for the diagnostics.
    fn locate(&mut self, offset: u64);

    /// Whether the stream has said that it is over: what follows is ignored.
    fn is_finished(&self) -> bool;

    /// Ends the stream; calls, usage and finish reasons go to `sink`.
    fn finish(self, sink: &mut dyn FnMut(StreamEvent<'_>)) -> Assembled;

    /// Stops a stream that goes on; calls that may not be whole are incomplete.
    fn interrupt(self) -> Assembled {
        self.interrupt_with(&mut |_| {})
    }

    /// Like [`Assembler::interrupt`], with the last events.
    fn interrupt_with(self, sink: &mut dyn FnMut(StreamEvent<'_>)) -> Assembled;
}
