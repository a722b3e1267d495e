//! The `metadata` of the released SDK: the id of the answered call, and what else it held (MS-12).

use msg_core::RawJson;
use msg_json::{Writer, tokens, unescape};

/// Takes `tool_call_id` out of a metadata object. Gives the id and what is left of the object,
/// nothing where the id was all. None if there is no such id.
pub(super) fn split(metadata: &RawJson) -> Option<(String, Option<RawJson>)> {
    let is_id = |it: &(String, RawJson)| it.0 == "tool_call_id" && it.1.text().starts_with('"');
    let (ids, rest): (Vec<_>, Vec<_>) = metadata.members()?.into_iter().partition(is_id);
    let quoted = ids.last()?.1.text();
    let id = unescape(&quoted[1..quoted.len() - 1]).text.into_owned();
    let object = |it: &mut Writer<'_>| {
        it.object(|it| rest.iter().for_each(|(name, raw)| it.key(name).raw(raw.text())));
    };
    Some((id, (!rest.is_empty()).then(|| RawJson::written(object))))
}

/// Writes the member `metadata` with the id first, if there is anything to write.
pub(super) fn write(tool_call_id: Option<&str>, rest: Option<&RawJson>, out: &mut Writer<'_>) {
    let rest: Option<String> = rest.map(|it| tokens(it.text()).collect());
    let Some(id) = tool_call_id else {
        return rest.iter().for_each(|it| out.key("metadata").raw(it));
    };
    out.key("metadata").object(|it| {
        it.key("tool_call_id").str(id);
        let rest = rest.as_deref().and_then(|it| it.strip_prefix('{')?.strip_suffix('}'));
        if let Some(members) = rest.filter(|it| !it.is_empty()) {
            // All members at once, as they came.
            it.raw(members);
        }
    });
}
