//! Calls that the model wrote into long texts, which a skeleton does not keep (RG-12).
//!
//! ```text
//! assistant "␟0"   ◀─   {"role":"assistant","content":"Let me see. … <tool_call>{\"name\":\"ls\"}</tool_call>"}
//! ```

use msg_core::{Message, Part, Role};
use msg_formats::layout::ListPlace;
use msg_json::Reader;

use super::{has_mark, mended::read};
use crate::api_shapes::{has_other_calls, may_have_text_call};

/// Whether a long assistant text, which is not kept, contains a call. Without the JSON of the document, any such text
/// may. Linear: reads only messages whose text has a sign of a call.
pub(super) fn hides_calls(messages: &[Message], place: &ListPlace, json: Option<&str>) -> bool {
    let is_cut = |it: &Message| {
        it.role == Role::Assistant && it.parts.iter().filter_map(Part::as_text).any(has_mark)
    };
    let mut cut = messages.iter().enumerate().filter(|it| is_cut(it.1));
    cut.any(|(at, _)| json.is_none_or(|json| has_calls(json, place.starts[at])))
}

/// Whether the message at this offset has calls in its texts, or cannot be read by itself.
fn has_calls(json: &str, start: usize) -> bool {
    let Ok(message) = Reader::from_text(&json[start..]).raw() else { return true };
    may_have_text_call(message)
        && read(format!("[{message}]").as_bytes(), 1).is_none_or(|it| has_other_calls(&it))
}
