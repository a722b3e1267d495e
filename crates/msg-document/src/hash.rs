//! Hashes of short texts for tables that are looked up often: quicker than those of the standard library, which defend
//! against keys that are chosen to collide. The names and texts of a document are looked up in tables of ours, never
//! put into them.

use std::hash::{BuildHasherDefault, Hasher};

/// A hash of a short text (FNV-1a).
pub(crate) fn text_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, it| {
        (hash ^ u64::from(it)).wrapping_mul(0x100_0000_01b3)
    })
}

/// For maps whose keys are hashes already.
pub(crate) type Hashed = BuildHasherDefault<AsItIs>;

/// Takes a number as its hash.
#[derive(Default)]
pub(crate) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for it in bytes {
            self.write_u64(self.0.rotate_left(8) ^ u64::from(*it));
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
