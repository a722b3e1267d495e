//! The bounds that a caller sets on a stream: how much of it is ever held in memory.
//!
//! Nothing here measures time; a stream that never ends is the caller's to interrupt.

use serde::Deserialize;

/// Bounds on what a stream may make the reader hold; every field may be set.
///
/// Going over a bound never ends a stream: what lies above it is dropped and reported as
/// `stream::event-too-large` (an event) or `stream::limit` (everything else), and all that was
/// received before is kept.
///
/// ```
/// use msg_codec::StreamLimits;
///
/// let mut limits = StreamLimits::default();
/// assert_eq!(limits.max_event_bytes, 16 << 20);
/// limits.max_event_bytes = 64 << 10;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamLimits {
    /// Bytes of data of one event (OA-16). Default 16 MiB.
    pub max_event_bytes: usize,
    /// Bytes of a body that is one JSON document instead of an event stream (OA-17), and of events
    /// that wait for a provider to be recognised. Default 64 MiB.
    pub max_body_bytes: usize,
    /// Choices of a stream. Default 128.
    pub max_choices: usize,
    /// Calls of a choice; output items of a Responses stream and blocks of an Anthropic one count
    /// alike. Default 1 024.
    pub max_calls: usize,
    /// Bytes of text of a whole stream: text, reasoning, refusals, raw members. Default 64 MiB.
    pub max_text_bytes: usize,
    /// Bytes of the arguments of one call. Default 16 MiB.
    pub max_argument_bytes: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        const MIB: usize = 1 << 20;
        Self {
            max_event_bytes: 16 * MIB,
            max_body_bytes: 64 * MIB,
            max_choices: 128,
            max_calls: 1024,
            max_text_bytes: 64 * MIB,
            max_argument_bytes: 16 * MIB,
        }
    }
}
