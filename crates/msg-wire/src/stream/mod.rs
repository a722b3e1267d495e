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
//!                                    UnknownMembers, Merged   what the model has no place for
//!                                    Template  the short cut past reading like events again
//! ```
//!
//! [`StreamReader`] does all of it; [`SseDecoder`] and the assemblers are its parts, for callers who have
//! events already. Nothing here executes, repairs or retries, and nothing knows a provider.

mod assembler;
mod document;
mod limits;
mod options;
mod reader;
mod recognition;
mod sse;

mod assembled;
mod provider_error;
mod turn;
mod write;

mod brackets;
mod calls;
mod channel;
mod close;
mod event_options;
mod finish;
mod head;
mod merged;
mod notes;
mod output;
mod template;
mod unknown;
mod utf8;

pub use assembled::{Assembled, AssembledChoice};
pub use assembler::{Assembler, Family, Sink};
pub use brackets::Brackets;
pub use calls::{Calls, Entry, Slot, Step};
pub use channel::{Channel, Gauge};
pub use close::{BySlot, Closed, Closing, Parts};
pub use event_options::EventOptions;
pub use finish::{Finish, StreamState};
pub use head::{Data, Head};
pub use limits::StreamLimits;
pub use merged::Merged;
pub use notes::{Note, Notes};
pub use options::StreamOptions;
pub use output::TextKind;
pub use provider_error::ProviderError;
pub use reader::StreamReader;
pub use sse::{Events, SseDecoder, SseEvent};
pub use template::{Effects, Template};
pub use unknown::UnknownMembers;
