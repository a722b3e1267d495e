//! What a policy is, whoever wrote it.

use crate::state::ChainState;

/// A way of cutting a history down. Users may add their own.
pub trait Policy: Send + Sync {
    /// Its name in JSON, records and requests.
    fn name(&self) -> &'static str;

    /// Its options, for records.
    fn config(&self) -> serde_json::Value;

    /// One step of it: 0 first; the next one once all that the step before asked is answered and
    /// applied. Must come to [`Progress::Done`] after a number of steps that does not depend on
    /// the answers.
    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress;

    /// The most summaries that one run of it can ask for, of a chain with so many sections and
    /// pairs; 0 for a policy that asks nobody.
    fn max_requests(&self, sections: usize, pairs: usize) -> usize {
        let _ = (sections, pairs);
        0
    }

    /// Whether it may change what the floor of CP-14 counts, so that a budget below the floor is
    /// not hopeless.
    fn lowers_floor(&self) -> bool {
        false
    }
}

/// What a policy's step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The policy has done what it can.
    Done,
    /// It may have asked for summaries and wants to be called again when the answers are in.
    Requested,
}
