//! Requests of Converse: the messages, `system` first among them, and every other member raw and in its place (BR-1).

use msg_codec::codec::{Body, BodyKind, Context, MessageBody, Purpose, RequestBody, last_member};
use msg_core::{Error, Message, Report, request::RequestHead};
use msg_json::{Kind, Reader};

use crate::{
    ConverseResponse, WriteOptions, head,
    read::{read_messages, read_system},
    shape::BEDROCK,
    write::{Writer, written},
};

const MESSAGES: &str = "messages";
const SYSTEM: &str = "system";

/// What is held as messages; a `system` that said nothing stays in its place.
const HELD: &[&str] = &[MESSAGES, SYSTEM];

/// A request of Converse.
#[derive(Debug, Clone, PartialEq)]
pub struct ConverseRequest {
    /// The conversation, `system` as its first message.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
    /// `system` became the first message, and has only its place in the body.
    has_system: bool,
    /// Where its messages are from.
    purpose: Purpose,
}

impl ConverseRequest {
    /// A request of these messages that asks what `head` asks (BR-24), and what it has no place for.
    #[must_use]
    pub fn from_head(head: &RequestHead, messages: Vec<Message>) -> (Self, Report) {
        let mut body = Body::new(HELD);
        body.write_optional("modelId", head.model.as_ref(), |it, text| it.str(text));
        body.hold(MESSAGES);
        let has_calls = messages.iter().any(|it| it.tool_calls().next().is_some());
        let report = head::write(head, has_calls, &mut body);
        (Self { messages, body, has_system: false, purpose: Purpose::Convert }, report)
    }

    /// What the request asks besides its conversation (BR-24).
    #[must_use]
    pub fn head(&self) -> RequestHead {
        head::read(self.body.iter())
    }

    fn write_with(&self, writer: &mut Writer<'_>, out: &mut Vec<u8>) {
        let n_leading = self.purpose.leading(&self.messages, &BEDROCK);
        let mut system = writer.system(&self.messages, n_leading);
        let had_system = self.body.has(SYSTEM);
        self.body.write(out, |it, name, raw| {
            let is_system = name == SYSTEM;
            match system.take_if(|_| is_system || !had_system) {
                Some(system) => it.key(SYSTEM).value(|out| out.extend_from_slice(&system)),
                None if is_system && !self.has_system && writer.keeps_layout() => {
                    it.key(name).raw(raw.text());
                }
                None => {}
            }
            if !is_system {
                let rest = &self.messages[n_leading..];
                it.key(name).value(|out| writer.messages(rest, n_leading, out));
            }
        });
    }
}

impl MessageBody for ConverseRequest {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let offset = reader.next_offset();
        // The first message may come after the others, and findings say which message they are of.
        let system = match last_member(reader.clone(), SYSTEM)? {
            Some(source) => {
                let bad = Error::Shape { message: None, expected: Self::EXPECTED, offset };
                read_system(source, cx).ok_or(bad)?
            }
            None => None,
        };
        let (mut body, messages) = Body::read(reader, HELD, cx, |it, cx| read_messages(it, cx))?;
        let mut messages = messages.unwrap_or_default();
        let has_system = system.is_some();
        if has_system {
            body.hold(SYSTEM);
            messages.splice(0..0, system);
        }
        Ok(Self { messages, body, has_system, purpose: Purpose::Return })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, self.purpose, |writer| self.write_with(writer, out))
    }

    fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }
}

impl RequestBody for ConverseRequest {
    type Response = ConverseResponse;

    const REQUEST: (&'static str, &'static [Kind]) = (MESSAGES, &[Kind::Array]);
    const RESPONSE: &'static str = "output";
    const EXPECTED: &'static str =
        "a list of messages, an object with messages, one with output.message, or a message";

    fn told_by(name: &str, kind: Kind) -> Option<BodyKind> {
        match (name, kind) {
            (MESSAGES, Kind::Array) => Some(BodyKind::Request),
            ("output", Kind::Object) | ("content", Kind::Array) => Some(BodyKind::Response),
            _ => None,
        }
    }

    fn read_list<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Vec<Message>, Error> {
        read_messages(reader, cx)
    }

    fn write_list(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, Purpose::Return, |writer| writer.messages(messages, 0, out))
    }

    fn head(&self) -> RequestHead {
        self.head()
    }

    fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}
