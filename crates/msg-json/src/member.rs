//! One member of an object, without reading the rest into anything.

use std::borrow::Cow;

use crate::{Kind, Reader};

/// The string member of this name at the top of a JSON object; the last one, if there are several.
/// None if the text is not an object, or the member is missing or not a string. Linear in the text.
///
/// ```
/// use msg_json::string_member;
///
/// assert_eq!(string_member(r#"{"n": 1, "type": "text"}"#, "type").as_deref(), Some("text"));
/// assert_eq!(string_member(r#"{"type": 1}"#, "type"), None);
/// ```
pub fn string_member<'a>(json: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let mut reader = Reader::from_text(json);
    reader.begin_object().ok()?;
    let mut res = None;
    while let Some(key) = reader.next_key().ok()? {
        if key.text != name {
            reader.raw().ok()?;
        } else if reader.peek().ok()? == Kind::String {
            res = Some(reader.string().ok()?.text);
        } else {
            reader.raw().ok()?;
            res = None;
        }
    }
    res
}
