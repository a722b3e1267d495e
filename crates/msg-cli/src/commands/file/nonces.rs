//! Nonces for ids of calls: from the request, or from the system's generator (MF-37).

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;

use msg_file::Nonce;

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

    /// The next one. A list that has come to its end gives empty ones, which are no nonces.
    pub(in crate::commands) fn next(&mut self) -> Nonce {
        match self {
            Nonces::Given(list) => Nonce::from(list.pop_front().unwrap_or_default()),
            Nonces::System => Nonce::from_random(random()),
        }
    }
}

fn random() -> u64 {
    let mut bits = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bits));
    match read {
        Ok(()) => u64::from_ne_bytes(bits),
        Err(_) => {
            // Systems without the device: the standard library's hash keys are random too.
            use std::hash::{BuildHasher, Hasher};
            std::collections::hash_map::RandomState::new().build_hasher().finish()
        }
    }
}
