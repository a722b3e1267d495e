//! JSON values with the place of each in their text, so that an edit can name bytes. Nothing is copied
//! until a string is asked for; nothing here recurses.
//!
//! ```text
//! {"uuid":"u1","message":{"role":"user"}}
//!        ^---^ Value { source: "\"u1\"", at: 8 }
//! ```

use std::borrow::Cow;
use std::ops::Range;

use msg_core::RawJson;
use msg_json::Reader;

pub(crate) use msg_json::Kind;

/// A JSON value: its source, and the offset at which it is in the text of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    pub(crate) source: &'a str,
    pub(crate) at: usize,
}

/// An object: its members in order, with their places.
#[derive(Debug, Clone)]
pub(crate) struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
    /// Offset of the closing brace.
    close: usize,
}

impl<'a> Value<'a> {
    /// The value that makes up the whole text (white space around it aside), if that is one.
    pub(crate) fn whole(text: &'a str, at: usize) -> Option<Self> {
        let start = text.len() - text.trim_start_matches(BLANKS).len();
        let source = text[start..].trim_end_matches(BLANKS);
        msg_json::validate(source).ok()?;
        Some(Self { source, at: at + start })
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.at..self.at + self.source.len()
    }

    pub(crate) fn end(&self) -> usize {
        self.at + self.source.len()
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.source.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    pub(crate) fn is_true(&self) -> bool {
        self.source == "true"
    }

    /// The text of a string; lone surrogates read as U+FFFD.
    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        let inner = self.source.strip_prefix('"')?.strip_suffix('"')?;
        Some(msg_json::unescape(inner).text)
    }

    /// The text of a string, or the JSON of another value; of one over several lines, whose
    /// layout is that of the document and is not sent, without white space.
    pub(crate) fn plain(&self) -> String {
        if self.source.contains('\n') {
            let mut res = Vec::with_capacity(self.source.len());
            msg_json::write_compact(&mut res, self.source);
            return String::from_utf8(res).unwrap_or_else(|_| self.source.to_owned());
        }
        self.text().map_or_else(|| self.source.to_owned(), Into::into)
    }

    pub(crate) fn number(&self) -> Option<u64> {
        self.source.parse().ok()
    }

    /// The members of an object.
    pub(crate) fn object(&self) -> Option<Object<'a>> {
        Object::begin(self.source, self.at).map(|it| it.0)
    }

    /// The elements of an array.
    pub(crate) fn array(&self) -> Option<Vec<Value<'a>>> {
        let mut reader = Reader::from_text(self.source);
        reader.begin_array().ok()?;
        let mut res = Vec::new();
        while reader.next_element().ok()? {
            let at = self.at + reader.next_offset();
            res.push(Value { source: reader.raw().ok()?, at });
        }
        Some(res)
    }

    /// The member of this name, of an object.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.object()?.get(name)
    }

    /// The object that is the member of this name.
    pub(crate) fn inner(&self, name: &str) -> Option<Object<'a>> {
        self.get(name)?.object()
    }

    /// The elements of the member of this name; none of what is not a list.
    pub(crate) fn list(&self, name: &str) -> Vec<Value<'a>> {
        self.get(name).and_then(|it| it.array()).unwrap_or_default()
    }

    pub(crate) fn raw_json(&self) -> RawJson {
        raw_json(self.source)
    }
}

/// The JSON of a source. What is broken inside, as a row of a store can be, is kept as a text.
pub(crate) fn raw_json(source: &str) -> RawJson {
    RawJson::new(source).unwrap_or_else(|_| RawJson::from(serde_json::Value::from(source)))
}

impl<'a> Object<'a> {
    /// The object that a text begins with, and the offset after it in that text.
    pub(crate) fn begin(text: &'a str, at: usize) -> Option<(Self, usize)> {
        let mut reader = Reader::from_text(text);
        reader.begin_object().ok()?;
        let mut members = Vec::with_capacity(16);
        while let Some(key) = reader.next_key().ok()? {
            let start = at + reader.next_offset();
            members.push((key.text, Value { source: reader.raw().ok()?, at: start }));
        }
        let end = reader.offset();
        Some((Self { members, close: at + end - 1 }, end))
    }

    /// The object that makes up a whole text.
    pub(crate) fn whole(text: &'a str, at: usize) -> Option<Self> {
        let (res, end) = Self::begin(text, at)?;
        text[end..].trim_start_matches(BLANKS).is_empty().then_some(res)
    }

    /// The last member of this name: of several the last one counts (MS-8).
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.members.iter().rev().find(|it| it.0 == name).map(|it| it.1)
    }

    /// The object that is the member of this name.
    pub(crate) fn inner(&self, name: &str) -> Option<Object<'a>> {
        self.get(name)?.object()
    }

    /// The elements of the member of this name; none of what is not a list.
    pub(crate) fn list(&self, name: &str) -> Vec<Value<'a>> {
        self.get(name).and_then(|it| it.array()).unwrap_or_default()
    }

    /// The text of a string member.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }

    /// What a member says: the text of a string, the JSON of any other value. None if there is none, or null.
    pub(crate) fn plain(&self, name: &str) -> Option<String> {
        self.get(name).filter(|it| !it.is_null()).map(|it| it.plain())
    }

    /// The parts that a member holds, each with its number in the list. A value that is not a list is one part; null and
    /// an empty text are none.
    pub(crate) fn blocks(&self, name: &str) -> Vec<(Option<usize>, Value<'a>)> {
        let Some(value) = self.get(name) else { return Vec::new() };
        match value.array() {
            Some(list) => list.into_iter().enumerate().map(|(n, it)| (Some(n), it)).collect(),
            None if value.is_null() || value.source == "\"\"" => Vec::new(),
            None => vec![(None, value)],
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|it| it.is_true())
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.members.iter().map(|(name, value)| (&**name, *value))
    }

    /// Where a new member goes, and whether a comma is before it: after the last one (SE-5).
    pub(crate) fn end_of_members(&self) -> (usize, bool) {
        match self.members.last() {
            Some((_, last)) => (last.end(), true),
            None => (self.close, false),
        }
    }
}

pub(crate) const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// A JSON string with its quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    msg_json::write_str(&mut out, text);
    String::from_utf8(out).expect("because an escaped text is UTF-8")
}
