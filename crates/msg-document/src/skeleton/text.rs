//! JSON text as a source: steps over it with the reader that all formats have, and decodes what is short.

use std::borrow::Cow;

use memchr::memchr;
use msg_json::{JsonStr, Kind, Reader, unescape};

use super::source::{HEAD, LONG, Source};

/// A place in JSON text.
pub(super) struct JsonText<'a>(Reader<'a>);

impl<'a> JsonText<'a> {
    /// Nothing for what is no UTF-8, and no list or object.
    pub(super) fn new(json: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(json).ok()?;
        matches!(json.get(reader.next_offset()), Some(b'[' | b'{')).then_some(JsonText(reader))
    }

    /// Whether nothing follows.
    pub(super) fn has_ended(mut self) -> bool {
        self.0.finish().is_ok()
    }
}

impl Source for JsonText<'_> {
    fn kind(&mut self) -> Option<Kind> {
        self.0.peek().ok()
    }

    fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.0.begin_object().ok()?;
        while let Some(name) = self.0.next_key().ok()? {
            member(self, &sound(name)?)?;
        }
        Some(())
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.0.begin_array().ok()?;
        while self.0.next_element().ok()? {
            item(self)?;
        }
        Some(())
    }

    fn text(&mut self) -> Option<Cow<'_, str>> {
        sound(self.0.string().ok()?)
    }

    fn brief(&mut self) -> Option<Cow<'_, str>> {
        let quoted = (self.kind()? == Kind::String).then(|| self.0.raw().ok())??;
        let source = &quoted[1..quoted.len() - 1];
        if is_like_its_text(source) { Some(Cow::Borrowed(source)) } else { sound(unescape(source)) }
    }

    fn skip(&mut self) -> Option<()> {
        self.0.raw().ok().map(|_| ())
    }

    fn offset(&mut self) -> usize {
        self.0.next_offset()
    }
}

/// The text of a string; nothing if half of a surrogate pair stood in it, which is reported.
fn sound(text: JsonStr<'_>) -> Option<Cow<'_, str>> {
    (!text.lone_surrogate).then_some(text.text)
}

/// Whether it is certain that a source is as long, as blank, as sound and at its end as the text that it spells.
fn is_like_its_text(source: &str) -> bool {
    let bytes = source.as_bytes();
    let Some(first) = memchr(b'\\', bytes) else { return true };
    let has = |it: &str| memchr::memmem::find(bytes, it.as_bytes()).is_some();
    // The longest escape has six bytes, for one of a text; all others have two.
    let longest = if has("\\u") { 6 } else { 2 };
    if bytes.len() < longest * LONG {
        return false;
    }
    let ends_plain = !bytes[bytes.len() - longest..].contains(&b'\\');
    let may_have_surrogate = longest == 6 && (has("\\ud") || has("\\uD"));
    let begins_plain = !source[..first].trim_start().is_empty();
    ends_plain && begins_plain && !may_have_surrogate && !source.starts_with(HEAD)
}
