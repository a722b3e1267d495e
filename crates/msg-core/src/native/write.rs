//! Messages to native JSON (MS-7): canonical, straight into the bytes.

use super::is_known_type;
use crate::{
    CallKind, Content, Extra, Message, Origin, Other, Part, Place, RawJson, Reasoning, ToolCall,
    ToolResult,
    json::{string_member, write_member_name, write_str},
};

/// Appends a list of messages in native form (MS-7). Nothing is lost, so there is no report.
///
/// ```
/// use msg_core::{Message, native};
/// let mut json = Vec::new();
/// native::write(&[Message::user("Hi")], &mut json);
/// assert_eq!(json, br#"[{"role":"user","parts":[{"type":"text","text":"Hi"}]}]"#);
/// ```
pub fn write(messages: &[Message], out: &mut Vec<u8>) {
    out.push(b'[');
    for (n, message) in messages.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write_message(message, out);
    }
    out.push(b']');
}

/// Appends one message in native form.
pub fn write_message(message: &Message, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"role\":");
    write_str(out, message.role.as_str());
    let name = message.name.as_ref().filter(|it| !it.is_empty());
    write_text(out, "name", name);
    out.extend_from_slice(b",\"parts\":");
    write_parts(&message.parts, out);
    write_extra(&message.extra, &["role", "name", "parts", "extra"], out);
    out.push(b'}');
}

/// Appends one part in native form.
pub fn write_part(part: &Part, out: &mut Vec<u8>) {
    if let Part::Other(it) = part
        && is_foreign(it)
    {
        it.value.write_compact(out);
        return;
    }
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(part.kind().as_bytes());
    out.push(b'"');
    write_extra(part.extra(), write_members(part, out), out);
    out.push(b'}');
}

/// Whether it is a part of a type that is unknown here, to be written as it is: nothing would tell
/// it from other JSON if its type were known or if it had members of its own.
fn is_foreign(other: &Other) -> bool {
    other.format == Origin::Native
        && other.place.is_none()
        && other.extra.is_empty()
        && string_member(other.value.text(), "type").is_some_and(|it| !is_known_type(&it))
}

/// Writes what belongs to the kind of part, and says which names that kind has.
fn write_members(part: &Part, out: &mut Vec<u8>) -> &'static [&'static str] {
    match part {
        Part::Text(it) | Part::Refusal(it) => {
            write_required(out, "text", &it.text);
            &["type", "text", "extra"]
        }
        Part::Reasoning(it) => write_reasoning(it, out),
        Part::Image(it) => {
            write_text(out, "url", it.url.as_ref());
            write_text(out, "file_id", it.file_id.as_ref());
            write_text(out, "media_type", it.media_type.as_ref());
            write_text(out, "detail", it.detail.as_ref());
            &["type", "url", "file_id", "media_type", "detail", "extra"]
        }
        Part::Audio(it) => {
            write_text(out, "id", it.id.as_ref());
            write_text(out, "data", it.data.as_ref());
            write_text(out, "format", it.format.as_ref());
            write_text(out, "transcript", it.transcript.as_ref());
            &["type", "id", "data", "format", "transcript", "extra"]
        }
        Part::File(it) => {
            write_text(out, "file_id", it.file_id.as_ref());
            write_text(out, "url", it.url.as_ref());
            write_text(out, "data", it.data.as_ref());
            write_text(out, "filename", it.filename.as_ref());
            write_text(out, "media_type", it.media_type.as_ref());
            &["type", "file_id", "url", "data", "filename", "media_type", "extra"]
        }
        Part::ToolCall(it) => write_call(it, out),
        Part::ToolResult(it) => write_result(it, out),
        Part::Other(it) => {
            write_required(out, "format", it.format.as_str());
            if let Some(place) = it.place {
                write_required(out, "place", Place::as_str(place));
            }
            write_raw(out, "value", &it.value);
            &["type", "format", "place", "value", "extra"]
        }
    }
}

fn write_reasoning(it: &Reasoning, out: &mut Vec<u8>) -> &'static [&'static str] {
    write_text(out, "text", it.text.as_ref());
    if let Some(summary) = &it.summary {
        out.extend_from_slice(b",\"summary\":[");
        for (n, text) in summary.iter().enumerate() {
            if n > 0 {
                out.push(b',');
            }
            write_str(out, text);
        }
        out.push(b']');
    }
    write_text(out, "signature", it.signature.as_ref());
    write_text(out, "redacted", it.redacted.as_ref());
    write_text(out, "encrypted", it.encrypted.as_ref());
    &["type", "text", "summary", "signature", "redacted", "encrypted", "extra"]
}

fn write_call(it: &ToolCall, out: &mut Vec<u8>) -> &'static [&'static str] {
    write_kind(out, &it.kind);
    write_required(out, "id", &it.id);
    write_required(out, "name", &it.name);
    write_required(out, "arguments", it.arguments.text());
    write_text(out, "signature", it.signature.as_ref());
    &["type", "kind", "id", "name", "arguments", "signature", "extra"]
}

fn write_result(it: &ToolResult, out: &mut Vec<u8>) -> &'static [&'static str] {
    write_kind(out, &it.kind);
    write_required(out, "call_id", &it.call_id);
    write_text(out, "name", it.name.as_ref());
    out.extend_from_slice(b",\"content\":");
    write_content(&it.content, out);
    if it.is_error {
        out.extend_from_slice(b",\"is_error\":true");
    }
    &["type", "kind", "call_id", "name", "content", "is_error", "extra"]
}

/// One plain text is written as a string, no part as an empty one (MS-3).
fn write_content(content: &Content, out: &mut Vec<u8>) {
    match content.as_text() {
        Some(text) => write_str(out, text),
        None => write_parts(content.parts(), out),
    }
}

fn write_parts(parts: &[Part], out: &mut Vec<u8>) {
    out.push(b'[');
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write_part(part, out);
    }
    out.push(b']');
}

fn write_kind(out: &mut Vec<u8>, kind: &CallKind) {
    if *kind != CallKind::Function {
        write_required(out, "kind", kind.as_str());
    }
}

/// `extra` with the members of all other formats, then those that were unknown on this level. One
/// that has the name of a known member cannot stand there and stays in `extra`.
fn write_extra(extra: &Extra, known: &[&str], out: &mut Vec<u8>) {
    if extra.is_empty() {
        return;
    }
    let stays = |origin: &Origin, name| *origin != Origin::Native || known.contains(&name);
    let mut origins: Vec<&Origin> = Vec::new();
    for (origin, name, _) in extra.all() {
        if stays(origin, name) && !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    for (n, origin) in origins.iter().enumerate() {
        out.extend_from_slice(if n == 0 { b",\"extra\":{" } else { b"," });
        write_member_name(out, origin.as_str());
        out.push(b'{');
        for (n, (name, value)) in extra.iter(origin).filter(|it| stays(origin, it.0)).enumerate() {
            if n > 0 {
                out.push(b',');
            }
            write_member_name(out, name);
            value.write_compact(out);
        }
        out.push(b'}');
    }
    if !origins.is_empty() {
        out.push(b'}');
    }
    for (name, value) in extra.iter(&Origin::Native).filter(|it| !known.contains(&it.0)) {
        write_raw(out, name, value);
    }
}

fn write_required(out: &mut Vec<u8>, name: &str, text: &str) {
    out.push(b',');
    write_member_name(out, name);
    write_str(out, text);
}

fn write_text(out: &mut Vec<u8>, name: &str, text: Option<&String>) {
    if let Some(text) = text {
        write_required(out, name, text);
    }
}

fn write_raw(out: &mut Vec<u8>, name: &str, value: &RawJson) {
    out.push(b',');
    write_member_name(out, name);
    value.write_compact(out);
}
