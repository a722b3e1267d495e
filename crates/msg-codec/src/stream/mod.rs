//! Event streams: bytes in, [`StreamEvent`](msg_core::StreamEvent)s and a message out (OA-16 to OA-26).
//!
//! ```text
//! bytes ─ reader ─┬─ sse ──────┬─ recognition ─ assembler of a family ─┬─ StreamEvent, as it comes
//!                 └─ document ─┘               (another crate)        └─ Assembled, at the end
//!
//! what an assembler is built from:   Head      id, model, usage, error, findings
//!                                    Calls     fragments of tool calls -> calls      (calls, close)
//!                                    Channel   deltas of one text, halves joined     (channel, output)
//!                                    Finish    the provider's word -> FinishReason
//!                                    Merged    what the model has no place for
//!                                    Template  the short cut past reading like events again
//! ```
//!
//! [`StreamReader`](crate::StreamReader) does all of it; [`SseDecoder`](crate::SseDecoder) and the assemblers are its parts, for callers who have
//! events already. Nothing here executes, repairs or retries, and nothing knows a provider.

pub(crate) mod assembler;
mod document;
pub(crate) mod frames;
pub(crate) mod limits;
pub(crate) mod options;
pub(crate) mod reader;
mod recognition;
pub(crate) mod sse;

pub(crate) mod assembled;
pub(crate) mod provider_error;
mod turn;
mod write;

mod brackets;
mod calls;
mod channel;
mod close;
pub(crate) mod event_options;
pub(crate) mod finish;
mod head;
mod merged;
mod notes;
mod output;
mod slot;
pub(crate) mod step;
mod template;

pub(crate) use assembled::Assembled;
pub use brackets::Brackets;
pub use calls::{Calls, Entry};
pub use channel::Channel;
pub use close::{BySlot, Closing, Parts};
pub(crate) use finish::StreamState;
pub use finish::{Ending, Finish};
pub use head::Head;
pub use merged::Merged;
pub use notes::{Note, Notes};
pub(crate) use options::StreamOptions;
pub use output::TextKind;
pub(crate) use sse::SseEvent;
pub use step::{Said, Step};
pub use template::{Effects, Template};
