//! What only Gemini streams do wrong.

use msg_codec::stream::Note;

/// A piece of an argument without a call.
pub(crate) const UNKNOWN_DELTA: Note = Note::warning("stream::unknown-delta");

/// A piece of an argument for a place that cannot be.
pub(super) const BAD_PATH: Note = Note::warning("stream::bad-path");
