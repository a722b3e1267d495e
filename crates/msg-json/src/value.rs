//! A JSON value: as a tree that borrows its texts, for comparisons and access in any order; as its exact source text,
//! for JSON that is carried unchanged; and the classification of texts that should be JSON, such as the arguments of a
//! call: whole, truncated, or not JSON.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _, MapAccess, Unexpected, Visitor},
    ser::Error as _,
};
use serde_json::value::RawValue;

use crate::reader::Kind;
use crate::scan::{skip_blanks, skip_limited};
use crate::{JsonError, Problem, Reader, Writer, to_text, tokens, validate, write_compact};

/// A JSON value that keeps the order of members and duplicate members. Numbers are compared by value, but integers and
/// fractions differ (`1`, `1.0`), as they do for a tokenizer.
///
/// ```
/// use msg_json::JsonValue;
///
/// let value = JsonValue::read(br#"{"role":"user","n":1e1,"parts":[{"text":"hi"}]}"#).expect("because it is JSON");
/// assert_eq!((value.text_of("role"), value.number("n")), (Some("user"), Some(10.0)));
/// assert_eq!(value.get("parts").map(|it| it.list()[0].text_of("text")), Some(Some("hi")));
/// assert_eq!(value.get("n"), Some(&JsonValue::Number("10.0".to_owned())));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum JsonValue<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number in a normalized spelling: an integer keeps its own, a fraction has the shortest.
    Number(String),
    /// A string, without its escapes.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<JsonValue<'a>>),
    /// An object.
    Object(Vec<(Cow<'a, str>, JsonValue<'a>)>),
}

impl<'a> JsonValue<'a> {
    /// Parses a text; `None` if it is not a single JSON value or nests deeper than 128 levels. Linear.
    pub fn read(json: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(json).ok()?;
        let res = Self::next(&mut reader).ok()?;
        reader.finish().ok().map(|()| res)
    }

    /// Reads the next value of a reader.
    ///
    /// # Errors
    /// It is malformed, or nested too deeply.
    pub fn next(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        Ok(match reader.peek()? {
            Kind::Null => reader.null().map(|()| JsonValue::Null)?,
            Kind::Bool => JsonValue::Bool(reader.boolean()?),
            Kind::Number => JsonValue::Number(one_spelling(reader.number()?)),
            Kind::String => JsonValue::Text(reader.string()?.text),
            Kind::Array => {
                let mut list = Vec::new();
                reader.begin_array()?;
                while reader.next_element()? {
                    list.push(Self::next(reader)?);
                }
                JsonValue::List(list)
            }
            Kind::Object => {
                let mut members = Vec::new();
                reader.begin_object()?;
                while let Some(name) = reader.next_key()? {
                    members.push((name.text, Self::next(reader)?));
                }
                JsonValue::Object(members)
            }
        })
    }

    /// The value with owned texts.
    #[must_use]
    pub fn into_owned(self) -> JsonValue<'static> {
        let own = |it: Cow<'a, str>| Cow::Owned(it.into_owned());
        match self {
            JsonValue::Null => JsonValue::Null,
            JsonValue::Bool(it) => JsonValue::Bool(it),
            JsonValue::Number(it) => JsonValue::Number(it),
            JsonValue::Text(it) => JsonValue::Text(own(it)),
            JsonValue::List(it) => {
                JsonValue::List(it.into_iter().map(JsonValue::into_owned).collect())
            }
            JsonValue::Object(it) => {
                JsonValue::Object(it.into_iter().map(|it| (own(it.0), it.1.into_owned())).collect())
            }
        }
    }

    /// The member of an object with this name, unless it is null; the last one of duplicates.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let JsonValue::Object(members) = self else { return None };
        let found = members.iter().rev().find(|it| it.0 == name).map(|it| &it.1);
        found.filter(|it| **it != JsonValue::Null)
    }

    /// The first of these members that exists.
    pub fn any(&self, names: &[&str]) -> Option<&Self> {
        names.iter().find_map(|it| self.get(it))
    }

    /// The value at the end of a path of members.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |it, name| it.get(name))
    }

    /// Whether the member exists and is not null.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        if let JsonValue::Text(it) = self { Some(it) } else { None }
    }

    /// The text of a member.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(JsonValue::text)
    }

    /// The elements of an array; empty for other values.
    pub fn list(&self) -> &[Self] {
        if let JsonValue::List(it) = self { it } else { &[] }
    }

    /// The members of an object; empty for other values.
    pub fn members(&self) -> &[(Cow<'a, str>, Self)] {
        if let JsonValue::Object(it) = self { it } else { &[] }
    }

    /// The number in a member.
    pub fn number(&self, name: &str) -> Option<f64> {
        let Some(JsonValue::Number(it)) = self.get(name) else { return None };
        it.parse().ok()
    }
}

/// A normalised spelling of a number: `1e2` and `100.0` are equal, `100` is an integer.
fn one_spelling(text: &str) -> String {
    let is_integer = !text.contains(['.', 'e', 'E']);
    match text.parse::<f64>() {
        Ok(it) if !is_integer => format!("{it:?}"),
        _ => text.to_owned(),
    }
}

/// A JSON value as its source text: numbers keep their spelling, members their order, and nesting
/// may have any depth (MS-8).
///
/// Two values are equal if their texts are equal apart from white space between tokens.
///
/// ```
/// use msg_json::RawJson;
///
/// let raw = RawJson::new(r#"{"n": 1.0}"#)?;
/// assert_eq!(raw.text(), r#"{"n": 1.0}"#);
/// assert_eq!(raw, RawJson::new(r#"{"n":1.0}"#)?);
/// assert_eq!(raw.compact_len(), 9);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// Takes a text that is one JSON value, and trims surrounding white space.
    ///
    /// # Errors
    /// The text is not exactly one JSON value; the error has the byte offset.
    pub fn new(text: impl Into<String>) -> Result<Self, JsonError> {
        let mut text = text.into();
        validate(&text)?;
        let blanks = [' ', '\n', '\r', '\t'];
        if text.starts_with(blanks) || text.ends_with(blanks) {
            text = text.trim_matches(blanks).to_owned();
        }
        Ok(Self(text.into_boxed_str()))
    }

    /// Takes a text that a reader has already validated.
    pub(crate) fn from_walked(text: &str) -> Self {
        Self(text.into())
    }

    /// The value that `fill` writes. It is not validated: a writer writes JSON.
    ///
    /// ```
    /// use msg_json::RawJson;
    ///
    /// let raw = RawJson::written(|it| it.object(|it| it.key("n").u64(1)));
    /// assert_eq!(raw.text(), r#"{"n":1}"#);
    /// ```
    pub fn written(fill: impl FnOnce(&mut Writer<'_>)) -> Self {
        Self(to_text(fill).into_boxed_str())
    }

    /// The JSON string with this text.
    pub fn string(text: &str) -> Self {
        Self::written(|it| it.str(text))
    }

    /// A number in JSON with a decimal point, which marks a fraction; `None` if JSON cannot represent it.
    ///
    /// ```
    /// use msg_json::RawJson;
    ///
    /// assert_eq!(RawJson::fraction(1.0).as_ref().map(RawJson::text), Some("1.0"));
    /// assert_eq!(RawJson::fraction(f64::NAN), None);
    /// ```
    pub fn fraction(number: f64) -> Option<Self> {
        Self::new(format!("{number:?}")).ok()
    }

    /// The source text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Reads the value into a type.
    ///
    /// # Errors
    /// The error of serde_json: the value does not fit the type, or nests deeper than 128 levels.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    /// The members of an object, in order, with duplicates; `None` for other values. Linear.
    ///
    /// ```
    /// use msg_json::RawJson;
    ///
    /// let members = RawJson::new(r#"{"a":1.0,"b":[]}"#)?.members().expect("because it is an object");
    /// assert_eq!((members[0].0.as_str(), members[0].1.text()), ("a", "1.0"));
    /// # Ok::<(), msg_json::JsonError>(())
    /// ```
    pub fn members(&self) -> Option<Vec<(String, RawJson)>> {
        let mut reader = Reader::from_text(self.text());
        reader.begin_object().ok()?;
        let mut res = Vec::new();
        while let Some(name) = reader.next_key().ok()? {
            res.push((name.text.into_owned(), reader.raw_json().ok()?));
        }
        Some(res)
    }

    /// Serialises an object member by member, so that serde can add members around them, as for an internally tagged enum
    /// or a flattened member (`#[serde(flatten, serialize_with = "RawJson::serialize_members")]`); other values as they
    /// are. The source texts of the members stay.
    pub fn serialize_members<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.members() {
            Some(members) => serializer.collect_map(members),
            None => self.serialize(serializer),
        }
    }

    /// The members of an object that are not null, in order; `None` for other values.
    pub fn present_members(&self) -> Option<Vec<(String, RawJson)>> {
        let mut members = self.members()?;
        members.retain(|it| it.1.text() != "null");
        Some(members)
    }

    /// The first member with this name that is not null; `None` for values that are not objects.
    ///
    /// ```
    /// use msg_json::RawJson;
    ///
    /// let raw = RawJson::new(r#"{"type":"auto","n":null}"#)?;
    /// assert_eq!(raw.member("type").as_ref().map(RawJson::text), Some("\"auto\""));
    /// assert_eq!(raw.member("n"), None);
    /// assert_eq!(raw.member_text("type").as_deref(), Some("auto"));
    /// # Ok::<(), msg_json::JsonError>(())
    /// ```
    pub fn member(&self, name: &str) -> Option<Self> {
        self.present_members()?.into_iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// As [`RawJson::member`], for a string.
    pub fn member_text(&self, name: &str) -> Option<String> {
        self.member(name)?.parse().ok()
    }

    /// The member of an object that has no other members, ignoring nulls.
    pub fn only_member(&self, name: &str) -> Option<Self> {
        let mut members = self.present_members()?;
        let only = members.pop().filter(|it| members.is_empty() && it.0 == name);
        only.map(|it| it.1)
    }

    /// This value, if it is a number.
    pub fn number(&self) -> Option<Self> {
        self.parse::<f64>().is_ok().then(|| self.clone())
    }

    /// The length in bytes of the text without white space between tokens (CA-20).
    pub fn compact_len(&self) -> usize {
        tokens(self.text()).map(str::len).sum()
    }

    /// Appends the text without white space between tokens, which makes it a single line.
    pub fn write_compact(&self, out: &mut Vec<u8>) {
        write_compact(out, self.text());
    }
}

impl FromStr for RawJson {
    type Err = JsonError;

    /// As [`RawJson::new`].
    fn from_str(text: &str) -> Result<Self, JsonError> {
        Self::new(text)
    }
}

impl From<serde_json::Value> for RawJson {
    /// The value, written without white space.
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into_boxed_str())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || tokens(self.text()).eq(tokens(other.text()))
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({})", self.text())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The text is JSON; serde_json's type requires parsing it again.
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// The name by which serde_json knows that a source text is asked for.
const SOURCE_TEXT: &str = "$serde_json::private::RawValue";

/// Reads the source text from serde_json. Where serde holds a value in between, for an internally tagged or untagged enum
/// or a flattened member, it reads that value; numbers are then those of `serde_json::Value`.
impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SOURCE_TEXT, RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, held: D) -> Result<RawJson, D::Error> {
        serde_json::Value::deserialize(held).map(RawJson::from)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawJson, A::Error> {
        match map.next_key::<&str>()? {
            Some(SOURCE_TEXT) => map.next_value().map(RawJson),
            _ => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}

/// The kind of a whole text, as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextState {
    /// An object.
    Object,
    /// Another JSON value.
    Value,
    /// The beginning of a JSON value, or blank text.
    Incomplete,
    /// Not JSON, or nested deeper than 512 levels.
    Invalid,
}

/// The depth above which argument texts count as invalid (CA-55).
const CLASSIFY_DEPTH: usize = 512;

/// Classifies a whole text as JSON. One pass; allocates only for nesting beyond 64 levels.
///
/// ```
/// use msg_json::{TextState, classify};
///
/// assert_eq!(classify(r#" {"a": 1} "#), TextState::Object);
/// assert_eq!(classify("[1]"), TextState::Value);
/// assert_eq!(classify(r#"{"a": "x"#), TextState::Incomplete);
/// assert_eq!(classify("{} {}"), TextState::Invalid);
/// ```
pub fn classify(text: &str) -> TextState {
    let bytes = text.as_bytes();
    let start = skip_blanks(bytes, 0);
    match skip_limited(bytes, start, CLASSIFY_DEPTH) {
        Ok(end) if skip_blanks(bytes, end) < bytes.len() => TextState::Invalid,
        Ok(_) if bytes[start] == b'{' => TextState::Object,
        Ok(_) => TextState::Value,
        Err(JsonError { problem: Problem::End { .. }, .. }) => TextState::Incomplete,
        Err(_) => TextState::Invalid,
    }
}
