//! Gemini streams (GE-14 to GE-17): each chunk is a whole response whose parts append.
//!
//! ```text
//! {"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}
//! {"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}   -> Text "Hello", stop
//! ```

mod assembler;
mod candidate;
mod chunk;
mod family;
mod notes;
mod partial;
mod path;
mod reason;

pub use assembler::GeminiAssembler;
pub use family::GEMINI;
pub(crate) use notes::UNKNOWN_DELTA;
pub(crate) use reason::meaning;
