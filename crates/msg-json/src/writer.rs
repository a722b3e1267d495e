//! Appends whole JSON values to a buffer: commas, colons, brackets and escapes are its business, so
//! that no caller writes one by hand. It checks nothing: a key outside an object is the caller's bug.

use crate::reader::copy_plain;
use crate::tokens::write_compact;

/// JSON under construction, appended to a buffer of the caller's.
///
/// Cost: what is written; nothing is allocated beside the buffer.
///
/// ```
/// use msg_json::Writer;
///
/// let mut out = Vec::new();
/// Writer::new(&mut out).object(|it| {
///     it.key("role").str("user");
///     it.key("tokens").array([1, 2], |it, n| it.u64(n));
///     it.key("extra").raw(r#"{"a": 1.0}"#);
///     it.key("name").opt_str(None);
/// });
/// assert_eq!(out, br#"{"role":"user","tokens":[1,2],"extra":{"a": 1.0},"name":null}"#);
/// ```
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// This level already has a value, so that the next needs a comma.
    comma: bool,
}

impl<'o> Writer<'o> {
    /// A writer of one value, appended to what the buffer holds.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, comma: false }
    }

    /// Writes an object; `fill` writes its members.
    pub fn object(&mut self, fill: impl FnOnce(&mut Writer<'_>)) {
        self.nest(b'{', b'}', fill);
    }

    /// Writes an array; `each` writes the value of an item.
    pub fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Writer<'_>, T),
    ) {
        self.nest(b'[', b']', |it| items.into_iter().for_each(|item| each(it, item)));
    }

    /// Writes an array; `fill` writes its values.
    pub fn list(&mut self, fill: impl FnOnce(&mut Writer<'_>)) {
        self.nest(b'[', b']', fill);
    }

    /// Writes the name of a member, whose value must follow.
    #[inline]
    pub fn key(&mut self, name: &str) -> &mut Self {
        self.str(name);
        self.out.push(b':');
        self.comma = false;
        self
    }

    /// As [`Writer::key`], of a name that has nothing to escape.
    #[inline]
    pub fn plain_key(&mut self, name: &'static str) -> &mut Self {
        debug_assert!(name.bytes().all(|it| it >= b' ' && it != b'"' && it != b'\\'), "{name}");
        self.separate();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.comma = false;
        self
    }

    /// Writes a member, unless it has no value.
    ///
    /// ```
    /// let json = msg_json::to_text(|it| {
    ///     it.object(|it| {
    ///         it.optional("a", Some(1), |it, n| it.u64(n));
    ///         it.optional("b", None::<u64>, |it, n| it.u64(n));
    ///     });
    /// });
    /// assert_eq!(json, r#"{"a":1}"#);
    /// ```
    pub fn optional<T>(
        &mut self,
        name: &str,
        value: Option<T>,
        write: impl FnOnce(&mut Writer<'_>, T),
    ) {
        if let Some(value) = value {
            write(self.key(name), value);
        }
    }

    /// Writes a string.
    #[inline]
    pub fn str(&mut self, text: &str) {
        self.separate();
        write_str(self.out, text);
    }

    /// Writes a string, or null if there is none.
    pub fn opt_str(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.str(text),
            None => self.null(),
        }
    }

    /// Writes a whole number.
    pub fn u64(&mut self, number: u64) {
        self.separate();
        write_u64(self.out, number);
    }

    /// Writes true or false.
    pub fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// Writes null.
    pub fn null(&mut self) {
        self.raw("null");
    }

    /// Writes text that is one JSON value already, as it is.
    #[inline]
    pub fn raw(&mut self, json: &str) {
        self.separate();
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Writes text that is one JSON value already, without its white space.
    pub fn compact(&mut self, json: &str) {
        self.value(|out| write_compact(out, json));
    }

    /// Lends the buffer to something else that appends exactly one value.
    #[inline]
    pub fn value<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.separate();
        write(self.out)
    }

    /// Whether no value was written at this level yet.
    pub fn is_empty(&self) -> bool {
        !self.comma
    }

    fn nest(&mut self, open: u8, close: u8, fill: impl FnOnce(&mut Writer<'_>)) {
        self.separate();
        self.out.push(open);
        fill(&mut Writer::new(self.out));
        self.out.push(close);
    }

    #[inline]
    fn separate(&mut self) {
        if self.comma {
            self.out.push(b',');
        }
        self.comma = true;
    }
}

/// Builds a JSON text with a [`Writer`].
///
/// ```
/// let json = msg_json::to_text(|it| it.array(["a", "b"], |it, text| it.str(text)));
/// assert_eq!(json, r#"["a","b"]"#);
/// ```
pub fn to_text(fill: impl FnOnce(&mut Writer<'_>)) -> String {
    // A message fits in most cases: growing step by step would move it several times.
    let mut out = Vec::with_capacity(256);
    fill(&mut Writer::new(&mut out));
    String::from_utf8(out).expect("because only strings are written")
}

// Appends JSON tokens to a buffer. Text that is not ASCII is not escaped.

/// Appends a string with its quotes; quotes, backslashes and control characters escaped.
///
/// ```
/// let mut out = Vec::new();
/// msg_json::write_str(&mut out, "a \"b\"\né");
/// assert_eq!(out, "\"a \\\"b\\\"\\né\"".as_bytes());
/// ```
#[inline]
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    // Room for the quotes and some escapes, and for the surplus of a copied word.
    out.reserve(bytes.len() + bytes.len() / 16 + 16);
    out.push(b'"');
    let mut at = 0;
    loop {
        at = copy_plain(bytes, at, out);
        let Some(&special) = bytes.get(at) else { break };
        write_escape(out, special);
        at += 1;
    }
    out.push(b'"');
}

/// Appends a whole number.
pub(crate) fn write_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(number.to_string().as_bytes());
}

#[inline]
fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => 0,
    };
    if short == 0 {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
        out.extend_from_slice(b"\\u00");
        return out.extend_from_slice(&digits);
    }
    out.extend_from_slice(&[b'\\', short]);
}
