//! Where the next quote, backslash or control character is: 8 or 32 bytes in one step, since
//! nearly all of a conversation is text between quotes. It knows nothing of JSON beside these bytes.

/// The first offset from `at` on of a quote, a backslash or a control character, or the length.
#[inline]
pub(crate) fn next_special(bytes: &[u8], mut at: usize) -> usize {
    // Names and ids end in their first words; of longer texts two words are passed in one step.
    for _ in 0..2 {
        match word_at(bytes, at).map(special_in) {
            Some(Some(special)) => return at + special,
            Some(None) => at += WORD,
            None => break,
        }
    }
    while block_at(bytes, at).is_some_and(|it| !has_special(it)) {
        at += BLOCK;
    }
    while let Some(word) = word_at(bytes, at) {
        if let Some(special) = special_in(word) {
            return at + special;
        }
        at += WORD;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|it| is_special(*it)).map_or(bytes.len(), |it| at + it)
}

/// As many bytes are looked at in one step where one of them may be special.
pub(crate) const WORD: usize = 8;
/// As many bytes are looked at in one step where most likely none is.
const BLOCK: usize = 32;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The word at this offset, if there are so many bytes.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> Option<&[u8; WORD]> {
    bytes.get(at..)?.first_chunk()
}

/// The word at this offset and its length; what the text has no bytes for is zero.
#[inline]
pub(crate) fn word_or_rest(bytes: &[u8], at: usize) -> ([u8; WORD], usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(word) = rest.first_chunk() {
        return (*word, WORD);
    }
    let mut word = [0; WORD];
    word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    (word, rest.len())
}

/// The block at this offset, if there are so many bytes.
#[inline]
fn block_at(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..)?.first_chunk()
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Whether a block has a special byte. The greatest of numbers and not "any", of which the compiler makes half as
/// good vectors.
#[inline]
fn has_special(block: &[u8; BLOCK]) -> bool {
    let flag = |it: u8| u8::from(it == b'"') | u8::from(it == b'\\') | u8::from(it < 0x20);
    block.iter().fold(0, |most: u8, it| most.max(flag(*it))) > 0
}

/// The place of the first quote, backslash or control character in a word.
#[inline]
pub(crate) fn special_in(word: &[u8; WORD]) -> Option<usize> {
    let word = u64::from_le_bytes(*word);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero_in(word ^ (ONES * u64::from(b'"')));
    let backslash = zero_in(word ^ (ONES * u64::from(b'\\')));
    // Bytes after the first hit may be set in error; the first one never is.
    let hits = (quote | backslash | control) & HIGHS;
    (hits != 0).then(|| (hits.trailing_zeros() / 8) as usize)
}

/// The high bit of each byte that is zero; bytes after the first such one may be set in error.
#[inline]
fn zero_in(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

/// The offset of the next quote. Names and ids end in their first words; of long texts memchr is faster.
#[inline]
pub(crate) fn next_quote(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..2 {
        let Some(word) = word_at(bytes, at) else { break };
        let hits = zero_in(u64::from_le_bytes(*word) ^ (ONES * u64::from(b'"'))) & HIGHS;
        if hits != 0 {
            return Some(at + (hits.trailing_zeros() / 8) as usize);
        }
        at += WORD;
    }
    memchr::memchr(b'"', bytes.get(at..)?).map(|it| at + it)
}
