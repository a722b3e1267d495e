//! A value as a tree that borrows its texts: for those who compare values, or look at members in any order.

use std::borrow::Cow;

use crate::error::JsonError;
use crate::reader::{Kind, Reader};

/// A JSON value. The order of members stays, and members that are there twice; numbers are compared by value, where an
/// integer and a fraction differ, as they do for a tokenizer (`1`, `1.0`).
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
    /// A number in one spelling: of an integer its own, of a fraction the shortest.
    Number(String),
    /// A string, without its escapes.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<JsonValue<'a>>),
    /// An object.
    Object(Vec<(Cow<'a, str>, JsonValue<'a>)>),
}

impl<'a> JsonValue<'a> {
    /// Reads a text; none if it is not one JSON value, or is nested more than 128 levels deep. Linear.
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

    /// The same with texts of its own.
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

    /// The member of an object that is not null; of one that is there twice the last.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let JsonValue::Object(members) = self else { return None };
        let found = members.iter().rev().find(|it| it.0 == name).map(|it| &it.1);
        found.filter(|it| **it != JsonValue::Null)
    }

    /// The first of these members that is there.
    pub fn any(&self, names: &[&str]) -> Option<&Self> {
        names.iter().find_map(|it| self.get(it))
    }

    /// The value at the end of a path of members.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |it, name| it.get(name))
    }

    /// Whether a member is there and not null.
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

    /// The elements of an array; none of another value.
    pub fn list(&self) -> &[Self] {
        if let JsonValue::List(it) = self { it } else { &[] }
    }

    /// The members of an object; none of another value.
    pub fn members(&self) -> &[(Cow<'a, str>, Self)] {
        if let JsonValue::Object(it) = self { it } else { &[] }
    }

    /// A number of a member.
    pub fn number(&self, name: &str) -> Option<f64> {
        let Some(JsonValue::Number(it)) = self.get(name) else { return None };
        it.parse().ok()
    }
}

/// One spelling of a number: `1e2` and `100.0` are equal, `100` is an integer.
fn one_spelling(text: &str) -> String {
    let is_integer = !text.contains(['.', 'e', 'E']);
    match text.parse::<f64>() {
        Ok(it) if !is_integer => format!("{it:?}"),
        _ => text.to_owned(),
    }
}
