//! How a stream is read. Whose stream it is, is no option: the reader is given the families.

use serde::Deserialize;

use super::limits::StreamLimits;

/// How a stream is read.
///
/// ```
/// use msg_codec::StreamOptions;
///
/// let options = StreamOptions::default().with_split_concatenated();
/// assert!(options.split_concatenated);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamOptions {
    /// Whether a call whose arguments are several objects becomes several calls (OA-19.5).
    pub split_concatenated: bool,
    /// What may be held in memory.
    pub limits: StreamLimits,
}

impl StreamOptions {
    /// A call whose arguments are several objects becomes several calls (OA-19.5).
    #[must_use]
    pub fn with_split_concatenated(self) -> Self {
        Self { split_concatenated: true, ..self }
    }

    /// What may be held in memory.
    #[must_use]
    pub fn with_limits(self, limits: StreamLimits) -> Self {
        Self { limits, ..self }
    }
}
