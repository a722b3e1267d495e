//! A policy of somebody else's (CP-2, CP-3) by data: the calls of its one step, and what each gave.

use std::sync::{Arc, Mutex};

use msg_compact::{ChainState, Form, Merge, Policy, Progress};
use serde::Deserialize;
use serde_json::Value;

/// A call of the chain state, at places of the chain.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Call {
    /// Section and pair.
    IsCut(usize, usize),
    /// Section, first pair, and the one after the last.
    RequestPairs(usize, usize, usize),
    /// The first section, and the one after the last.
    RequestSections(usize, usize),
    /// Section and pair.
    DropBefore(usize, usize),
    /// Section and pair.
    DropReasoning(usize, usize),
}

impl Call {
    fn make(self, chain: &mut ChainState<'_>) -> bool {
        match self {
            Call::IsCut(section, pair) => chain.is_cut(section, pair),
            Call::RequestPairs(section, first, end) => {
                chain.request_pairs(section, first..end, Form::Text)
            }
            Call::RequestSections(first, end) => {
                chain.request_sections(first..end, Merge::FirstUser, Form::Text)
            }
            Call::DropBefore(section, pair) => chain.drop_before(section, pair),
            Call::DropReasoning(section, pair) => chain.drop_reasoning(section, pair),
        }
    }
}

/// What each call gave, and how the state shows itself after them.
pub(crate) type Gave = Arc<Mutex<(Vec<bool>, String)>>;

/// The policy that makes the calls.
pub(crate) struct Calls {
    pub(crate) calls: Vec<Call>,
    pub(crate) gave: Gave,
}

impl Policy for Calls {
    fn name(&self) -> &'static str {
        "calls"
    }

    fn config(&self) -> Value {
        Value::Null
    }

    fn step(&self, at: u32, chain: &mut ChainState<'_>) -> Progress {
        if at > 0 {
            return Progress::Done;
        }
        let gave = self.calls.iter().map(|it| it.make(chain)).collect();
        *self.gave.lock().unwrap() = (gave, format!("{chain:?}"));
        Progress::Requested
    }

    fn max_requests(&self, _sections: usize, _pairs: usize) -> usize {
        self.calls.len()
    }
}
