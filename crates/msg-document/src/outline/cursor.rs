//! A place in bytes that are JSON, or were meant to be: steps over values without building them.

use msg_json::value_end;

use super::ValueKind;

/// Longer names and texts are not marks of a format.
const SHORT: usize = 64;

/// A place in the bytes, cheap to copy. Every step gives nothing where the bytes are not JSON.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

/// The inside of a list or an object; true until its first member has been seen.
pub(super) struct Inside {
    first: bool,
}

impl<'a> Cursor<'a> {
    /// The beginning of a document, after its byte order mark.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, pos: if bytes.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 } }
    }

    /// The next byte that is not white space; nothing at the end.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.pos..)?;
        let blank = rest.iter().position(|it| !matches!(it, b' ' | b'\t' | b'\r' | b'\n'))?;
        self.pos += blank;
        Some(rest[blank])
    }

    /// Whether a line begins here.
    pub(super) fn is_line(&self) -> bool {
        let mut before = self.bytes[..self.pos].iter().rev();
        before.find(|it| !matches!(it, b' ' | b'\t' | b'\r')) == Some(&b'\n')
    }

    /// The kind of the value that is here.
    pub(super) fn kind(&mut self) -> Option<ValueKind> {
        Some(match self.peek()? {
            b'{' => ValueKind::Object,
            b'[' => ValueKind::List,
            b'"' => ValueKind::Text,
            b'n' => ValueKind::Null,
            _ => ValueKind::Scalar,
        })
    }

    /// Whether the value that is here is written like this.
    pub(super) fn begins_with(&mut self, bytes: &[u8]) -> bool {
        self.peek().is_some() && self.bytes[self.pos..].starts_with(bytes)
    }

    /// Steps into the list or object that opens with `bracket`.
    pub(super) fn open(&mut self, bracket: u8) -> Option<Inside> {
        (self.peek()? == bracket).then(|| self.pos += 1)?;
        Some(Inside { first: true })
    }

    /// Steps to the next item. False after the closing bracket, which is stepped over.
    pub(super) fn item(&mut self, inside: &mut Inside, bracket: u8) -> Option<bool> {
        let next = self.peek()?;
        if next == bracket {
            self.pos += 1;
            return Some(false);
        }
        if !inside.first {
            (next == b',').then(|| self.pos += 1)?;
        }
        inside.first = false;
        match self.peek()? {
            b']' | b'}' | b',' | b':' => None,
            _ => Some(true),
        }
    }

    /// Steps to the value of the next member of an object and gives its name as it is written; the
    /// inner nothing after the last.
    pub(super) fn member(&mut self, inside: &mut Inside) -> Option<Option<&'a str>> {
        if !self.item(inside, b'}')? {
            return Some(None);
        }
        let name = self.text()?;
        (self.peek()? == b':').then(|| self.pos += 1)?;
        Some(Some(name))
    }

    /// Steps over the string that is here and gives it with its escapes; a long one is `""`.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        (self.peek()? == b'"').then_some(())?;
        let start = self.pos + 1;
        self.pos = value_end(self.bytes, self.pos)?;
        let text = &self.bytes[start..self.pos - 1];
        Some(if text.len() > SHORT { "" } else { std::str::from_utf8(text).unwrap_or_default() })
    }

    /// Steps over one value, however deep.
    pub(super) fn skip(&mut self) -> Option<()> {
        self.pos = value_end(self.bytes, self.pos)?;
        Some(())
    }
}
