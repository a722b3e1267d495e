//! Appends JSON values to a buffer, with commas, colons, brackets and escapes, so no caller writes
//! them by hand. It checks nothing: a key outside of an object is a bug of the caller.
//!
//! Also white space between the tokens of a JSON text: measures, removes or normalises it. The text
//! must be well formed; otherwise the tokens are still those of a scan.

use crate::reader::copy_plain;
use crate::scan::{skip_blanks, string_end};

/// Writes JSON into a buffer of the caller.
///
/// Costs what is written; allocates nothing besides the buffer.
///
/// ```
/// use msg_json::Writer;
///
/// let mut out = Vec::new();
/// Writer::new(&mut out).object(|it| {
///     it.key("role").str("user");
///     it.key("tokens").array([1, 2], |it, n| it.u64(n));
///     it.key("extra").raw(r#"{"a": 1.0}"#);
///     it.key("name").opt_str(None);
/// });
/// assert_eq!(out, br#"{"role":"user","tokens":[1,2],"extra":{"a": 1.0},"name":null}"#);
/// ```
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// Whether this level already has a value, so the next needs a comma.
    comma: bool,
}

impl<'o> Writer<'o> {
    /// A writer of one value, which is appended to the buffer.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, comma: false }
    }

    /// Writes an object; `fill` writes its members.
    pub fn object(&mut self, fill: impl FnOnce(&mut Writer<'_>)) {
        self.nest(b'{', b'}', fill);
    }

    /// Writes an array; `each` writes the value of one item.
    pub fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Writer<'_>, T),
    ) {
        self.nest(b'[', b']', |it| items.into_iter().for_each(|item| each(it, item)));
    }

    /// Writes an array; `fill` writes its values.
    pub fn list(&mut self, fill: impl FnOnce(&mut Writer<'_>)) {
        self.nest(b'[', b']', fill);
    }

    /// Writes the name of a member. Its value must follow.
    #[inline]
    pub fn key(&mut self, name: &str) -> &mut Self {
        self.str(name);
        self.out.push(b':');
        self.comma = false;
        self
    }

    /// As [`Writer::key`], for a name that needs no escapes.
    #[inline]
    pub fn plain_key(&mut self, name: &'static str) -> &mut Self {
        debug_assert!(name.bytes().all(|it| it >= b' ' && it != b'"' && it != b'\\'), "{name}");
        self.separate();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.comma = false;
        self
    }

    /// Writes a member, unless the value is `None`.
    ///
    /// ```
    /// let json = msg_json::to_text(|it| {
    ///     it.object(|it| {
    ///         it.optional("a", Some(1), |it, n| it.u64(n));
    ///         it.optional("b", None::<u64>, |it, n| it.u64(n));
    ///     });
    /// });
    /// assert_eq!(json, r#"{"a":1}"#);
    /// ```
    pub fn optional<T>(
        &mut self,
        name: &str,
        value: Option<T>,
        write: impl FnOnce(&mut Writer<'_>, T),
    ) {
        if let Some(value) = value {
            write(self.key(name), value);
        }
    }

    /// Writes a string.
    #[inline]
    pub fn str(&mut self, text: &str) {
        self.separate();
        write_str(self.out, text);
    }

    /// Writes a string, or null if there is none.
    pub fn opt_str(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.str(text),
            None => self.null(),
        }
    }

    /// Writes a whole number.
    pub fn u64(&mut self, number: u64) {
        self.separate();
        write_u64(self.out, number);
    }

    /// Writes true or false.
    pub fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// Writes null.
    pub fn null(&mut self) {
        self.raw("null");
    }

    /// Writes text that is already a JSON value, unchanged.
    #[inline]
    pub fn raw(&mut self, json: &str) {
        self.separate();
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Writes text that is already a JSON value, without its white space.
    pub fn compact(&mut self, json: &str) {
        self.value(|out| write_compact(out, json));
    }

    /// Lends the buffer to a function that appends exactly one value.
    #[inline]
    pub fn value<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.separate();
        write(self.out)
    }

    /// Whether no value has been written at this level yet.
    pub fn is_empty(&self) -> bool {
        !self.comma
    }

    fn nest(&mut self, open: u8, close: u8, fill: impl FnOnce(&mut Writer<'_>)) {
        self.separate();
        self.out.push(open);
        fill(&mut Writer::new(self.out));
        self.out.push(close);
    }

    #[inline]
    fn separate(&mut self) {
        if self.comma {
            self.out.push(b',');
        }
        self.comma = true;
    }
}

/// Builds a JSON text with a [`Writer`].
///
/// ```
/// let json = msg_json::to_text(|it| it.array(["a", "b"], |it, text| it.str(text)));
/// assert_eq!(json, r#"["a","b"]"#);
/// ```
pub fn to_text(fill: impl FnOnce(&mut Writer<'_>)) -> String {
    // Fits most messages: growing step by step would move the text several times.
    let mut out = Vec::with_capacity(256);
    fill(&mut Writer::new(&mut out));
    String::from_utf8(out).expect("because only strings are written")
}

// Appends JSON tokens to a buffer. Text that is not ASCII is not escaped.

/// Appends a string with quotes; escapes quotes, backslashes and control characters.
///
/// ```
/// let mut out = Vec::new();
/// msg_json::write_str(&mut out, "a \"b\"\né");
/// assert_eq!(out, "\"a \\\"b\\\"\\né\"".as_bytes());
/// ```
#[inline]
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    // Room for the quotes and some escapes, and for the surplus of a copied word.
    out.reserve(bytes.len() + bytes.len() / 16 + 16);
    out.push(b'"');
    let mut at = 0;
    loop {
        at = copy_plain(bytes, at, out);
        let Some(&special) = bytes.get(at) else { break };
        write_escape(out, special);
        at += 1;
    }
    out.push(b'"');
}

/// Appends a whole number.
fn write_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(number.to_string().as_bytes());
}

#[inline]
fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => 0,
    };
    if short == 0 {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
        out.extend_from_slice(b"\\u00");
        return out.extend_from_slice(&digits);
    }
    out.extend_from_slice(&[b'\\', short]);
}

/// The tokens of a JSON text, in order: strings with their quotes, numbers and words, and single
/// structural characters.
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

/// An iterator over the tokens of a JSON text; see [`tokens`].
#[derive(Debug, Clone)]
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

/// A token with its kind, for a walk that skips most of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'t> {
    /// A bracket, a brace or a comma; a colon only if it does not follow a string.
    Mark(u8),
    /// The name of a member with its quotes; the colon after it is skipped.
    Name(&'t str),
    /// A string as written, with its quotes.
    Text(&'t str),
    /// A number or a word.
    Scalar(&'t str),
}

impl<'t> Tokens<'t> {
    /// The next token with its kind. Of a string, only the end is searched for.
    #[inline]
    pub fn next_token(&mut self) -> Option<Token<'t>> {
        let first = self.peek_byte()?;
        if matches!(first, b'{' | b'}' | b'[' | b']' | b',' | b':') {
            self.at += 1;
            return Some(Token::Mark(first));
        }
        let source = self.take_value("");
        Some(match first {
            b'"' if self.take_mark(b':') => Token::Name(source),
            b'"' => Token::Text(source),
            _ => Token::Scalar(source),
        })
    }

    /// The string, number or word that begins at the peeked byte, which must not be structural. If it is equal to
    /// `like`, its end is not searched for.
    #[inline]
    pub fn take_value(&mut self, like: &str) -> &'t str {
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let rest = bytes.get(start..).unwrap_or_default();
        self.at = match rest.first() {
            Some(b'"') if begins_with_string(rest, like.as_bytes()) => start + like.len(),
            Some(b'"') => string_end(bytes, start + 1).map_or(bytes.len(), |it| it + 1),
            Some(_) => scalar_end(bytes, start),
            None => start,
        };
        &self.text[start..self.at]
    }

    /// Skips this structural character if it is the next token.
    #[inline]
    pub fn take_mark(&mut self, mark: u8) -> bool {
        let is_next = self.peek_byte() == Some(mark);
        self.at += usize::from(is_next);
        is_next
    }

    /// Skips the byte that [`peek_byte`](Self::peek_byte) returned.
    #[inline]
    pub fn step(&mut self) {
        self.at += 1;
    }

    /// Reads the name of a member without its quotes and skips the colon after it. Returns `None` and
    /// reads nothing if the string at the peeked byte is not a name.
    #[inline]
    pub fn take_name(&mut self) -> Option<&'t str> {
        let (bytes, start) = (self.text.as_bytes(), self.at + 1);
        let end = short_end(bytes, start).or_else(|| string_end(bytes, start))?;
        let colon = skip_blanks(bytes, end + 1);
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        self.at = colon + 1;
        self.text.get(start..end)
    }

    /// Skips an object or list that is equal to `value`, if the last token was its opening bracket.
    /// Returns the rest.
    pub fn step_over(&mut self, value: &str) -> Option<&'t str> {
        let rest = self.text.get(self.at..)?;
        let found = rest.get(..value.len().checked_sub(1)?).filter(|it| *it == &value[1..])?;
        self.at += found.len();
        Some(found)
    }

    /// Skips the object or list whose opening bracket was the last token. Returns all of it.
    pub fn step_out(&mut self) -> Option<&'t str> {
        let start = self.at.checked_sub(1)?;
        let end = value_end(self.text.as_bytes(), start).unwrap_or(self.text.len());
        self.at = end;
        self.text.get(start..end)
    }

    /// The first byte of the next token, without consuming it.
    #[inline]
    pub fn peek_byte(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        self.at = skip_blanks(bytes, self.at);
        bytes.get(self.at).copied()
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

/// The offset after the value at `start`, which may have blanks before it; `None` if the text ends earlier. Searches
/// only for brackets and string ends, so it is several times faster than [`skip_value`](crate::skip_value), but does
/// not validate. Linear.
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

/// The end of a string without escapes that ends in its first two words, as nearly all names do.
#[inline]
fn short_end(bytes: &[u8], start: usize) -> Option<usize> {
    let first = word_at(bytes, start)?;
    let end = match special_in(first) {
        Some(len) => start + len,
        None => start + WORD + special_in(word_at(bytes, start + WORD)?)?,
    };
    (bytes[end] == b'"').then_some(end)
}

/// Whether bytes that begin with a quote start with this token, and it is certainly a complete string: its last quote
/// is not escaped. Two bytes usually rule it out.
#[inline]
fn begins_with_string(bytes: &[u8], token: &[u8]) -> bool {
    let [b'"', inner @ .., b'"'] = token else { return false };
    bytes.get(1) == token.get(1)
        && bytes.get(token.len() - 1) == Some(&b'"')
        && inner.last() != Some(&b'\\')
        && bytes.get(1..token.len() - 1) == Some(inner)
}

#[inline]
fn token_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => Some(string_end(bytes, start + 1).map_or(bytes.len(), |it| it + 1)),
        b'{' | b'}' | b'[' | b']' | b',' | b':' => Some(start + 1),
        _ => Some(scalar_end(bytes, start)),
    }
}

/// The end of a number or word at `start`: at least one byte after it.
fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let ends = |it: &u8| {
        matches!(it, b' ' | b'\n' | b'\r' | b'\t' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
    };
    let len = bytes[start + 1..].iter().position(ends);
    len.map_or(bytes.len(), |it| start + 1 + it)
}

// Finds the next quote, backslash or control character, 8 or 32 bytes at a time, because nearly all of a conversation
// is text between quotes. Knows no other JSON syntax.

/// The first offset from `at` on of a quote, a backslash or a control character, or the length.
#[inline]
pub(crate) fn next_special(bytes: &[u8], at: usize) -> usize {
    // Names, ids and text between escapes end within their first word.
    match word_at(bytes, at).map(special_in) {
        Some(Some(special)) => at + special,
        Some(None) => far_special(bytes, at + WORD),
        None => far_special(bytes, at),
    }
}

fn far_special(bytes: &[u8], mut at: usize) -> usize {
    // For longer texts, one more word is skipped in one step.
    if let Some(word) = word_at(bytes, at) {
        if let Some(special) = special_in(word) {
            return at + special;
        }
        at += WORD;
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

/// How many bytes to inspect at a time if one may be special.
pub(crate) const WORD: usize = 8;
/// How many bytes to inspect at a time if probably none is special.
const BLOCK: usize = 32;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The word at this offset; `None` if fewer bytes remain.
#[inline]
pub(crate) fn word_at(bytes: &[u8], at: usize) -> Option<&[u8; WORD]> {
    bytes.get(at..)?.first_chunk()
}

/// The word at this offset and its length, padded with zeros.
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

/// The block at this offset; `None` if fewer bytes remain.
#[inline]
fn block_at(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..)?.first_chunk()
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Whether a block has a special byte. Uses a maximum of numbers instead of `any`, which the compiler vectorises half
/// as well.
#[inline]
fn has_special(block: &[u8; BLOCK]) -> bool {
    let flag = |it: u8| u8::from(it == b'"') | u8::from(it == b'\\') | u8::from(it < 0x20);
    block.iter().fold(0, |most: u8, it| most.max(flag(*it))) > 0
}

/// The index of the first quote, backslash or control character in a word.
#[inline]
pub(crate) fn special_in(word: &[u8; WORD]) -> Option<usize> {
    let word = u64::from_le_bytes(*word);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero_in(word ^ (ONES * u64::from(b'"')));
    let backslash = zero_in(word ^ (ONES * u64::from(b'\\')));
    // Bits after the first hit may be wrong; the first one never is.
    let hits = (quote | backslash | control) & HIGHS;
    (hits != 0).then(|| (hits.trailing_zeros() / 8) as usize)
}

/// [`next_special`], or the next single quote.
#[inline]
pub(crate) fn next_of_single(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = word_at(bytes, at) {
        let single = zero_in(u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\''))) & HIGHS;
        let single = (single != 0).then(|| (single.trailing_zeros() / 8) as usize);
        match special_in(word).into_iter().chain(single).min() {
            Some(found) => return at + found,
            None => at += WORD,
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let found = rest.iter().position(|it| is_special(*it) || *it == b'\'');
    found.map_or(bytes.len(), |it| at + it)
}

/// The high bit of each zero byte; bits after the first may be wrong.
#[inline]
fn zero_in(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

/// The index of the first quote in a word.
#[inline]
pub(crate) fn quote_in(word: &[u8; WORD]) -> Option<usize> {
    let hits = zero_in(u64::from_le_bytes(*word) ^ (ONES * u64::from(b'"'))) & HIGHS;
    (hits != 0).then(|| (hits.trailing_zeros() / 8) as usize)
}

/// The offset of the next quote. Names and ids end within their first words; for long texts memchr is faster.
#[inline]
pub(crate) fn next_quote(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..2 {
        let Some(word) = word_at(bytes, at) else { break };
        if let Some(quote) = quote_in(word) {
            return Some(at + quote);
        }
        at += WORD;
    }
    memchr::memchr(b'"', bytes.get(at..)?).map(|it| at + it)
}
