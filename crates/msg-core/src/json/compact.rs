//! White space between the tokens of a JSON text: measured, left out, or made uniform. The text is
//! taken to be well formed; of one that is not, the tokens are still those of a scan.

use super::scan::{skip_blanks, string_end};

/// The tokens of a JSON text, in order: strings with their quotes, numbers and words, and the single
/// characters of the structure.
///
/// ```
/// use msg_core::json::tokens;
///
/// let found: Vec<_> = tokens(r#"{"a": [1, true]}"#).collect();
/// assert_eq!(found, ["{", "\"a\"", ":", "[", "1", ",", "true", "]", "}"]);
/// ```
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = skip_blanks(bytes, at);
        at = token_end(bytes, start)?;
        Some(&text[start..at])
    })
}

/// Length of the text without white space between tokens, in bytes.
pub(crate) fn compact_len(text: &str) -> usize {
    tokens(text).map(str::len).sum()
}

/// Appends the text without white space between tokens.
pub fn write_compact(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len());
    tokens(text).for_each(|it| out.extend_from_slice(it.as_bytes()));
}

/// Appends the text with one space behind each comma and colon of the structure and no other white
/// space (OA-9): `{"a": 1, "b": "x,y"}`.
pub(crate) fn write_spaced(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + text.len() / 8);
    for token in tokens(text) {
        out.extend_from_slice(token.as_bytes());
        if token == "," || token == ":" {
            out.push(b' ');
        }
    }
}

fn token_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => Some(string_end(bytes, start + 1).map_or(bytes.len(), |it| it + 1)),
        b'{' | b'}' | b'[' | b']' | b',' | b':' => Some(start + 1),
        _ => {
            let ends = |it: &u8| b" \n\r\t{}[],:\"".contains(it);
            let len = bytes[start..].iter().position(ends);
            Some(len.map_or(bytes.len(), |it| start + it))
        }
    }
}
