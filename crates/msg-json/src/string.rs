//! Strings of JSON: from escapes to text. Half a surrogate pair becomes U+FFFD and is reported, not
//! refused (MS-8).

use std::borrow::Cow;

use crate::{
    error::{JsonError, Problem},
    scan::{end, skip_escape, string_end},
    words::{WORD, next_special, special_in, word_or_rest},
};

/// A string that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonStr<'a> {
    /// The text, borrowed from the input unless it has escapes.
    pub text: Cow<'a, str>,
    /// Whether a lone surrogate escape in it was replaced by U+FFFD.
    pub lone_surrogate: bool,
}

impl<'a> JsonStr<'a> {
    /// A string without escapes.
    #[inline]
    pub(crate) fn plain(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), lone_surrogate: false }
    }
}

/// Turns the text between the quotes of a JSON string, already known to be well formed, into
/// its text.
///
/// ```
/// use msg_json::unescape;
///
/// assert_eq!(unescape(r"a\nb").text, "a\nb");
/// assert_eq!(unescape(r"\ud83e\udd80").text, "🦀");
/// assert!(unescape(r"\ud83e!").lone_surrogate);
/// ```
pub fn unescape(source: &str) -> JsonStr<'_> {
    if next_special(source.as_bytes(), 0) >= source.len() {
        return JsonStr::plain(source);
    }
    let mut text = String::with_capacity(source.len());
    let lone_surrogate = unescape_into(source, &mut text);
    JsonStr { text: Cow::Owned(text), lone_surrogate }
}

/// Appends the text between the quotes of a JSON string, as [`unescape`] reads it; says whether
/// a lone surrogate escape in it was replaced. For texts that grow, without an allocation a piece.
///
/// ```
/// let mut text = String::from("a");
/// assert!(!msg_json::unescape_into(r"\nb", &mut text));
/// assert_eq!(text, "a\nb");
/// ```
pub fn unescape_into(source: &str, text: &mut String) -> bool {
    let bytes = source.as_bytes();
    let mut lone_surrogate = false;
    let mut start = 0;
    loop {
        let at = next_special(bytes, start);
        text.push_str(&source[start.min(bytes.len())..at.max(start).min(bytes.len())]);
        if at >= bytes.len() {
            return lone_surrogate;
        }
        let (character, len) = escape_at(bytes, at);
        lone_surrogate |= character.is_none();
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        start = at + len;
    }
}

/// Reads the string whose text begins at `start` and has its first special at `at`, which does not end it; gives the
/// offset after it.
pub(crate) fn take_escaped(
    source: &str,
    start: usize,
    mut at: usize,
) -> Result<(JsonStr<'_>, usize), JsonError> {
    let bytes = source.as_bytes();
    // Its source is the most that it can take, and a word more what a copied one may.
    let len = string_end(bytes, at).map_or(at - start, |end| end - start);
    let mut text = Vec::with_capacity(len + WORD);
    text.extend_from_slice(&bytes[start..at]);
    let mut lone_surrogate = false;
    loop {
        match bytes.get(at) {
            Some(b'"') => break,
            Some(b'\\') => {}
            Some(&control) => return Err(JsonError::new(at, Problem::Control(control))),
            None => return Err(end(bytes, "the end of a string")),
        }
        if let Some(&simple) = bytes.get(at + 1).and_then(|it| SIMPLE.get(usize::from(*it)))
            && simple != 0
        {
            text.push(simple);
            at += 2;
        } else {
            skip_escape(bytes, at)?;
            let (character, len) = escape_at(bytes, at);
            lone_surrogate |= character.is_none();
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            at += len;
        }
        at = copy_plain(bytes, at, &mut text);
    }
    let mut text = String::from_utf8(text).expect("the pieces of a text are cut at ASCII");
    // Where every character is an escape the text takes a sixth of its source.
    if text.capacity() - text.len() > text.len() / 4 + 2 * WORD {
        text.shrink_to_fit();
    }
    Ok((JsonStr { text: Cow::Owned(text), lone_surrogate }, at + 1))
}

/// Appends the bytes from `at` up to the next special, and gives its place. Runs between escapes are
/// short: a word is copied at once and the surplus taken back.
#[inline]
pub(crate) fn copy_plain(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let (word, len) = word_or_rest(bytes, at);
    let plain = special_in(&word).unwrap_or(WORD).min(len);
    out.extend_from_slice(&word);
    if plain < WORD {
        out.truncate(out.len() - WORD + plain);
        return at + plain;
    }
    let start = at + WORD;
    let end = next_special(bytes, start);
    out.extend_from_slice(&bytes[start..end]);
    end
}

/// What an escape of one character means, by that character; 0 for all others.
const SIMPLE: [u8; 128] = {
    let mut res = [0; 128];
    let pairs = [
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
        (b'b', 8),
        (b'f', 12),
        (b'n', b'\n'),
        (b'r', b'\r'),
        (b't', b'\t'),
    ];
    let mut at = 0;
    while at < pairs.len() {
        res[pairs[at].0 as usize] = pairs[at].1;
        at += 1;
    }
    res
};

/// The character of the escape at `at` and the length of its source; none for half a surrogate pair.
fn escape_at(bytes: &[u8], at: usize) -> (Option<char>, usize) {
    let simple = match bytes.get(at + 1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_at(bytes, at),
        Some(&other) if other.is_ascii() => char::from(other),
        // No escape at all, in a source that is not well formed.
        _ => return (Some(char::REPLACEMENT_CHARACTER), 1),
    };
    (Some(simple), 2)
}

fn unicode_at(bytes: &[u8], at: usize) -> (Option<char>, usize) {
    let Some(first) = hex_at(bytes, at + 2) else { return (None, 2) };
    if !(0xD800..0xDC00).contains(&first) {
        return (char::from_u32(first), 6);
    }
    let is_pair = bytes.get(at + 6..at + 8) == Some(br"\u");
    match hex_at(bytes, at + 8).filter(|it| is_pair && (0xDC00..0xE000).contains(it)) {
        Some(second) => {
            let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(code), 12)
        }
        None => (None, 6),
    }
}

fn hex_at(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = std::str::from_utf8(bytes.get(at..at + 4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}
