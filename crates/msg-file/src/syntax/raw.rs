//! A cell as written in the file: its places and attributes.
//!
//! ```text
//! ## %% Question[^7]              heading: level, kind, title, id
//!
//! [^7]: [markdown] time="…"       definition: id, type, attributes
//!
//! What is 2 + 2?                  body
//! ```
//!
//! The meaning of a cell (category, parent, view) is computed in `model`.

use std::borrow::Cow;
use std::sync::Arc;

use super::attributes::{Form, RawAttr};
use super::grammar::Kind;
use super::line::{chomp, lines};
use super::{attributes, grammar};
use crate::model::agents::boolean;
use crate::span::Span;

use crate::span::Places;

/// One cell of the record, without its meaning (MF-6 to MF-12).
#[derive(Debug, Clone)]
pub(crate) struct RawCell {
    pub(crate) source: Arc<[u8]>,
    pub(crate) at: Places,
    /// The heading line ends in CRLF, so CRs at line ends are not content (MF-2).
    pub(crate) crlf: bool,
    pub(crate) attrs: Box<[RawAttr]>,
}

/// An attribute, decoded (MF-11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attr<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// The value; none for a flag.
    pub value: Option<Cow<'a, str>>,
}

impl RawCell {
    pub(crate) fn ordinal(&self) -> usize {
        self.at.ordinal as usize
    }

    pub(crate) fn span(&self) -> Span {
        self.at.whole.span()
    }

    /// The heading line.
    pub(crate) fn heading_line(&self) -> Span {
        Span::new(self.span().start, self.at.heading_end as usize)
    }

    /// The title as the heading has it, a type in it included.
    pub(crate) fn title(&self) -> Option<Span> {
        self.at.title.get()
    }

    pub(crate) fn definition(&self) -> Option<Span> {
        self.at.definition.get()
    }

    pub(crate) fn defined_id(&self) -> Option<Span> {
        self.at.defined_id.get()
    }

    pub(crate) fn ty(&self) -> Option<Span> {
        self.at.ty.get()
    }

    pub(crate) fn bodies(&self) -> [Span; 2] {
        [self.at.body.0.span(), self.at.body.1.span()]
    }

    /// The id: that of the heading, else that of the definition (MF-10).
    pub(crate) fn id_span(&self) -> Option<Span> {
        self.at.id.get().or(self.defined_id())
    }

    pub(crate) fn id(&self) -> Option<Cow<'_, str>> {
        self.id_span().map(|s| self.text(s))
    }

    /// The type and the title at whose end it may be (MF-13), with `titled` if it does so.
    pub(crate) fn named(&self, titled: bool) -> (Option<Span>, Option<Span>) {
        let (ty, title) = (self.ty(), self.at.title.get());
        let Some(whole) = title.filter(|_| titled) else { return (ty, title) };
        let moved = |s: Span| Span::new(s.start + whole.start, s.end + whole.start);
        match grammar::title_type(whole.of(&self.source)) {
            Some((name, before)) => (Some(moved(name)), before.map(moved)),
            None => (ty, title),
        }
    }

    /// The body: lines joined by LF, escapes of markers undone (MF-12).
    pub(crate) fn body(&self) -> Cow<'_, [u8]> {
        let [first, second] = self.bodies().map(|it| it.of(&self.source));
        if second.is_empty() {
            return decode_body(first, self.crlf);
        }
        let mut both = first.to_vec();
        both.extend_from_slice(second);
        Cow::Owned(decode_body(&both, self.crlf).into_owned())
    }

    /// The value of an attribute: the last of that key; `""` for a flag.
    pub(crate) fn attr(&self, key: &str) -> Option<Cow<'_, str>> {
        self.raw_attr(key).map(|a| self.value(a).unwrap_or_default())
    }

    pub(crate) fn has_attr(&self, key: &str) -> bool {
        self.raw_attr(key).is_some()
    }

    /// The value of an attribute, where it is not empty.
    pub(crate) fn said(&self, key: &str) -> Option<String> {
        self.attr(key).filter(|it| !it.is_empty()).map(Cow::into_owned)
    }

    /// Whether an attribute is a flag, or says yes.
    pub(crate) fn is_flagged(&self, key: &str) -> bool {
        self.raw_attr(key)
            .is_some_and(|it| self.value(it).is_none_or(|it| boolean(&it) == Some(true)))
    }

    pub(crate) fn raw_attr(&self, key: &str) -> Option<&RawAttr> {
        self.attrs.iter().rev().find(|a| a.key(&self.source) == key.as_bytes())
    }

    pub(crate) fn attrs(&self) -> impl Iterator<Item = Attr<'_>> {
        self.attrs.iter().map(|a| Attr {
            key: String::from_utf8_lossy(a.key(&self.source)),
            value: self.value(a),
        })
    }

    pub(crate) fn value(&self, attr: &RawAttr) -> Option<Cow<'_, str>> {
        let text = attr.value().of(&self.source);
        match attr.form {
            Form::Flag => None,
            Form::Plain => Some(String::from_utf8_lossy(text)),
            Form::Escaped => Some(lossy(attributes::decode_double(text))),
        }
    }

    /// Whether another cell has the same heading, type, attributes and body.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        // Title and type as they are written, whatever the title says of a type.
        fn written(it: &RawCell) -> (u8, Kind, [Option<&[u8]>; 3]) {
            let texts = [it.title(), it.id_span(), it.ty()];
            (it.at.level, it.at.kind, texts.map(|span| span.map(|span| span.of(&it.source))))
        }
        written(self) == written(other)
            && self.attrs().eq(other.attrs())
            && self.body() == other.body()
    }

    pub(crate) fn text(&self, span: Span) -> Cow<'_, str> {
        String::from_utf8_lossy(span.of(&self.source))
    }
}

/// Text of bytes; ill-formed parts become U+FFFD.
pub(crate) fn lossy(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(it) => String::from_utf8_lossy(it),
        Cow::Owned(it) => Cow::Owned(
            String::from_utf8(it)
                .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
        ),
    }
}

/// Lines joined by LF, without terminators at the end; a line of backslashes and a marker loses one
/// backslash (MF-12).
pub(crate) fn decode_body(raw: &[u8], crlf: bool) -> Cow<'_, [u8]> {
    let plain = (!crlf || memchr::memchr(b'\r', raw).is_none())
        && (memchr::memmem::find(raw, b"%%").is_none() || memchr::memchr(b'\\', raw).is_none());
    if plain {
        return Cow::Borrowed(raw.strip_suffix(b"\n").unwrap_or(raw));
    }
    let mut out = Vec::with_capacity(raw.len());
    for line in lines(raw, 0, raw.len()) {
        let text = &raw[line.start..line.end];
        let text = if crlf { chomp(text) } else { text };
        if line.start > 0 {
            out.push(b'\n');
        }
        let escaped = text.first() == Some(&b'\\') && grammar::escaped_marker(text) > 0;
        out.extend_from_slice(&text[usize::from(escaped)..]);
    }
    Cow::Owned(out)
}
