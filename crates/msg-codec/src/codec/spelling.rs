//! Values that sources spell in more than one way: ids that are numbers, arguments that are no text.

use msg_json::{JsonError, Kind, Reader};

use super::{Context, Fields, Plan, text_of};

/// The variant of a value that was null.
pub const NULL: u8 = 1;
/// The id was a number.
const NUMBER: u8 = 2;
/// The arguments were a JSON value instead of a string.
const VALUE: u8 = 2;

impl<'a> Fields<'a> {
    /// Takes an id that is text, a number or null into the model; an absent one is empty. None if it is of another
    /// type, and then it stays raw.
    pub fn id(&mut self, cx: &mut Context<'a, '_>, code: u8) -> Option<String> {
        let Some(source) = self.raw(code) else { return Some(String::new()) };
        let (id, variant) = match text_of(source) {
            Some(text) => (cx.text(text, self.name(code)), 0),
            None if source == "null" => (String::new(), NULL),
            None => (starts_number(source).then(|| source.to_owned())?, NUMBER),
        };
        if variant == NUMBER {
            cx.shape(format!("{} is a number, no text", self.name(code)));
        }
        self.vary(code, variant);
        self.set_raw(code, None);
        Some(id)
    }

    /// Reads arguments: text, or the source text of any other value (MS-4).
    pub fn arguments(
        &mut self,
        cx: &mut Context<'a, '_>,
        code: u8,
        reader: &mut Reader<'a>,
    ) -> Result<String, JsonError> {
        let (text, variant) = match reader.peek()? {
            Kind::String => (cx.string(reader.string()?, self.name(code)), 0),
            Kind::Null => reader.null().map(|()| (String::new(), NULL))?,
            _ => (reader.raw()?.to_owned(), VALUE),
        };
        if variant == VALUE {
            cx.shape(format!("{} are a JSON value, no text that holds one", self.name(code)));
        }
        self.vary(code, variant);
        Ok(text)
    }
}

impl Plan<'_> {
    /// Writes a text, as null where its source had that and it is still empty.
    pub fn write_text(self, out: &mut Vec<u8>, code: u8, text: &str) {
        match self.variant(code) {
            NULL if text.is_empty() => out.extend_from_slice(b"null"),
            _ => msg_json::write_str(out, text),
        }
    }

    /// Writes an id in the spelling of its source, if it still can be one.
    pub fn write_id(self, out: &mut Vec<u8>, code: u8, id: &str) {
        match self.variant(code) {
            NUMBER if starts_number(id) && msg_json::validate(id).is_ok() => {
                out.extend_from_slice(id.as_bytes());
            }
            _ => self.write_text(out, code, id),
        }
    }

    /// Writes arguments in the spelling of their source, if they still can be.
    pub fn write_arguments(self, out: &mut Vec<u8>, code: u8, text: &str) {
        let is_value =
            || !text.starts_with('"') && text != "null" && msg_json::validate(text).is_ok();
        match self.variant(code) {
            VALUE if is_value() => out.extend_from_slice(text.as_bytes()),
            _ => self.write_text(out, code, text),
        }
    }
}

/// The argument text of a JSON value that is no string (AN-6): its source text, but for escapes that stand
/// for a character that needs none. Numbers, white space, the order of members and halves of surrogate
/// pairs stay as they are.
///
/// ```
/// use msg_codec::codec::argument_text;
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
        let end = msg_json::skip_value(rest.as_bytes(), open).unwrap_or(rest.len());
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
        Some((text, false)) => msg_json::write_str(out, &text),
        _ => out.extend_from_slice(string.as_bytes()),
    }
}

fn starts_number(text: &str) -> bool {
    text.starts_with(|it: char| it == '-' || it.is_ascii_digit())
}
