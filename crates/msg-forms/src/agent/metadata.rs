//! The `metadata` of the released SDK: the id of the answered call, and what else it held (MS-12).

use msg_core::RawJson;
use msg_json::{JsonError, Kind, Reader, Writer, to_text, tokens};

/// Takes `tool_call_id` out of a metadata object. Gives the id and what is left of the object,
/// nothing where the id was all. None if there is no such id.
pub(super) fn split(metadata: &RawJson) -> Option<(String, Option<RawJson>)> {
    let (id, rest) = try_split(metadata.text()).ok()?;
    let rest = rest.map(|it| RawJson::new(it).expect("because a writer makes JSON"));
    id.map(|it| (it, rest))
}

fn try_split(text: &str) -> Result<(Option<String>, Option<String>), JsonError> {
    let mut reader = Reader::from_text(text);
    let (mut id, mut rest) = (None, Vec::new());
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        if key.text == "tool_call_id" && reader.peek()? == Kind::String {
            id = Some(reader.string()?.text.into_owned());
        } else {
            rest.push((key.text, reader.raw()?));
        }
    }
    let object = |it: &mut Writer<'_>| rest.iter().for_each(|(name, raw)| it.key(name).raw(raw));
    let text = (!rest.is_empty()).then(|| to_text(|it| it.object(object)));
    Ok((id, text))
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
