//! Up to 64 ASCII characters priced at once (CP-53): a set of bits for each class, and arithmetic on
//! sets in place of a loop over runs, which would guess each run's end wrong. It knows only runs that
//! end inside the block.

use super::run::{OTHER, capitals_price, mixed_price};

/// Bytes of a block.
const LEN: usize = 64;

/// ASCII characters from which on a block is quicker than run after run.
pub(super) const WORTH: usize = 16;

/// Which characters of a block are of which class; bit n stands for byte n.
#[derive(Default)]
struct Sets {
    /// Letters.
    letter: u64,
    upper: u64,
    digit: u64,
    /// Space and tab.
    space: u64,
    /// CR and LF.
    line: u64,
    /// Printable, and none of the others.
    sign: u64,
}

/// What the runs of a block cost that end inside it.
pub(super) struct Priced {
    /// Hundredths of a token.
    pub(super) price: u64,
    /// Bytes of these runs.
    pub(super) len: usize,
}

/// Prices the runs of the next block of bytes but its last one, which may go on behind it, or behind
/// the ASCII characters at its head. A run must begin with the block.
pub(super) fn price(bytes: &[u8]) -> Priced {
    match bytes.first_chunk() {
        Some(block) => price_block(block, LEN),
        None => {
            let mut block = [0; LEN];
            block[..bytes.len()].copy_from_slice(bytes);
            price_block(&block, bytes.len())
        }
    }
}

fn price_block(block: &[u8; LEN], len: usize) -> Priced {
    let mut sets = Sets::of(block);
    let is_ascii = |it: &&u8| it.is_ascii();
    let ascii = if block.is_ascii() { LEN } else { block.iter().take_while(is_ascii).count() };
    let starts = sets.starts();
    let begun = starts.all() & low_bits(len.min(ascii));
    let last = (begun | 1).ilog2();
    let done = low_bits(last as usize);
    sets.keep(done);
    Priced { price: sets.price(&starts, done), len: last as usize }
}

fn low_bits(n: usize) -> u64 {
    if n >= LEN { u64::MAX } else { (1 << n) - 1 }
}

/// The first characters of runs.
struct Starts {
    word: u64,
    digit: u64,
    space: u64,
    line: u64,
    sign: u64,
    /// Characters of no class, each by itself.
    other: u64,
}

impl Starts {
    fn all(&self) -> u64 {
        self.word | self.digit | self.space | self.line | self.sign | self.other
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x80 * ONES;

/// Which of eight bytes are at least `low`, in their top bits. All must be below 0x80, so that no sum
/// carries into the next byte.
#[inline]
fn at_least(word: u64, low: u8) -> u64 {
    word + (0x80 - low as u64) * ONES
}

#[inline]
fn between(word: u64, low: u8, high: u8) -> u64 {
    at_least(word, low) & !at_least(word, high + 1)
}

/// The top bits of eight bytes as one byte, the first byte's lowest: the product moves each to its place.
#[inline]
fn gather(tops: u64) -> u8 {
    (((tops & TOPS) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

impl Sets {
    fn of(block: &[u8; LEN]) -> Self {
        let mut sets = Sets::default();
        let (words, _) = block.as_chunks::<8>();
        for (lane, bytes) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            let ascii = word & !TOPS;
            let letter = between(ascii | (0x20 * ONES), b'a', b'z') & TOPS;
            let upper = letter & !(ascii << 2);
            let digit = between(ascii, b'0', b'9');
            let space = between(ascii, b' ', b' ') | between(ascii, b'\t', b'\t');
            let line = between(ascii, b'\n', b'\n') | between(ascii, b'\r', b'\r');
            let sign = between(ascii, 0x21, 0x7E) & !letter & !digit;
            let put = |set: &mut u64, tops: u64| *set |= u64::from(gather(tops)) << (8 * lane);
            put(&mut sets.letter, letter);
            put(&mut sets.upper, upper);
            put(&mut sets.digit, digit);
            put(&mut sets.space, space);
            put(&mut sets.line, line);
            put(&mut sets.sign, sign);
        }
        sets
    }

    fn starts(&self) -> Starts {
        let first = |set: u64| set & !(set << 1);
        // A word ends before an upper-case letter that follows a letter that is none.
        let inner = self.upper & self.letter << 1 & !(self.upper << 1);
        let classed = self.letter | self.digit | self.space | self.line | self.sign;
        Starts {
            word: first(self.letter) | inner,
            digit: first(self.digit),
            space: first(self.space),
            line: first(self.line),
            sign: first(self.sign),
            other: !classed,
        }
    }

    fn keep(&mut self, within: u64) {
        for set in [
            &mut self.letter,
            &mut self.upper,
            &mut self.digit,
            &mut self.space,
            &mut self.line,
            &mut self.sign,
        ] {
            *set &= within;
        }
    }

    /// Hundredths of a token: what the runs cost that begin at these starts.
    fn price(&self, starts: &Starts, within: u64) -> u64 {
        let n = |set: u64| u64::from((set & within).count_ones());
        let spaces = n(starts.space);
        let lone_spaces = n(starts.space & !(self.space >> 1));
        self.words(starts.word & within)
            + 145 * self.digit_groups(starts.digit & within)
            + 85 * spaces
            - 65 * lone_spaces
            + 60 * n(starts.line)
            + 69 * n(starts.sign)
            + 11 * n(self.sign)
            + OTHER * n(starts.other)
    }

    /// Groups of three digits, the last of a run shorter.
    fn digit_groups(&self, starts: u64) -> u64 {
        let digit = self.digit;
        let follows = digit & digit << 1 & digit << 2 & digit << 3;
        let (mut groups, mut n) = (starts, 0);
        while groups != 0 {
            n += u64::from(groups.count_ones());
            groups = groups << 3 & follows;
        }
        n
    }

    /// Words: 80, 20 more from the 7th letter, 30 more from the 10th, 10 more for each further one.
    fn words(&self, starts: u64) -> u64 {
        let n = |set: u64| u64::from(set.count_ones());
        // Letters that have at least so many letters of their word before them.
        let behind_1 = self.letter & !starts;
        let behind_2 = behind_1 & behind_1 << 1;
        let mut price = 80 * n(starts);
        let behind_4 = behind_2 & behind_2 << 2;
        let behind_6 = behind_4 & behind_2 << 4;
        if behind_6 != 0 {
            let behind_7 = behind_6 & behind_1 << 6;
            let behind_9 = behind_7 & behind_2 << 7;
            let behind_10 = behind_9 & behind_1 << 9;
            price += 20 * n(behind_6 & !behind_7);
            if behind_9 != 0 {
                price += 30 * n(behind_9) - 20 * n(behind_10);
            }
        }
        // A word begins with its upper-case letters: one that ends in one has no others.
        let ends = self.letter & !(behind_1 >> 1);
        let mut capitals = ends & self.upper & behind_1;
        while capitals != 0 {
            let end = capitals.trailing_zeros();
            capitals &= capitals - 1;
            let start = (starts & low_bits(end as usize + 1) | 1).ilog2();
            let len = u64::from(end - start + 1);
            price = price + capitals_price(len) - mixed_price(len);
        }
        price
    }
}
