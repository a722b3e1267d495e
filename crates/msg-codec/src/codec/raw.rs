//! Raw members, borrowed from where they are kept, on their way into an object or out of one.

use std::borrow::Cow;

use msg_core::{Extra, Origin, RawJson};
use msg_json::{JsonError, Reader};

/// One member whose value is written as it is.
pub struct RawMember<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its value: JSON text.
    pub value: &'a str,
}

/// The members of a format in an [`Extra`], but those that `skip` names.
pub fn members_of<'a>(extra: &'a Extra, origin: &'a Origin, skip: &[&str]) -> Vec<RawMember<'a>> {
    if extra.is_empty() {
        return Vec::new();
    }
    let own = extra.iter(origin).filter(|(name, _)| !skip.contains(name));
    own.map(|(name, value)| RawMember { name: Cow::Borrowed(name), value: value.text() }).collect()
}

/// The members of a raw object; none if it is no object.
pub fn object_members(raw: &RawJson) -> Option<Vec<RawMember<'_>>> {
    let mut reader = Reader::from_text(raw.text());
    reader.begin_object().ok()?;
    let mut res = Vec::new();
    while let Some(key) = reader.next_key().ok()? {
        res.push(RawMember { name: key.text, value: reader.raw().ok()? });
    }
    Some(res)
}

/// The object that has these members.
pub fn object_of<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> RawJson {
    RawJson::written(|it| it.object(|it| members.for_each(|(name, value)| it.key(name).raw(value))))
}

/// The text of a raw value that is a string, and whether half a surrogate pair was replaced in it.
pub fn text_of(raw: &str) -> Option<(Cow<'_, str>, bool)> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    let res = msg_json::unescape(inner);
    Some((res.text, res.lone_surrogate))
}

/// The first `type` of an object, if it is a string; the reader stands before the object.
pub fn type_of(mut reader: Reader<'_>) -> Result<Option<Cow<'_, str>>, JsonError> {
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = reader.raw()?;
        if key.text == "type" {
            return Ok(text_of(value).map(|it| it.0));
        }
    }
    Ok(None)
}
