//! What the documents of all formats have in common: a bare list, or an object that one member tells to be a
//! request or a response (OA-3, OA-14, AN-1, GE-1). What these hold is the format's own.
//!
//! ```text
//! [{"role":"user",…}]                    List
//! {"model":"m","messages":[…]}           Request    told by the member that holds the messages
//! {"id":"c","choices":[…]}               Response   told by its own
//! ```

use msg_core::request::RequestHead;
use msg_core::{Error, Message, Report};
use msg_json::{JsonError, Kind, Reader};

use super::fields::Context;
use super::kept::Body;
use crate::options::ReadOptions;

/// A request or a response: messages, and the members around them.
pub trait MessageBody: Sized {
    /// How it is written.
    type Options;

    /// Reads the object that the reader is at.
    ///
    /// # Errors
    /// What is not JSON, or not a body of this kind, with the place.
    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error>;

    /// Appends it as JSON; unedited it is the same value as what was read.
    fn write_body(&self, options: &Self::Options, out: &mut Vec<u8>) -> Report;

    /// The messages, in order.
    fn messages(&self) -> &[Message];

    /// The messages, to change.
    fn messages_mut(&mut self) -> &mut Vec<Message>;

    /// Whether so many messages have a place in it.
    fn has_room(&self, _messages: usize) -> bool {
        true
    }
}

/// The request of a format, and what tells the documents of the format apart.
pub trait RequestBody: MessageBody {
    /// The response to it.
    type Response: MessageBody<Options = Self::Options>;

    /// The member that holds its messages, and the kinds that it may have.
    const REQUEST: (&'static str, &'static [Kind]);
    /// The member of a response that holds its messages; an array.
    const RESPONSE: &'static str;
    /// Whether a document that has the members of both is a response.
    const RESPONSE_WINS: bool = false;
    /// What the error says that was expected.
    const EXPECTED: &'static str;

    /// What a member with a value of this kind says that the document is.
    fn told_by(name: &str, kind: Kind) -> Option<BodyKind> {
        let (request, kinds) = Self::REQUEST;
        if name == request && kinds.contains(&kind) {
            return Some(BodyKind::Request);
        }
        (name == Self::RESPONSE && kind == Kind::Array).then_some(BodyKind::Response)
    }

    /// Reads the bare list that the reader is at.
    ///
    /// # Errors
    /// What is not JSON, or not a list of messages, with the place.
    fn read_list<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Vec<Message>, Error>;

    /// Appends messages as a bare list, as they were read.
    fn write_list(messages: &[Message], options: &Self::Options, out: &mut Vec<u8>) -> Report;

    /// What it asks besides its conversation (AN-21).
    fn head(&self) -> RequestHead;

    /// The members around its messages, to change.
    fn body_mut(&mut self) -> &mut Body;
}

/// What an object with messages is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// What is sent.
    Request,
    /// What comes back.
    Response,
}

/// A document of the format that has this request.
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
    /// Reads a document, and says what is odd about it.
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
            Some(Shape::List) => Self::List(Q::read_list(reader, cx)?),
            Some(Shape::Body(BodyKind::Request)) => Self::Request(Q::read_body(reader, cx)?),
            Some(Shape::Body(BodyKind::Response)) => {
                Self::Response(Q::Response::read_body(reader, cx)?)
            }
            None => return Err(unknown(reader, Q::EXPECTED)?),
        };
        reader.finish()?;
        Ok(res)
    }

    /// Appends the document as JSON; unedited it is the same value as what was read, the order of members and the
    /// spelling of numbers included.
    pub fn write(&self, options: &Q::Options, out: &mut Vec<u8>) -> Report {
        // A buffer that grows is copied again and again, which is a fifth of the time.
        out.reserve(self.messages().map(room_of).sum());
        match self {
            Self::List(it) => Q::write_list(it, options, out),
            Self::Request(it) => it.write_body(options, out),
            Self::Response(it) => it.write_body(options, out),
        }
    }

    /// The messages, in order; the instructions of a request first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        match self {
            Self::List(it) => it.iter(),
            Self::Request(it) => it.messages().iter(),
            Self::Response(it) => it.messages().iter(),
        }
    }

    /// Gives the messages away.
    #[must_use]
    pub fn into_messages(mut self) -> Vec<Message> {
        self.take_messages()
    }

    /// Gives the messages away for a while, until [`Document::set_messages`] puts them back.
    pub fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(match self {
            Self::List(it) => it,
            Self::Request(it) => it.messages_mut(),
            Self::Response(it) => it.messages_mut(),
        })
    }

    /// Puts other messages in the place of those that were read. Where a response has no place for so many the
    /// document becomes a list of them.
    pub fn set_messages(&mut self, messages: Vec<Message>) {
        match self {
            Self::Request(it) => *it.messages_mut() = messages,
            Self::Response(it) if it.has_room(messages.len()) => *it.messages_mut() = messages,
            _ => *self = Self::List(messages),
        }
    }

    /// What it asks besides its conversation, if it is a request.
    #[must_use]
    pub fn head(&self) -> Option<RequestHead> {
        if let Self::Request(it) = self { Some(it.head()) } else { None }
    }
}

/// What a message takes about, the names and escapes around its texts included.
fn room_of(it: &Message) -> usize {
    let size = it.size();
    size + size / 16 + 64 * (1 + it.parts.len())
}

/// What a document is.
enum Shape {
    List,
    Body(BodyKind),
}

fn shape<Q: RequestBody>(reader: &mut Reader<'_>) -> Result<Option<Shape>, JsonError> {
    match reader.peek()? {
        Kind::Array => Ok(Some(Shape::List)),
        Kind::Object => Ok(body_kind::<Q>(reader.clone())?.map(Shape::Body)),
        _ => Ok(None),
    }
}

/// Looks ahead for the member that tells a request from a response.
fn body_kind<Q: RequestBody>(mut reader: Reader<'_>) -> Result<Option<BodyKind>, JsonError> {
    let wins = if Q::RESPONSE_WINS { BodyKind::Response } else { BodyKind::Request };
    let mut res = None;
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let told = Q::told_by(&key.text, reader.peek()?);
        if told == Some(wins) {
            return Ok(told);
        }
        res = told.or(res);
        reader.raw()?;
    }
    Ok(res)
}

/// The error for a document that is none of ours, unless it is not even JSON.
fn unknown(reader: &mut Reader<'_>, expected: &'static str) -> Result<Error, JsonError> {
    let offset = reader.next_offset();
    reader.raw()?;
    reader.finish()?;
    Ok(Error::Shape { message: None, expected, offset })
}
