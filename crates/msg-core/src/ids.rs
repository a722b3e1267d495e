//! Where fresh ids come from (MS-25): a source of numbers that the caller gives. Nothing here draws
//! a random number or reads a clock.

/// A source of numbers from which ids are made. The same source gives the same ids.
pub trait IdSource {
    /// The next number; all 64 bits are used.
    fn next_u64(&mut self) -> u64;
}

impl<T: IdSource + ?Sized> IdSource for &mut T {
    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }
}

/// Well-spread numbers from a seed (SplitMix64): seed it with entropy for ids that nobody guesses,
/// with a constant for ids that repeat.
///
/// ```
/// use msg_core::{IdSource, SeededIds};
///
/// assert_eq!(SeededIds::new(7).next_u64(), SeededIds::new(7).next_u64());
/// assert_ne!(SeededIds::new(7).next_u64(), SeededIds::new(8).next_u64());
/// ```
#[derive(Debug, Clone)]
pub struct SeededIds {
    state: u64,
}

impl SeededIds {
    /// A source with this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }
}

impl IdSource for SeededIds {
    fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// 0, 1, 2 …: for tests and for ids that people read.
#[derive(Debug, Clone, Default)]
pub struct CountingIds {
    next: u64,
}

impl IdSource for CountingIds {
    fn next_u64(&mut self) -> u64 {
        let it = self.next;
        self.next = self.next.wrapping_add(1);
        it
    }
}
