//! Eight bytes at once in a plain integer: which of them equal a byte or are below one. The result of
//! each question has the highest bit of a byte set that fits; of several the lowest is exact, those above it may
//! be carried into.

/// The lowest bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A word of eight times the same byte.
#[inline]
pub(crate) const fn splat(b: u8) -> u64 {
    LOW * b as u64
}

/// The bytes of `word` that are those of `splat`: they differ in nothing, and taking one from that borrows.
#[inline]
pub(crate) const fn equal(word: u64, splat: u64) -> u64 {
    below(word ^ splat, 1)
}

/// The bytes of `word` that are less than `limit`, which is at most 0x80.
#[inline]
pub(crate) const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(splat(limit)) & !word & HIGH
}

/// Where the first byte stands that a question has found.
#[inline]
pub(crate) const fn first(found: u64) -> usize {
    (found.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::{below, equal, first, splat};

    #[test]
    fn the_first_is_exact_for_every_byte() {
        for b in 0..=u8::MAX {
            for place in 0..8 {
                let mut bytes = *b"yyyyyyyy";
                bytes[place] = b;
                let word = u64::from_le_bytes(bytes);
                let at = |fits: bool| if fits { place } else { 8 };
                assert_eq!(first(equal(word, splat(b'"'))), at(b == b'"'), "{b} at {place}");
                assert_eq!(first(below(word, 0x20)), at(b < 0x20), "{b} at {place}");
            }
        }
    }
}
