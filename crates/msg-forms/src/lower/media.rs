//! Images, sounds and files of user turns: native parts that a turn carries (OA-8).

use msg_core::{Origin, Part, RawJson, native};
use msg_json::string_member;

/// The native part, if it is one of media. The id that a turn gives to every part goes, except on
/// audio, where it names a reply of the model.
pub(super) fn part(json: &RawJson) -> Option<Part> {
    let type_name = string_member(json.text(), "type")?;
    if !matches!(&*type_name, "image" | "audio" | "file") {
        return None;
    }
    let mut res = native::read_part(json.text().as_bytes()).ok()?;
    res.extra_mut().remove(&Origin::Native, "id");
    Some(res)
}
