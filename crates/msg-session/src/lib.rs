//! The sessions that agents leave on disk: read, explained, mended by byte edits, moved.
//!
//! Bytes in, bytes out: this crate opens no file, reads no clock and locks no database. What no mend names
//! survives byte for byte; nothing is executed, and the content of a result is never guessed.
//!
//! ```text
//! bytes ─ detect ▶ dialect ─ frame ▶ records (spans) ─ link ▶ calls, results, paths ─┬▶ view: messages, turns
//!                                                                                   └▶ findings ▶ edits of bytes
//! ```

mod about;
mod compacted;
mod dataset;
mod detect;
mod error;
mod places;
mod responses;
mod session;
mod source;
mod store;
mod summary;
mod texts;
mod view;
mod write;

mod dialects;
mod excerpt;

mod edit;
mod frame;
mod link;
mod parts;
mod provider_error;

pub use crate::detect::Dialect;
pub use crate::edit::Effect;
pub use crate::error::CODES;
pub use crate::parts::otel_part;
pub use crate::session::{Diagnosis, LargeSession};
pub use crate::source::{Line, MendedLine};
pub use crate::view::{Branch, BranchKind};
pub use crate::write::rehomed;
pub use compacted::Compacted;
pub use dataset::{
    Dataset, DatasetOptions, DatasetReport, LeftOut, LostParts, MissingCall, Sample, SampleFormat,
};
pub use error::{Error, Finding, MendOutcome, SessionOptions, SessionPlace};
pub use parts::share_gpt::ShareGptTurns;
pub use places::{Machine, SessionFolder, System};
pub use provider_error::causes_of;
pub use responses::{RecordedResponse, recorded_responses};
pub use session::Session;
pub use source::{Blob, ReadAt};
pub use store::{SessionStore, StoreSource};
pub use summary::Summary;
pub use texts::{redact, redact_json};
pub use view::{PartOrigin, View};
pub use write::{ContextPolicy, Signatures, WriteOptions, expect_writer, has_writer, write};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
