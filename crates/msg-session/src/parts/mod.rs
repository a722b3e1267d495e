//! From the blocks of providers to message parts, for the views of sessions.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod goose;
pub(crate) mod items;
pub(crate) mod openai;
pub(crate) mod xml;

use msg_core::{Extra, Origin};

use crate::json::Object;

/// What stands for a result that was never recorded.
pub(crate) const INTERRUPTED: &str = "[interrupted: no result was recorded]";

/// The text of a string member, `""` if there is none.
pub(crate) fn text(object: &Object<'_>, name: &str) -> String {
    object.text(name).map(Into::into).unwrap_or_default()
}

/// The members that are none of the known ones.
pub(crate) fn extra(object: &Object<'_>, origin: &Origin, known: &[&str]) -> Extra {
    let mut res = Extra::default();
    for (name, value) in object.iter().filter(|it| !known.contains(&it.0)) {
        res.insert(origin.clone(), name, value.raw_json());
    }
    res
}

/// Base64 as a URL.
pub(crate) fn data_url(media_type: Option<&str>, base64: &str) -> String {
    format!("data:{};base64,{base64}", media_type.unwrap_or("application/octet-stream"))
}

/// A part that no kind fits, kept as JSON.
pub(crate) fn other(value: crate::json::Value<'_>) -> msg_core::Part {
    let place = Some(msg_core::Place::Content);
    let other = msg_core::Other::new(Origin::Json, value.raw_json());
    msg_core::Part::Other(msg_core::Other { place, ..other })
}
