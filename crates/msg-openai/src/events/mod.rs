//! Streams written (OA-27): what Chat Completions and Responses would send, of a message that is whole or
//! live of any stream's events, so that a proxy speaks OpenAI whatever the model behind it speaks. Nothing
//! is sent from here.
//!
//! ```text
//! StreamEvent text-delta "Hi"     data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hi"},…}]}
//!                                 event: response.output_text.delta + the events that open the item before it
//!             finish stop         data: {…"finish_reason":"stop"}      event: response.completed
//!             (end)               data: [DONE]
//! ```

mod chunks;
mod item;
mod responses;
mod usage;
mod whole;

pub use chunks::{ChunkWriter, write_chunks};
pub use responses::ResponseEventWriter;
pub use whole::write_response_events;

use msg_core::FinishReason;

/// Whether a stream ended as the model meant it; one that was cut is left without an end.
fn is_end(reason: &FinishReason) -> bool {
    !matches!(reason, FinishReason::Error | FinishReason::Interrupted)
}
