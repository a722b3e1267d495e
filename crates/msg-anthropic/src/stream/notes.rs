//! What only Anthropic streams do wrong.

use msg_codec::stream::Note;

/// A delta that its block does not have.
pub(super) const UNKNOWN_DELTA: Note = Note::warning("stream::unknown-delta");

/// A thinking block without its signature.
pub(super) const SIGNATURE_MISSING: Note = Note::warning("stream::signature-missing");
