//! The known members of a kind of JSON object, and the writer of such an object.

use msg_core::request::RequestHead;
use msg_core::{Error, Message, RawJson, Report};
use msg_json::{JsonError, Kind, Reader};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::fields::RawMember;
use super::layout::SlotPlan;
use crate::codec::Body;
use crate::codec::fields::{Context, text_of};
use crate::options::ReadOptions;

/// The names of the known members of an object, in canonical order. The code of a member is its
/// position from 1.
///
/// A member may have a second spelling. If a source used it, a bit in the variant of its slot is set, so
/// the variants of such shapes are 0 to 3 ([`SlotPlan::variant_of_any`]).
///
/// ```
/// use msg_json::Reader;
/// use msg_codec::codec::{Context, Fields, SlotPlan, Shape, bit};
///
/// static FILE: Shape = Shape::with_aliases(&["fileUri"], &["file_uri"]);
/// let mut report = msg_core::Report::new();
/// let mut reader = Reader::from_text(r#"{"file_uri":"gs://b"}"#);
/// let fields = Fields::read(&FILE, &mut Context::new(&mut report), &mut reader)?;
/// assert_eq!(fields.raw(1), Some(r#""gs://b""#));
/// let mut out = Vec::new();
/// FILE.write(&mut out, SlotPlan::new(Some(fields.slots())), bit(1), &[], |out, _| out.push(b'1'));
/// assert_eq!(out, br#"{"file_uri":1}"#);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub struct Shape {
    names: &'static [&'static str],
    /// The second spelling of each name, `""` if it has none; empty if no name has one.
    aliases: &'static [&'static str],
}

/// The value of a member to write.
#[derive(Debug, Clone, Copy)]
pub enum Value<'v> {
    /// The member is left out.
    Absent,
    /// A text.
    Text(&'v str),
    /// JSON.
    Json(&'v [u8]),
}

impl Value<'_> {
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Absent => {}
            Self::Text(text) => msg_json::write_str(out, text),
            Self::Json(json) => out.extend_from_slice(json),
        }
    }
}

impl<'v, T: AsRef<str> + ?Sized> From<&'v T> for Value<'v> {
    fn from(text: &'v T) -> Self {
        Self::Text(text.as_ref())
    }
}

impl<'v> From<Option<&'v Vec<u8>>> for Value<'v> {
    fn from(json: Option<&'v Vec<u8>>) -> Self {
        json.map_or(Self::Absent, |it| Self::Json(it))
    }
}

impl<'v> From<Option<&'v str>> for Value<'v> {
    fn from(text: Option<&'v str>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}

/// The variant bit for the second spelling.
pub(crate) const ALIASED: u8 = 4;

/// The bit of a code.
pub const fn bit(code: u8) -> u32 {
    1 << code
}

/// The bit of a code, if the condition holds.
pub const fn mask(condition: bool, code: u8) -> u32 {
    if condition { 1 << code } else { 0 }
}

impl Shape {
    /// The shape of an object with these members.
    ///
    /// # Panics
    /// At compile time, where a shape is a constant: there are more than 11 names.
    #[must_use]
    pub const fn new(names: &'static [&'static str]) -> Self {
        Self::with_aliases(names, &[])
    }

    /// The shape of an object whose members have a second spelling, or `""`.
    ///
    /// # Panics
    /// At compile time, where a shape is a constant: there are more than 11 names.
    #[must_use]
    pub const fn with_aliases(
        names: &'static [&'static str],
        aliases: &'static [&'static str],
    ) -> Self {
        assert!(names.len() < super::fields::CODES, "a shape has at most 11 members");
        Self { names, aliases }
    }

    /// The code of a name in either spelling, 0 for an unknown one.
    pub fn code(&self, name: &str) -> u8 {
        self.find(name).0
    }

    /// The code of a name, and the variant bits that say how it is spelled.
    #[inline]
    pub(crate) fn find(&self, name: &str) -> (u8, u8) {
        let place = |list: &[&str]| list.iter().position(|it| *it == name);
        match (place(self.names), self.aliases) {
            (Some(at), _) => (at as u8 + 1, 0),
            (None, []) => (0, 0),
            (None, aliases) => {
                let alias = place(aliases).filter(|_| !name.is_empty());
                alias.map_or((0, 0), |at| (at as u8 + 1, ALIASED))
            }
        }
    }

    /// The name of a code.
    pub fn name(&self, code: u8) -> &'static str {
        self.names.get(usize::from(code) - 1).copied().unwrap_or_default()
    }

    /// The second spelling of a code, if any.
    fn alias(&self, code: u8) -> Option<&'static str> {
        self.aliases.get(usize::from(code) - 1).copied().filter(|it| !it.is_empty())
    }

    /// The name of a member in the spelling recorded by the slot.
    fn spelled(&self, code: u8, slot: u8) -> &'static str {
        let alias = self.alias(code).filter(|_| slot >> 5 & ALIASED != 0);
        alias.unwrap_or_else(|| self.name(code))
    }

    /// Writes an object with these values, in the order of their codes; see [`Shape::write`].
    pub fn write_values(
        &self,
        out: &mut Vec<u8>,
        plan: SlotPlan<'_>,
        values: &[Value<'_>],
        raw: &[RawMember<'_>],
    ) -> usize {
        let there = values.iter().zip(1..);
        let there = there.map(|(it, code)| mask(!matches!(it, Value::Absent), code));
        self.write(out, plan, there.fold(0, |bits, it| bits | it), raw, |out, code| {
            values[usize::from(code) - 1].write(out);
        })
    }

    /// Writes an object: the members in `want` with `value`, in the order of the plan if it has one
    /// and canonically after that, then the rest of `raw`. Returns the number of raw members whose
    /// place was taken.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        plan: SlotPlan<'_>,
        want: u32,
        raw: &[RawMember<'_>],
        value: impl FnMut(&mut Vec<u8>, u8),
    ) -> usize {
        let mut lost = 0;
        msg_json::Writer::new(out).object(|out| {
            let mut it = MemberWalk { shape: self, out, want, raw, next: 0, done: 0, value };
            plan.slots().unwrap_or_default().iter().for_each(|slot| it.slot(*slot));
            lost = it.rest();
        });
        lost
    }
}

/// An object being written.
struct MemberWalk<'a, 'b, 'o, F> {
    shape: &'a Shape,
    out: &'a mut msg_json::Writer<'o>,
    want: u32,
    raw: &'a [RawMember<'b>],
    /// The next raw member without a slot of its own.
    next: usize,
    /// The codes already written.
    done: u32,
    value: F,
}

impl<F: FnMut(&mut Vec<u8>, u8)> MemberWalk<'_, '_, '_, F> {
    fn slot(&mut self, slot: u8) {
        let code = slot & 0x1f;
        if code == 0 {
            self.next_unknown();
        } else if usize::from(code) <= self.shape.names.len() && self.done & bit(code) == 0 {
            let name = self.shape.spelled(code, slot);
            if self.want & bit(code) != 0 {
                self.member(code, name);
            } else {
                self.raw_named(code, name);
            }
        }
    }

    fn member(&mut self, code: u8, name: &'static str) {
        self.done |= bit(code);
        self.out.plain_key(name).value(|out| (self.value)(out, code));
    }

    fn raw_named(&mut self, code: u8, spelled: &str) {
        let name = self.shape.name(code);
        if let Some(it) = self.raw.iter().find(|it| it.name == name) {
            self.done |= bit(code);
            self.out.key(spelled).raw(it.value);
        }
    }

    /// Members with a known name have their own slot, wherever they come from.
    fn next_unknown(&mut self) {
        while let Some(it) = self.raw.get(self.next) {
            self.next += 1;
            if self.shape.code(&it.name) == 0 {
                return self.out.key(&it.name).raw(it.value);
            }
        }
    }

    fn rest(&mut self) -> usize {
        let mut open = self.want & !self.done;
        while open != 0 {
            let code = open.trailing_zeros() as u8;
            open &= open - 1;
            self.member(code, self.shape.name(code));
        }
        let mut lost = 0;
        let before = self.done;
        for (at, it) in self.raw.iter().enumerate() {
            let code = self.shape.code(&it.name);
            let is_open = match code {
                0 => at >= self.next,
                _ => before & bit(code) == 0,
            };
            if is_open {
                self.out.key(&it.name).raw(it.value);
            } else if self.want & !1 & bit(code) != 0 {
                lost += 1;
            }
        }
        lost
    }
}

// The common structure of documents of all formats: a bare list, or an object that one member identifies as a request
// or a response (OA-3, OA-14, AN-1, GE-1).
//
// ```text
// [{"role":"user",…}]                    List
// {"model":"m","messages":[…]}           Request    told by the member that holds the messages
// {"id":"c","choices":[…]}               Response   told by its own
// ```

/// A request or a response: messages, and the members around them.
pub trait MessageBody: Sized {
    /// The options of writing.
    type Options;

    /// Reads the object at the reader's position.
    ///
    /// # Errors
    /// The text is not JSON, or not a body of this kind. The error contains the byte offset.
    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error>;

    /// Appends it as JSON. Without edits, the value equals the value that was read.
    fn write_body(&self, options: &Self::Options, out: &mut Vec<u8>) -> Report;

    /// The messages, in order.
    fn messages(&self) -> &[Message];

    /// The messages, for changes.
    fn messages_mut(&mut self) -> &mut Vec<Message>;

    /// Serialises the JSON that [`MessageBody::write_body`] writes.
    ///
    /// # Errors
    /// The serialiser failed.
    fn serialize_with<S: Serializer>(
        &self,
        options: &Self::Options,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut out = Vec::new();
        self.write_body(options, &mut out);
        serialize_json(out, serializer)
    }

    /// Whether this number of messages fits into it.
    fn has_room(&self, _messages: usize) -> bool {
        true
    }
}

/// Hands finished JSON to a serialiser, member by member: serde may add members around them.
fn serialize_json<S: Serializer>(json: Vec<u8>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = String::from_utf8(json).map_err(S::Error::custom)?;
    RawJson::new(text).map_err(S::Error::custom)?.serialize_members(serializer)
}

impl Body {
    /// The source text of the last member with this name in the object at the reader.
    ///
    /// # Errors
    /// The text is not JSON. The error contains the byte offset.
    pub fn last_member<'a>(
        mut reader: Reader<'a>,
        name: &str,
    ) -> Result<Option<&'a str>, msg_json::JsonError> {
        let mut res = None;
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            let value = reader.raw()?;
            if key.text == name {
                res = Some(value);
            }
        }
        Ok(res)
    }

    /// Whether the object at the reader has a member with this name and kind.
    ///
    /// # Errors
    /// The text is not JSON. The error contains the byte offset.
    pub fn has_member(
        mut reader: Reader<'_>,
        name: &str,
        kind: Kind,
    ) -> Result<bool, msg_json::JsonError> {
        let mut res = false;
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            res |= key.text == name && reader.peek()? == kind;
            reader.raw()?;
        }
        Ok(res)
    }
}

/// The request of a format, and what distinguishes the documents of the format.
pub trait RequestBody: MessageBody {
    /// The response to it.
    type Response: MessageBody<Options = Self::Options>;

    /// The member with its messages, and the kinds of value that it may have.
    const REQUEST: (&'static str, &'static [Kind]);
    /// The member with the messages of a response; always an array.
    const RESPONSE: &'static str;
    /// Whether a document with both members is a response.
    const RESPONSE_WINS: bool = false;
    /// The expected documents, for error messages.
    const EXPECTED: &'static str;

    /// A member and its text that identify a response without messages, if no other member identifies the document.
    const RESPONSE_SAYS: Option<(&'static str, &'static str)> = None;

    /// The kind of document that a member with a value of this kind identifies.
    fn told_by(name: &str, kind: Kind) -> Option<BodyKind> {
        let (request, kinds) = Self::REQUEST;
        if name == request && kinds.contains(&kind) {
            return Some(BodyKind::Request);
        }
        (name == Self::RESPONSE && kind == Kind::Array).then_some(BodyKind::Response)
    }

    /// Reads the bare list at the reader's position.
    ///
    /// # Errors
    /// The text is not JSON, or not a list of messages. The error contains the byte offset.
    fn read_list<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Vec<Message>, Error>;

    /// Appends messages as a bare list.
    fn write_list(messages: &[Message], options: &Self::Options, out: &mut Vec<u8>) -> Report;

    /// The settings besides the conversation (AN-21).
    fn head(&self) -> RequestHead;

    /// The members around the messages, for changes.
    fn body_mut(&mut self) -> &mut Body;
}

/// The kind of an object with messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// A request.
    Request,
    /// A response.
    Response,
}

/// A document of a format.
#[derive(Debug, Clone, PartialEq)]
pub enum Document<Q: RequestBody> {
    /// An array of messages.
    List(Vec<Message>),
    /// The body of a request.
    Request(Q),
    /// The body of a response.
    Response(Q::Response),
}

impl<Q: RequestBody> Document<Q> {
    /// Reads a document, and reports its problems.
    ///
    /// # Errors
    /// [`Error::Read`](crate::options::Error::Read) with message and byte, or [`Error::TooLarge`](crate::options::Error::TooLarge).
    pub fn read(
        json: &[u8],
        options: &ReadOptions,
    ) -> Result<(Self, Report), crate::options::Error> {
        if json.len() > options.max_bytes {
            return Err(crate::options::Error::TooLarge { limit: options.max_bytes });
        }
        let mut reader = Reader::new(json).map_err(Error::from)?;
        let mut report = Report::new();
        let mut cx = Context::new(&mut report);
        let res = Self::read_from(&mut reader, &mut cx)?;
        cx.flush();
        Ok((res, report))
    }

    fn read_from<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let res = match shape::<Q>(reader)? {
            Some(DocumentShape::List) => Self::List(Q::read_list(reader, cx)?),
            Some(DocumentShape::Body(BodyKind::Request)) => {
                Self::Request(Q::read_body(reader, cx)?)
            }
            Some(DocumentShape::Body(BodyKind::Response)) => {
                Self::Response(Q::Response::read_body(reader, cx)?)
            }
            None => return Err(unknown(reader, Q::EXPECTED)?),
        };
        reader.finish()?;
        Ok(res)
    }

    /// Reads a document that must be a request.
    ///
    /// # Errors
    /// As [`Document::read`], and [`Error::Shape`] for a list or a response.
    pub fn read_request(
        json: &[u8],
        options: &ReadOptions,
    ) -> Result<(Q, Report), crate::options::Error> {
        match Self::read(json, options)? {
            (Self::Request(it), report) => Ok((it, report)),
            _ => Err(crate::options::Error::Read(Error::Shape {
                message: None,
                expected: "a request, which is an object with messages",
                offset: 0,
            })),
        }
    }

    /// Appends the document as JSON. An unedited document is written as the same value, with its order of members
    /// and spelling of numbers.
    pub fn write(&self, options: &Q::Options, out: &mut Vec<u8>) -> Report {
        // Growing the buffer repeatedly would take a fifth of the time.
        out.reserve(self.messages().map(room_of).sum());
        match self {
            Self::List(it) => Q::write_list(it, options, out),
            Self::Request(it) => it.write_body(options, out),
            Self::Response(it) => it.write_body(options, out),
        }
    }

    /// The messages, in order. The instructions of a request come first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        match self {
            Self::List(it) => it.iter(),
            Self::Request(it) => it.messages().iter(),
            Self::Response(it) => it.messages().iter(),
        }
    }

    /// Consumes the document and returns its messages.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Message> {
        self.take_messages()
    }

    /// Takes the messages out; [`Document::set_messages`] puts them back.
    pub fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(match self {
            Self::List(it) => it,
            Self::Request(it) => it.messages_mut(),
            Self::Response(it) => it.messages_mut(),
        })
    }

    /// Replaces the messages. If a response has no place for so many, the document becomes a list.
    pub fn set_messages(&mut self, messages: Vec<Message>) {
        match self {
            Self::Request(it) => *it.messages_mut() = messages,
            Self::Response(it) if it.has_room(messages.len()) => *it.messages_mut() = messages,
            _ => *self = Self::List(messages),
        }
    }

    /// The settings of a request, everything besides its conversation.
    #[must_use]
    pub fn head(&self) -> Option<RequestHead> {
        if let Self::Request(it) = self { Some(it.head()) } else { None }
    }
}

impl<Q: RequestBody<Options: Default>> Serialize for Document<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = Vec::new();
        self.write(&Q::Options::default(), &mut out);
        serialize_json(out, serializer)
    }
}

/// The approximate size of a message, including names and escapes.
fn room_of(it: &Message) -> usize {
    let size = it.size();
    size + size / 16 + 64 * (1 + it.parts.len())
}

/// The kind of a document.
enum DocumentShape {
    List,
    Body(BodyKind),
}

fn shape<Q: RequestBody>(reader: &mut Reader<'_>) -> Result<Option<DocumentShape>, JsonError> {
    match reader.peek()? {
        Kind::Array => Ok(Some(DocumentShape::List)),
        Kind::Object => Ok(body_kind::<Q>(reader.clone())?.map(DocumentShape::Body)),
        _ => Ok(None),
    }
}

/// Finds the member that distinguishes a request from a response.
fn body_kind<Q: RequestBody>(mut reader: Reader<'_>) -> Result<Option<BodyKind>, JsonError> {
    let wins = if Q::RESPONSE_WINS { BodyKind::Response } else { BodyKind::Request };
    let (mut res, mut is_named) = (None, false);
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let told = Q::told_by(&key.text, reader.peek()?);
        if told == Some(wins) {
            return Ok(told);
        }
        res = told.or(res);
        let value = reader.raw()?;
        is_named |= Q::RESPONSE_SAYS.is_some_and(|(name, word)| {
            key.text == name && text_of(value).is_some_and(|it| it.0 == word)
        });
    }
    Ok(res.or(is_named.then_some(BodyKind::Response)))
}

/// The error for an unknown document, unless it is invalid JSON.
fn unknown(reader: &mut Reader<'_>, expected: &'static str) -> Result<Error, JsonError> {
    let offset = reader.next_offset();
    reader.raw()?;
    reader.finish()?;
    Ok(Error::Shape { message: None, expected, offset })
}
