//! Argument texts: what counts as JSON, and making text JSON that almost is (CA-55, CA-56).
//!
//! Nothing is guessed about text that was cut off, unless that is asked for.

use std::borrow::Cow;

use msg_json::{RelaxedEdit, RelaxedObject, TextState};

use crate::{constants::FALLBACK_REQUEST_ARGS, options::BadArguments};

/// Escapes the control characters inside the strings of a JSON text (CA-56).
///
/// Characters below U+0020 become `\n`, `\r`, `\t`, `\b`, `\f` or `\u00xx`. A character after a
/// backslash is copied, and outside strings nothing changes. The text is borrowed if there is nothing
/// to escape.
///
/// ```
/// use msg_chainast::sanitize_json_control_chars;
///
/// assert_eq!(sanitize_json_control_chars("{\"a\": \"x\ny\"}"), r#"{"a": "x\ny"}"#);
/// assert_eq!(sanitize_json_control_chars("{\n}"), "{\n}");
/// ```
pub fn sanitize_json_control_chars(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|it| it < 0x20) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut copied = 0;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if escaped {
            escaped = false;
        } else if in_string && byte < 0x20 {
            out.push_str(&text[copied..at]);
            push_escape(&mut out, byte);
            copied = at + 1;
        } else if in_string && byte == b'\\' {
            escaped = true;
        } else if byte == b'"' {
            in_string = !in_string;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Whether the whole text is JSON (CA-55). O(text), without recursion.
pub(crate) fn is_json(text: &str) -> bool {
    matches!(msg_json::classify(text), msg_json::TextState::Object | msg_json::TextState::Value)
}

/// What an argument text is replaced by, if it is not JSON (CA-56).
pub(crate) fn sanitized(text: &str) -> Option<String> {
    if is_json(text) {
        return None;
    }
    match sanitize_json_control_chars(text) {
        Cow::Owned(escaped) if is_json(&escaped) => Some(escaped),
        _ => Some(FALLBACK_REQUEST_ARGS.to_owned()),
    }
}

/// The object that an argument text means, if it is none and has one reading (CA-56b, CA-56c).
pub(crate) fn mended(text: &str, how: BadArguments) -> Option<RelaxedObject> {
    let state = msg_json::classify(text);
    // A string may hold an object; another value has one reading, itself.
    let is_settled = state == TextState::Object
        || state == TextState::Value && !text.trim_start().starts_with('"');
    let mended = match how {
        _ if is_settled => return None,
        BadArguments::Mend => msg_json::mend(text),
        BadArguments::Complete => msg_json::mend(text).or_else(|_| msg_json::complete(text)),
        BadArguments::Keep | BadArguments::Sanitize => return None,
    };
    mended.ok().filter(|it| !it.edits.is_empty())
}

/// The code of what was mended.
pub(crate) fn mended_code(edits: msg_json::Edits) -> &'static str {
    if edits.contains(RelaxedEdit::Completed) {
        "arguments::completed"
    } else {
        "arguments::mended"
    }
}

fn push_escape(out: &mut String, byte: u8) {
    match byte {
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}
