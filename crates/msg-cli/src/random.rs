//! Random bits, for ids and nonces.

use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;

/// Of the system's generator.
pub(crate) fn random() -> u64 {
    let mut bits = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bits));
    match read {
        Ok(()) => u64::from_ne_bytes(bits),
        Err(_) => {
            // Systems without the device: the standard library's hash keys are random too.
            std::collections::hash_map::RandomState::new().build_hasher().finish()
        }
    }
}
