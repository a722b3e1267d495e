//! From the blocks of providers to message parts, for the views of sessions.
//!
//! ```text
//! {"type":"tool_use","id":"toolu_1","name":"Bash","input":{…}}   ─ anthropic ─▶   Part::ToolCall
//! ```

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod goose;
pub(crate) mod openai;
pub(crate) mod otel;
pub(crate) mod seals;
pub(crate) mod share_gpt;
pub(crate) mod xml;

use msg_core::{Image, Origin, Part};

use crate::json::Object;

/// What represents a result that was never recorded.
pub(crate) const INTERRUPTED: &str = "[interrupted: no result was recorded]";

/// What a member says: the text of a string, the JSON of any other value, `""` if there is none.
pub(crate) fn text(object: &Object<'_>, name: &str) -> String {
    object.plain(name).unwrap_or_default()
}

/// An image, or those of a result, with the media type that its URL names: sessions say it beside.
pub(crate) fn with_media_types(mut part: Part) -> Part {
    match &mut part {
        Part::Image(it) => name_media_type(it),
        Part::ToolResult(it)
            if it.content.parts().iter().any(|it| matches!(it, Part::Image(_))) =>
        {
            let parts = std::mem::take(&mut it.content).into_parts();
            it.content = parts.into_iter().map(with_media_types).collect::<Vec<_>>().into();
        }
        _ => {}
    }
    part
}

fn name_media_type(image: &mut Image) {
    let url = image.url.as_deref().and_then(|it| it.strip_prefix("data:"));
    let media_type = url.and_then(|it| it.split([';', ',']).next()).filter(|it| !it.is_empty());
    image.media_type = image.media_type.take().or(media_type.map(Into::into));
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

/// A part that is shown, or that the provider ran itself: what only its own dialect has, and never words of the model.
pub(crate) fn own(value: crate::json::Value<'_>, dialect: &str) -> Part {
    let place = Some(msg_core::Place::Content);
    let other = msg_core::Other::new(Origin::from(dialect), value.raw_json());
    Part::Other(msg_core::Other { place, ..other })
}
