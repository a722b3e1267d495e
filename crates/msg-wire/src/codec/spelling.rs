//! Values that sources spell in more than one way: ids that are numbers, arguments that are no text.

use msg_core::json;

use super::{Context, text_of};

/// The value was null.
pub const NULL: u8 = 1;
/// The id was a number.
pub const NUMBER: u8 = 2;
/// The arguments were a JSON value instead of a string.
pub const VALUE: u8 = 2;

/// An id that is text, a number or null, and the variant of its spelling.
pub fn read_id(source: &str, cx: &mut Context<'_, '_>, member: &str) -> Option<(String, u8)> {
    if source == "null" {
        return Some((String::new(), NULL));
    }
    if let Some(text) = text_of(source) {
        return Some((cx.text(text, member), 0));
    }
    starts_number(source).then(|| (source.to_owned(), NUMBER))
}

/// Writes an id in the spelling of its source, if it still can be one.
pub fn write_id(out: &mut Vec<u8>, id: &str, variant: u8) {
    match variant {
        NULL if id.is_empty() => out.extend_from_slice(b"null"),
        NUMBER if starts_number(id) && json::validate(id).is_ok() => {
            out.extend_from_slice(id.as_bytes());
        }
        _ => json::write_str(out, id),
    }
}

/// Arguments: text, or the source text of any other value (MS-4), and the variant.
pub fn read_arguments(source: &str, cx: &mut Context<'_, '_>, member: &str) -> (String, u8) {
    match text_of(source) {
        Some(text) => (cx.text(text, member), 0),
        None if source == "null" => (String::new(), NULL),
        None => (source.to_owned(), VALUE),
    }
}

/// The argument text of a JSON value that is no string (AN-6): its source text, but for escapes that stand
/// for a character that needs none. Numbers, white space, the order of members and halves of surrogate
/// pairs stay as they are.
///
/// ```
/// use msg_wire::codec::spelling::argument_text;
///
/// assert_eq!(argument_text(r#"{"n": 1.0, "\u00e9": "a\/\n\ud83e"}"#), "{\"n\": 1.0, \"é\": \"a\\/\\n\\ud83e\"}");
/// ```
#[must_use]
pub fn argument_text(source: &str) -> String {
    if !source.contains('\\') {
        return source.to_owned();
    }
    let mut out = Vec::with_capacity(source.len());
    let mut rest = source;
    while let Some(open) = rest.find('"') {
        let end = json::skip_value(rest.as_bytes(), open).unwrap_or(rest.len());
        out.extend_from_slice(&rest.as_bytes()[..open]);
        write_unescaped(&mut out, &rest[open..end]);
        rest = &rest[end..];
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8(out).expect("because pieces of a text were put together")
}

/// Writes a JSON string with as few escapes as it needs, unless one of them is no character.
fn write_unescaped(out: &mut Vec<u8>, string: &str) {
    match text_of(string) {
        Some((text, false)) => json::write_str(out, &text),
        _ => out.extend_from_slice(string.as_bytes()),
    }
}

/// Writes arguments in the spelling of their source, if they still can be.
pub fn write_arguments(out: &mut Vec<u8>, text: &str, variant: u8) {
    let is_value = || !text.starts_with('"') && text != "null" && json::validate(text).is_ok();
    match variant {
        NULL if text.is_empty() => out.extend_from_slice(b"null"),
        VALUE if is_value() => out.extend_from_slice(text.as_bytes()),
        _ => json::write_str(out, text),
    }
}

fn starts_number(text: &str) -> bool {
    text.starts_with(|it: char| it == '-' || it.is_ascii_digit())
}
