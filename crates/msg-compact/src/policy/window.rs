//! `sliding-window` (CP-41): the newest contiguous part that fits. Asks nobody.

use serde::{Deserialize, Serialize};

use super::{Policy, Progress};
use crate::state::ChainState;

/// Keeps the newest units that fit the target and drops the rest, with a note in their place
/// (CP-41).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlidingWindow {}

impl Policy for SlidingWindow {
    fn name(&self) -> &'static str {
        "sliding-window"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, _at: u32, chain: &mut ChainState<'_>) -> Progress {
        chain.slide_window();
        Progress::Done
    }
}
