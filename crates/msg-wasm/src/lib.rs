//! The compiled half of the npm package: bytes in, answers of `msg-document` out. It holds no logic; the functions that
//! people call are in `npm/`.
//!
//! ```text
//! input(n) ─▶ place ─ JavaScript writes n bytes ─▶ call(act, options, n, kept) ─▶ status
//!                                                   document(), document_len(), report(), report_len()
//! ```
//!
//! There is one input and one answer: WebAssembly runs on one thread, and JavaScript copies an answer before the next
//! call. Nothing here allocates for the caller, who has nothing to free.

#[cfg(feature = "documents")]
mod acts;
mod state;
#[cfg(feature = "streams")]
mod streams;
#[cfg(feature = "tools")]
mod tools;

// Only for its feature `max_level_off`.
use tracing as _;
// Only builds with documents use it.
#[cfg(not(feature = "documents"))]
use msg_json as _;

pub use state::{
    call, close, document, document_len, feed, finish, forget, input, open, options, report,
    report_len,
};
