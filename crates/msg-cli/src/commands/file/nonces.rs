//! Nonces for ids of calls: from the request, or from the system's generator (MF-37).

use std::collections::VecDeque;

use msg_file::Nonce;

use crate::random::random;

/// Where nonces come from.
pub(in crate::commands) enum Nonces {
    /// Those of the request, in order.
    Given(VecDeque<String>),
    /// The system's generator.
    System,
}

impl Nonces {
    pub(in crate::commands) fn of(given: Option<Vec<String>>) -> Self {
        given.map_or(Nonces::System, |it| Nonces::Given(it.into()))
    }

    /// The next one. A list that has come to its end gives empty ones, which are not nonces.
    pub(in crate::commands) fn next(&mut self) -> Nonce {
        match self {
            Nonces::Given(list) => Nonce::from(list.pop_front().unwrap_or_default()),
            Nonces::System => Nonce::from_random(random()),
        }
    }
}
