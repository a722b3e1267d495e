//! The `metadata` of the released SDK: the id of the answered call, and what else it held (MS-12).

use crate::{
    RawJson,
    json::{JsonError, Kind, Reader, write_member_name, write_str},
};

/// Takes `tool_call_id` out of a metadata object. Gives the id and what is left of the object,
/// nothing where the id was all. None if there is no such id.
pub(super) fn split(metadata: &RawJson) -> Option<(String, Option<RawJson>)> {
    let (id, rest) = try_split(metadata.text()).ok()?;
    let rest = rest.map(|it| RawJson::from_walked(&it));
    id.map(|it| (it, rest))
}

fn try_split(text: &str) -> Result<(Option<String>, Option<String>), JsonError> {
    let mut reader = Reader::from_text(text);
    let mut id = None;
    let mut rest = vec![b'{'];
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        if key.text == "tool_call_id" && reader.peek()? == Kind::String {
            id = Some(reader.string()?.text.into_owned());
            continue;
        }
        if rest.len() > 1 {
            rest.push(b',');
        }
        write_member_name(&mut rest, &key.text);
        rest.extend_from_slice(reader.raw()?.as_bytes());
    }
    let is_empty = rest.len() == 1;
    rest.push(b'}');
    let rest = String::from_utf8(rest).expect("members of UTF-8 text are UTF-8");
    Ok((id, (!is_empty).then_some(rest)))
}

/// Appends `,"metadata":{…}` with the id first, if there is anything to write.
pub(super) fn write(tool_call_id: Option<&str>, rest: Option<&RawJson>, out: &mut Vec<u8>) {
    let mut compact = Vec::new();
    if let Some(rest) = rest {
        rest.write_compact(&mut compact);
    }
    if tool_call_id.is_some() || rest.is_some() {
        out.extend_from_slice(b",\"metadata\":");
    }
    match (tool_call_id, compact.as_slice()) {
        (None, rest) => out.extend_from_slice(rest),
        (Some(id), rest) => {
            out.extend_from_slice(b"{\"tool_call_id\":");
            write_str(out, id);
            match rest {
                [b'{', b'"', ..] => {
                    out.push(b',');
                    out.extend_from_slice(&rest[1..]);
                }
                _ => out.push(b'}'),
            }
        }
    }
}
