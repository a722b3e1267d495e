//! The content of messages: parts that say by their `type` what they are are read by the shape and the builder that
//! a format has for them; what is of another type or shape is carried as it is.
//!
//! ```text
//! {"type":"text","text":"a"}    known("text") -> shape and builder -> Text "a"
//! {"type":"new","x":1}          known("new") -> none               -> Other, verbatim
//! ```

use msg_core::{Extra, Origin, Other, Part, Place, RawJson, Text};
use msg_json::{JsonError, Kind, Reader};

use super::{Context, Fields, Shape, text_of, type_of};

/// Builds a part of the members of its object; none if they are of a shape that it does not have.
pub type Build = for<'a> fn(&mut Fields<'a>, &mut Context<'a, '_>) -> Option<Part>;

/// The code of `type`, the first member of what is told by it.
const TYPE: u8 = 1;
/// The slot of a part that was a bare string: the first variant of its first member.
const BARE: u8 = 1 << 5 | 1;

/// What a `content` member held.
#[derive(Default)]
pub enum Content {
    /// There was none.
    #[default]
    Absent,
    /// Null.
    Null,
    /// A string.
    Text(String),
    /// An array.
    Parts(Vec<Part>),
    /// Of a type that no content has.
    Raw,
}

impl Content {
    /// Reads the value before which the reader stands; `part` reads an element of an array.
    ///
    /// # Errors
    /// What is no JSON.
    pub fn read<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
        part: impl FnMut(&mut Reader<'a>, &mut Context<'a, '_>) -> Result<Part, JsonError>,
    ) -> Result<Self, JsonError> {
        match reader.peek()? {
            Kind::String => Ok(Self::Text(cx.string(reader.string()?, "content"))),
            Kind::Array => Self::read_parts(reader, cx, part).map(Self::Parts),
            Kind::Null => reader.raw().map(|_| Self::Null),
            _ => {
                cx.odd();
                reader.raw().map(|_| Self::Raw)
            }
        }
    }

    /// Reads the array before which the reader stands.
    ///
    /// # Errors
    /// What is no JSON.
    pub fn read_parts<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
        mut part: impl FnMut(&mut Reader<'a>, &mut Context<'a, '_>) -> Result<Part, JsonError>,
    ) -> Result<Vec<Part>, JsonError> {
        let mut res = Vec::new();
        reader.begin_array()?;
        while reader.next_element()? {
            res.push(part(reader, cx)?);
        }
        Ok(res)
    }

    /// As [`Content::read_known`], where a bare string is a text.
    ///
    /// # Errors
    /// What is no JSON.
    pub fn read_typed<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
        origin: Origin,
        known: impl Fn(&str) -> Option<(&'static Shape, Build)>,
    ) -> Result<Part, JsonError> {
        if reader.peek()? == Kind::String {
            cx.shape("a part is a bare string, no object");
            return Ok(Self::bare_text(origin, cx.string(reader.string()?, "content")));
        }
        Self::read_known(reader, cx, origin, known)
    }

    /// Reads the part before which the reader stands: an object of a type that is known, or something that is carried.
    ///
    /// # Errors
    /// What is no JSON.
    pub fn read_known<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
        origin: Origin,
        known: impl Fn(&str) -> Option<(&'static Shape, Build)>,
    ) -> Result<Part, JsonError> {
        let kind = match reader.peek()? {
            Kind::Object => type_of(reader.clone())?,
            _ => None,
        };
        let Some((shape, build)) = kind.as_deref().and_then(known) else {
            cx.odd();
            return reader.raw().map(|it| Self::carried(origin, None, it));
        };
        let (start, mark) = (reader.next_offset(), cx.mark());
        let mut fields = Fields::read(shape, cx, reader)?;
        // A second `type` may have come behind the one that chose the kind.
        if fields.raw(TYPE).and_then(text_of).map(|it| it.0) == kind {
            fields.set_raw(TYPE, None);
            if let Some(part) = build(&mut fields, cx) {
                return Ok(part);
            }
        }
        cx.odd();
        cx.back_to(mark);
        Ok(Self::carried(origin, None, reader.source(start, reader.offset())))
    }

    /// The part of a string that stands among parts.
    #[must_use]
    pub fn bare_text(origin: Origin, text: String) -> Part {
        let mut extra = Extra::default();
        extra.set_layout(origin, [BARE]);
        Part::Text(Text { text, extra })
    }

    /// A value that the model has no kind for, verbatim; the reader has walked over it.
    #[must_use]
    pub fn carried(origin: Origin, place: Option<Place>, source: &str) -> Part {
        let value = RawJson::new(source).expect("the reader has walked over this value");
        Part::Other(Other { place, ..Other::new(origin, value) })
    }

    /// Whether a part was read as nothing but a text, as a string is.
    #[must_use]
    pub fn is_plain_text(it: &Part, origin: &Origin) -> bool {
        matches!(it, Part::Text(it) if it.extra.is_empty() && it.extra.layout(origin).is_none())
    }
}
