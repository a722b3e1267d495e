//! Eight bytes at once in a plain integer: which of them equal a byte, are below one, are not ASCII. The result of
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

/// The bytes of `word` that are not ASCII.
#[inline]
pub(crate) const fn high(word: u64) -> u64 {
    word & HIGH
}

/// Where the first byte stands that a question has found.
#[inline]
pub(crate) const fn first(found: u64) -> usize {
    (found.trailing_zeros() / 8) as usize
}

/// Whether `fits` holds for each place of `bytes` where one of two bytes stands. For a few bytes: it is not worth its
/// setup to search them.
pub(crate) fn all_at(bytes: &[u8], two: [u8; 2], fits: impl Fn(usize) -> bool) -> bool {
    let (words, rest) = bytes.as_chunks();
    let [a, b] = two.map(splat);
    let in_word = |(n, it): (usize, &[u8; 8])| {
        let word = u64::from_le_bytes(*it);
        let mut found = equal(word, a) | equal(word, b);
        while found != 0 {
            let i = n * 8 + first(found);
            // Those after the first may be carried into.
            if two.contains(&bytes[i]) && !fits(i) {
                return false;
            }
            found &= found - 1;
        }
        true
    };
    let from = bytes.len() - rest.len();
    words.iter().enumerate().all(in_word)
        && rest.iter().enumerate().all(|(i, b)| !two.contains(b) || fits(from + i))
}

#[cfg(test)]
mod tests {
    use super::{all_at, below, equal, first, high, splat};

    #[test]
    fn every_place_is_asked_for() {
        let bytes = b"a\n\x0b\r\n\x0c\n\n bc\n d\re";
        let places = [1, 3, 4, 6, 7, 11, 14];
        assert!(all_at(bytes, *b"\n\r", |i| places.contains(&i)));
        assert!(places.iter().all(|&place| !all_at(bytes, *b"\n\r", |i| i != place)));
    }

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
                assert_eq!(first(high(word)), at(b >= 0x80), "{b} at {place}");
            }
        }
    }
}
