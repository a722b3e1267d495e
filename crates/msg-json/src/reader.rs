//! The pull reader: the caller says what it expects next, the reader gives it or the place where
//! they find something else. How deep known positions nest is limited; raw values are not.

use crate::{
    RawJson,
    error::{JsonError, Problem},
    scan::{self, skip_blanks, unexpected},
    string::{self, JsonStr},
    words::next_special,
};

/// What kind of value comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`
    Null,
}

impl Kind {
    /// The kind as words: `an object`, `a string` …
    pub fn name(self) -> &'static str {
        match self {
            Kind::Object => "an object",
            Kind::Array => "an array",
            Kind::String => "a string",
            Kind::Number => "a number",
            Kind::Bool => "a boolean",
            Kind::Null => "null",
        }
    }
}

/// Reads a JSON document from left to right, once, in document order.
///
/// Objects and arrays are walked with [`Reader::begin_object`] and [`Reader::next_key`], or
/// [`Reader::begin_array`] and [`Reader::next_element`]; each key and element must be followed by
/// reading exactly one value. A copy of a reader is a bookmark.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Whether a container was just opened, so that its next element follows without a comma.
    fresh: bool,
    depth: usize,
}

/// How deep known positions may nest (MS-8).
const MAX_DEPTH: usize = 128;

impl<'a> Reader<'a> {
    /// A reader of these bytes; a byte order mark at the start is skipped.
    ///
    /// # Errors
    /// The bytes are not UTF-8; checked here, once, for the whole input.
    pub fn new(bytes: &'a [u8]) -> Result<Self, JsonError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::from_text(text)),
            Err(it) => Err(JsonError::new(it.valid_up_to(), Problem::Utf8)),
        }
    }

    /// A reader of this text; a byte order mark at the start is skipped.
    pub fn from_text(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at, fresh: false, depth: 0 }
    }

    /// The byte offset of what is read next, white space before it not yet skipped.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The byte offset of the next token.
    pub fn next_offset(&mut self) -> usize {
        self.skip_blanks();
        self.at
    }

    /// The kind of the next value, which stays to be read.
    ///
    /// # Errors
    /// No value begins here.
    #[inline]
    pub fn peek(&mut self) -> Result<Kind, JsonError> {
        self.skip_blanks();
        match self.bytes().get(self.at) {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            _ => Err(unexpected(self.bytes(), self.at, "a value")),
        }
    }

    /// Steps into an object.
    ///
    /// # Errors
    /// Something else is here, or it is nested too deeply.
    pub fn begin_object(&mut self) -> Result<(), JsonError> {
        self.begin(Kind::Object, "an object")
    }

    /// The name of the next member, or none at the end of the object.
    ///
    /// # Errors
    /// Neither a member nor the end of an object is here.
    #[inline]
    pub fn next_key(&mut self) -> Result<Option<JsonStr<'a>>, JsonError> {
        if !self.more(b'}', "',' or '}'")? {
            return Ok(None);
        }
        if self.bytes().get(self.at) != Some(&b'"') {
            return Err(unexpected(self.bytes(), self.at, "a member name"));
        }
        let key = self.take_string()?;
        self.skip_blanks();
        if self.bytes().get(self.at) != Some(&b':') {
            return Err(unexpected(self.bytes(), self.at, "':'"));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Steps into an array.
    ///
    /// # Errors
    /// Something else is here, or it is nested too deeply.
    pub fn begin_array(&mut self) -> Result<(), JsonError> {
        self.begin(Kind::Array, "an array")
    }

    /// Whether another element follows; false at the end of the array, which is then consumed.
    ///
    /// # Errors
    /// Neither an element nor the end of an array is here.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, JsonError> {
        self.more(b']', "',' or ']'")
    }

    /// Reads a string.
    ///
    /// # Errors
    /// Something else is here, or it is malformed.
    #[inline]
    pub fn string(&mut self) -> Result<JsonStr<'a>, JsonError> {
        self.expect(Kind::String, "a string")?;
        self.take_string()
    }

    /// Reads a number, as it is spelled.
    ///
    /// # Errors
    /// Something else is here, or it is malformed.
    pub fn number(&mut self) -> Result<&'a str, JsonError> {
        self.expect(Kind::Number, "a number")?;
        self.raw()
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// Something else is here.
    pub fn boolean(&mut self) -> Result<bool, JsonError> {
        self.expect(Kind::Bool, "a boolean")?;
        Ok(self.raw()? == "true")
    }

    /// Reads `null`.
    ///
    /// # Errors
    /// Something else is here.
    pub fn null(&mut self) -> Result<(), JsonError> {
        self.expect(Kind::Null, "null")?;
        self.raw().map(|_| ())
    }

    /// Reads a value of any kind and depth and gives its source text, without white space around.
    ///
    /// # Errors
    /// It is malformed.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a str, JsonError> {
        self.skip_blanks();
        let start = self.at;
        self.at = scan::skip_value(self.bytes(), start)?;
        self.fresh = false;
        Ok(&self.text[start..self.at])
    }

    /// As [`Reader::raw`], kept.
    ///
    /// # Errors
    /// It is malformed.
    pub fn raw_json(&mut self) -> Result<RawJson, JsonError> {
        self.raw().map(RawJson::from_walked)
    }

    /// The source text between two offsets that this reader has given.
    pub fn source(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Checks that nothing but white space follows.
    ///
    /// # Errors
    /// Something does.
    pub fn finish(&mut self) -> Result<(), JsonError> {
        self.skip_blanks();
        if self.at < self.text.len() {
            return Err(JsonError::new(self.at, Problem::Trailing));
        }
        Ok(())
    }

    /// An error at the next value: its kind is not the one that the caller's format has here.
    pub fn wrong_kind(&mut self, expected: &'static str) -> JsonError {
        match self.peek() {
            Ok(found) => JsonError::new(self.at, Problem::Kind { found: found.name(), expected }),
            Err(it) => it,
        }
    }

    #[inline]
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    #[inline]
    fn skip_blanks(&mut self) {
        self.at = skip_blanks(self.bytes(), self.at);
    }

    fn expect(&mut self, kind: Kind, expected: &'static str) -> Result<(), JsonError> {
        if self.peek()? == kind { Ok(()) } else { Err(self.wrong_kind(expected)) }
    }

    fn begin(&mut self, kind: Kind, expected: &'static str) -> Result<(), JsonError> {
        self.expect(kind, expected)?;
        if self.depth >= MAX_DEPTH {
            return Err(JsonError::new(self.at, Problem::Depth(MAX_DEPTH)));
        }
        self.depth += 1;
        self.at += 1;
        self.fresh = true;
        Ok(())
    }

    #[inline]
    fn more(&mut self, close: u8, expected: &'static str) -> Result<bool, JsonError> {
        self.skip_blanks();
        let fresh = std::mem::take(&mut self.fresh);
        match self.bytes().get(self.at) {
            Some(&it) if it == close => {
                self.at += 1;
                self.depth = self.depth.saturating_sub(1);
                Ok(false)
            }
            _ if fresh => Ok(true),
            Some(b',') => {
                self.at += 1;
                self.skip_blanks();
                Ok(true)
            }
            _ => Err(unexpected(self.bytes(), self.at, expected)),
        }
    }

    #[inline]
    fn take_string(&mut self) -> Result<JsonStr<'a>, JsonError> {
        self.fresh = false;
        let start = self.at + 1;
        let end = next_special(self.bytes(), start);
        if self.bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(JsonStr::plain(&self.text[start..end]));
        }
        let (res, after) = string::take_escaped(self.text, start, end)?;
        self.at = after;
        Ok(res)
    }
}
