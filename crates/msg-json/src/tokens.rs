//! White space between the tokens of a JSON text: measured, left out, or made uniform. The text is
//! taken to be well formed; of one that is not, the tokens are still those of a scan.

use crate::scan::{skip_blanks, string_end};
use crate::words::next_special;

/// The tokens of a JSON text, in order: strings with their quotes, numbers and words, and the single
/// characters of the structure.
///
/// ```
/// use msg_json::tokens;
///
/// let found: Vec<_> = tokens(r#"{"a": [1, true]}"#).collect();
/// assert_eq!(found, ["{", "\"a\"", ":", "[", "1", ",", "true", "]", "}"]);
/// ```
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

/// Steps over the tokens of a JSON text; see [`tokens`].
#[derive(Debug, Clone)]
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

/// A token by its kind, for a walk that looks at few of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'t> {
    /// A bracket, a brace, a comma or a colon.
    Mark(u8),
    /// A string, with its quotes.
    Text {
        /// As it is written.
        source: &'t str,
        /// Whether it has an escape that a writer need not use: one of a code point, or that of a slash.
        is_spelled_freely: bool,
    },
    /// A number or a word.
    Scalar(&'t str),
}

impl<'t> Tokens<'t> {
    /// The next token by its kind. One pass over a string.
    #[inline]
    pub fn next_token(&mut self) -> Option<Token<'t>> {
        let bytes = self.text.as_bytes();
        match self.peek_byte()? {
            mark @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => {
                self.at += 1;
                Some(Token::Mark(mark))
            }
            b'"' => {
                let start = self.at;
                let is_spelled_freely = self.skip_text();
                Some(Token::Text { source: &self.text[start..self.at], is_spelled_freely })
            }
            _ => {
                let start = self.at;
                self.at = scalar_end(bytes, start);
                Some(Token::Scalar(&self.text[start..self.at]))
            }
        }
    }

    /// Steps over a string; says whether it is spelled freely.
    #[inline]
    fn skip_text(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let (mut at, mut is_spelled_freely) = (self.at + 1, false);
        loop {
            at = next_special(bytes, at);
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    is_spelled_freely |= matches!(bytes.get(at + 1), Some(b'u' | b'/'));
                    at += 2;
                }
                Some(_) => at += 1,
                None => break,
            }
        }
        self.at = (at + 1).min(bytes.len());
        is_spelled_freely
    }

    /// The first byte of the next token, which stays to be read.
    #[inline]
    pub fn peek_byte(&mut self) -> Option<u8> {
        self.at = skip_blanks(self.text.as_bytes(), self.at);
        self.text.as_bytes().get(self.at).copied()
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    #[inline]
    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        let start = skip_blanks(bytes, self.at);
        self.at = token_end(bytes, start)?;
        Some(&self.text[start..self.at])
    }
}

/// The offset after the value at `start`, blanks before it allowed; none if the text ends before that. It
/// looks for brackets and the ends of strings only, so that it is several times faster than [`skip_value`](crate::skip_value),
/// and says nothing about a text that is not well formed. Linear.
///
/// ```
/// use msg_json::value_end;
///
/// assert_eq!(value_end(br#"[{"a]": 1}, 2] "#, 0), Some(14));
/// assert_eq!(value_end(br#"["a \\ \"b\"", 1]"#, 1), Some(13));
/// assert_eq!(value_end(b"[1", 0), None);
/// ```
pub fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = skip_blanks(bytes, start);
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at + 1)? + 1,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' if depth == 0 => return None,
            b',' | b':' => at += 1,
            _ => at = scalar_end(bytes, at),
        }
        if depth == 0 {
            return Some(at);
        }
        at = skip_blanks(bytes, at);
    }
}

/// Appends the text without white space between tokens.
pub fn write_compact(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len());
    tokens(text).for_each(|it| out.extend_from_slice(it.as_bytes()));
}

/// Appends the text with one space after each comma and colon of the structure and no other white
/// space (OA-9): `{"a": 1, "b": "x,y"}`.
pub fn write_spaced(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + text.len() / 8);
    for token in tokens(text) {
        out.extend_from_slice(token.as_bytes());
        if token == "," || token == ":" {
            out.push(b' ');
        }
    }
}

#[inline]
fn token_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => Some(string_end(bytes, start + 1).map_or(bytes.len(), |it| it + 1)),
        b'{' | b'}' | b'[' | b']' | b',' | b':' => Some(start + 1),
        _ => Some(scalar_end(bytes, start)),
    }
}

/// Where a number or a word that begins at `start` ends: at least one byte after it.
fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let ends = |it: &u8| {
        matches!(it, b' ' | b'\n' | b'\r' | b'\t' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
    };
    let len = bytes[start + 1..].iter().position(ends);
    len.map_or(bytes.len(), |it| start + 1 + it)
}
