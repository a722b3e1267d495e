//! The requests of APIs that have a member for instructions beside the list of messages (AN-1, GE-1, BR-1, GI-1): the
//! messages, the instructions first among them, and every other member raw and in its place.
//!
//! ```text
//! {"model":"m","system":"Be brief.","messages":[…]}     messages  system, user …
//!                                                       body      model "m", system (a place), messages (a place)
//! ```

use std::fmt;

use msg_core::request::RequestHead;
use msg_core::{Error, Message, Origin, RawJson, Report};
use msg_json::{JsonError, Kind, Reader};

use super::fields::Context;
use super::object::Purpose;
use super::shape::{BodyKind, MessageBody, RequestBody};
use crate::codec::Body;

/// What the requests of an API are made of.
pub trait RequestForm: fmt::Debug + Clone + PartialEq + Sized {
    /// How messages are written.
    type Options;
    /// What the API answers with.
    type Response: MessageBody<Options = Self::Options>;

    /// The format of its messages.
    const ORIGIN: Origin;
    /// The member that holds the list, then those that may hold the instructions, of which the first is written.
    const HELD: &'static [&'static str];
    /// The kinds that the list may have.
    const KINDS: &'static [Kind] = &[Kind::Array];
    /// See [`RequestBody::RESPONSE`].
    const RESPONSE: &'static str;
    /// See [`RequestBody::RESPONSE_WINS`].
    const RESPONSE_WINS: bool = false;
    /// See [`RequestBody::EXPECTED`].
    const EXPECTED: &'static str;

    /// The members that tell a response besides that, and their kinds.
    const TELL_RESPONSE: &'static [(&'static str, Kind)] = &[];
    /// How its parts are read and written.
    const PARTS: RequestParts<Self::Options>;

    /// Puts what a head asks into a body, the place of the messages among it, and reports what has no place.
    fn write_head(head: &RequestHead, messages: &[Message], body: &mut Body) -> Report;
}

/// How the parts of a request are read and written.
pub struct RequestParts<O> {
    /// What the members ask that are not the conversation.
    pub head: fn(&Body) -> RequestHead,
    /// Reads instructions; none that say nothing.
    pub system: Reads<Option<Message>>,
    /// Reads the list, or what may be in its place.
    pub list: Reads<Vec<Message>>,
    /// Writes through a writer, once, and gives what was lost.
    pub written: Writes<O>,
}

type Reads<T> = for<'a, 'r> fn(&mut Reader<'a>, &mut Context<'a, 'r>) -> Result<T, Error>;
type Writes<O> = for<'m> fn(&'m O, Purpose, &mut dyn FnMut(&mut dyn ListWriter<'m>)) -> Report;

/// What the messages of a request are written with.
pub trait ListWriter<'m> {
    /// The JSON of the instructions: the leading messages, and later ones that move there; none without text.
    fn system(&mut self, messages: &'m [Message], leading: usize) -> Option<Vec<u8>>;

    /// Appends messages as a list; `first` is the index that findings give to the first of them.
    fn list(&mut self, messages: &'m [Message], first: usize, out: &mut Vec<u8>);

    /// As [`ListWriter::list`], of what was a single element.
    fn single(&mut self, messages: &'m [Message], first: usize, out: &mut Vec<u8>) {
        self.list(messages, first, out);
    }

    /// Whether instructions that said nothing go back to where they were.
    fn keeps(&self, raw: &RawJson) -> bool;
}

/// A request whose messages are told by their roles, its instructions the first of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<F> {
    /// The conversation, the instructions as its first message.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
    form: std::marker::PhantomData<F>,
    /// The instructions became the first message, and have only their place in the body.
    has_system: bool,
    /// The list was a single element.
    is_single: bool,
    /// Where its messages are from.
    purpose: Purpose,
}

impl<F: RequestForm> Request<F> {
    /// A request of these messages that asks what `head` asks, and what it has no place for.
    #[must_use]
    pub fn from_head(head: &RequestHead, messages: Vec<Message>) -> (Self, Report) {
        let mut body = Body::new(F::HELD);
        let report = F::write_head(head, &messages, &mut body);
        let (form, purpose) = (std::marker::PhantomData, Purpose::Convert);
        (Self { messages, body, form, has_system: false, is_single: false, purpose }, report)
    }

    /// What the request asks besides its conversation.
    #[must_use]
    pub fn head(&self) -> RequestHead {
        (F::PARTS.head)(&self.body)
    }

    /// Appends messages as what is sent, the instructions and the list, and says what the format cannot hold. Linear in
    /// the output.
    pub fn write_conversation(
        messages: &[Message],
        options: &F::Options,
        out: &mut Vec<u8>,
    ) -> Report {
        (F::PARTS.written)(options, Purpose::Convert, &mut |writer| {
            let leading = Purpose::Convert.leading(messages, &F::ORIGIN);
            let system = writer.system(messages, leading);
            msg_json::Writer::new(out).object(|it| {
                if let Some(system) = system {
                    it.key(F::HELD[1]).value(|out| out.extend_from_slice(&system));
                }
                let rest = &messages[leading..];
                it.key(F::HELD[0]).value(|out| writer.list(rest, leading, out));
            });
        })
    }
}

impl<F: RequestForm> MessageBody for Request<F> {
    type Options = F::Options;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        // The first message may come after the others, and findings say which message they are of.
        let system = match system_of::<F>(reader.clone())? {
            Some((name, mut value)) => (F::PARTS.system)(&mut value, cx)?.map(|it| (name, it)),
            None => None,
        };
        let (mut body, found) = Body::read(reader, F::HELD, cx, |it, cx| {
            Ok((it.peek()? != Kind::Array, (F::PARTS.list)(it, cx)?))
        })?;
        let (is_single, mut messages) = found.unwrap_or_default();
        let has_system = system.is_some();
        if let Some((name, message)) = system {
            body.hold(name);
            messages.insert(0, message);
        }
        let (form, purpose) = (std::marker::PhantomData, Purpose::Return);
        Ok(Self { messages, body, form, has_system, is_single, purpose })
    }

    fn write_body(&self, options: &F::Options, out: &mut Vec<u8>) -> Report {
        (F::PARTS.written)(options, self.purpose, &mut |writer| {
            let leading = self.purpose.leading(&self.messages, &F::ORIGIN);
            let mut system = writer.system(&self.messages, leading);
            let had_system = F::HELD[1..].iter().any(|it| self.body.has(it));
            self.body.write(out, |it, name, raw| {
                let is_system = name != F::HELD[0];
                let keeps = is_system && writer.keeps(raw);
                match system.take_if(|_| is_system || !had_system) {
                    Some(system) => {
                        let name = if keeps { name } else { F::HELD[1] };
                        it.key(name).value(|out| out.extend_from_slice(&system));
                    }
                    None if keeps && !self.has_system => it.key(name).raw(raw.text()),
                    None => {}
                }
                if !is_system {
                    let rest = &self.messages[leading..];
                    it.key(name).value(|out| match self.is_single {
                        true => writer.single(rest, leading, out),
                        false => writer.list(rest, leading, out),
                    });
                }
            });
        })
    }

    fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }
}

impl<F: RequestForm> RequestBody for Request<F> {
    type Response = F::Response;

    const REQUEST: (&'static str, &'static [Kind]) = (F::HELD[0], F::KINDS);
    const RESPONSE: &'static str = F::RESPONSE;
    const RESPONSE_WINS: bool = F::RESPONSE_WINS;
    const EXPECTED: &'static str = F::EXPECTED;

    fn told_by(name: &str, kind: Kind) -> Option<BodyKind> {
        if name == F::HELD[0] && F::KINDS.contains(&kind) {
            return Some(BodyKind::Request);
        }
        let tells = (name == F::RESPONSE && kind == Kind::Array)
            || F::TELL_RESPONSE.contains(&(name, kind));
        tells.then_some(BodyKind::Response)
    }

    fn read_list<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Vec<Message>, Error> {
        (F::PARTS.list)(reader, cx)
    }

    fn write_list(messages: &[Message], options: &F::Options, out: &mut Vec<u8>) -> Report {
        (F::PARTS.written)(options, Purpose::Return, &mut |writer| writer.list(messages, 0, out))
    }

    fn head(&self) -> RequestHead {
        self.head()
    }

    fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

/// The name of the last member for instructions, and the reader before its value.
fn system_of<F: RequestForm>(
    mut reader: Reader<'_>,
) -> Result<Option<(&'static str, Reader<'_>)>, JsonError> {
    let mut res = None;
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        if let Some(name) = F::HELD[1..].iter().find(|it| key.text == **it) {
            res = Some((*name, reader.clone()));
        }
        reader.raw()?;
    }
    Ok(res)
}
