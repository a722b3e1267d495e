//! Strings of JSON: from escapes to text. Half a surrogate pair becomes U+FFFD and is reported, not
//! refused (MS-8).

use std::borrow::Cow;

use super::scan::next_special;

/// A string that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonStr<'a> {
    /// The text, borrowed from the input unless it has escapes.
    pub text: Cow<'a, str>,
    /// Whether a lone surrogate escape in it was replaced by U+FFFD.
    pub lone_surrogate: bool,
}

/// Turns what stands between the quotes of a JSON string, already known to be well formed, into
/// its text.
///
/// ```
/// use msg_core::json::unescape;
///
/// assert_eq!(unescape(r"a\nb").text, "a\nb");
/// assert_eq!(unescape(r"\ud83e\udd80").text, "🦀");
/// assert!(unescape(r"\ud83e!").lone_surrogate);
/// ```
pub fn unescape(source: &str) -> JsonStr<'_> {
    if next_special(source.as_bytes(), 0) >= source.len() {
        return JsonStr { text: Cow::Borrowed(source), lone_surrogate: false };
    }
    let mut text = String::with_capacity(source.len());
    let lone_surrogate = unescape_into(source, &mut text);
    JsonStr { text: Cow::Owned(text), lone_surrogate }
}

/// Appends what stands between the quotes of a JSON string, as [`unescape`] reads it; says whether
/// a lone surrogate escape in it was replaced. For texts that grow, without an allocation a piece.
///
/// ```
/// let mut text = String::from("a");
/// assert!(!msg_core::json::unescape_into(r"\nb", &mut text));
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

/// The character of the escape at `at` and the length of its source; none for half a surrogate pair.
fn escape_at(bytes: &[u8], at: usize) -> (Option<char>, usize) {
    let simple = match bytes.get(at + 1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_at(bytes, at),
        Some(&other) => char::from(other),
        None => char::REPLACEMENT_CHARACTER,
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
