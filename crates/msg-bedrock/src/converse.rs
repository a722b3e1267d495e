//! The documents of Converse (BR-1): a bare list, a request with the messages, `system` first among them, a response with one
//! message, and one message alone; every other member raw and in its place.

use msg_codec::{
    Assembled,
    codec::{self, Body, Context, MessageBody, Purpose, RequestForm, RequestParts},
};
use msg_core::{Error, Message, Origin, Report, Usage, request::RequestHead};
use msg_json::{Kind, Reader};

use crate::read::{read_messages, read_one};
use crate::shape::BEDROCK;
use crate::stream::{Converse, stop_reason, write_usage};
use crate::write::{Writer, written};
use crate::{ReadOptions, WriteOptions, head};

/// A document that holds Converse messages.
pub type Document = codec::Document<ConverseRequest>;

/// Reads a document of Converse messages (BR-1 to BR-12), and says what is odd about it. It fails only for text that is
/// not JSON and for what is not a conversation. Linear in the input.
///
/// # Errors
/// [`Error::Read`](crate::Error::Read) with message and byte, or [`Error::TooLarge`](crate::Error::TooLarge).
pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Document, Report), crate::Error> {
    Document::read(json, options)
}

/// Appends messages as what is sent to Bedrock, `{"system"?,"messages"}` (BR-1, BR-13), and says what the format cannot
/// hold (MS-24). Linear in the output.
pub fn write(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    ConverseRequest::write_conversation(messages, options, out)
}

/// A request of Converse.
///
/// `from_head` makes one of messages that asks what a head asks (BR-24), and reports what has no place.
pub type ConverseRequest = codec::Request<Converse>;

impl RequestForm for Converse {
    type Options = WriteOptions;
    type Response = ConverseResponse;

    const ORIGIN: Origin = BEDROCK;
    const HELD: &'static [&'static str] = &["messages", "system"];
    const RESPONSE: &'static str = "output";
    const EXPECTED: &'static str =
        "a list of messages, an object with messages, one with output.message, or a message";
    const TELL_RESPONSE: &'static [(&'static str, Kind)] =
        &[("output", Kind::Object), ("content", Kind::Array)];
    const PARTS: RequestParts<WriteOptions> = RequestParts {
        head: |body| head::read(body.iter()),
        system: read_system,
        list: read_messages,
        written: |options, purpose, write| written(options, purpose, |it| write(it)),
    };

    fn write_head(head: &RequestHead, messages: &[Message], body: &mut Body) -> Report {
        body.write_optional("modelId", head.model.as_ref(), |it, text| it.str(text));
        body.hold("messages");
        let has_calls = messages.iter().any(|it| it.tool_calls().next().is_some());
        head::write(head, has_calls, body)
    }
}

/// Reads instructions; none that say nothing.
fn read_system<'a>(
    reader: &mut Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, Error> {
    let offset = reader.next_offset();
    let bad = Error::Shape { message: None, expected: Converse::EXPECTED, offset };
    crate::read::read_system(reader.raw()?, cx).ok_or(bad)
}

const OUTPUT: &[&str] = &["output"];
const MESSAGE: &[&str] = &["message"];

/// What Bedrock answered with, or one message.
#[derive(Debug, Clone, PartialEq)]
pub struct ConverseResponse {
    /// What was said: one message, two where a user's begins with results.
    pub messages: Vec<Message>,
    /// The members beside `output`; empty of a message alone.
    pub body: Body,
    /// The members of `output`; none of a message alone.
    output: Option<Body>,
    /// How many messages were read.
    n_read: usize,
}

impl ConverseResponse {
    /// The response that says what a stream said, of whatever format it was: for a proxy that answers its client whole.
    /// Of several choices it is the first.
    ///
    /// ```
    /// use msg_bedrock::{BEDROCK, ConverseResponse};
    /// use msg_codec::{StreamOptions, StreamReader};
    ///
    /// let mut reader = StreamReader::new(&[BEDROCK], StreamOptions::default());
    /// reader.feed(b"{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"}}}\n", &mut |_| {});
    /// reader.feed(b"{\"messageStop\":{\"stopReason\":\"end_turn\"}}\n", &mut |_| {});
    /// let response = ConverseResponse::of(&reader.finish(&mut |_| {}));
    /// assert_eq!(response.stop_reason().as_deref(), Some("end_turn"));
    /// assert_eq!(response.messages[0].text(), "Hi");
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        let (mut body, mut output) = (Body::new(OUTPUT), Body::new(MESSAGE));
        body.hold("output");
        output.hold("message");
        let first = res.choices.first();
        let reason = first.and_then(|it| it.finish.as_ref()).and_then(stop_reason);
        body.write_optional("stopReason", reason, |it, word| it.str(word));
        body.write_optional("usage", res.usage.as_ref(), write_usage);
        let messages: Vec<_> = first.map(|it| it.message.clone()).into_iter().collect();
        let n_read = messages.len();
        Self { messages, body, output: Some(output), n_read }
    }

    /// Why it stopped, in Bedrock's word.
    #[must_use]
    pub fn stop_reason(&self) -> Option<String> {
        self.body.parse("stopReason")
    }

    /// What it cost (BR-27).
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.body.usage("usage")
    }

    /// Whether it is one message without a response around it.
    #[must_use]
    pub fn is_message(&self) -> bool {
        self.output.is_none()
    }

    fn write_with(&self, writer: &mut Writer<'_>, out: &mut Vec<u8>) {
        let Some(output) = &self.output else { return writer.single(&self.messages, out) };
        self.body.write(out, |it, name, _| {
            it.key(name).value(|out| {
                output.write(out, |it, name, _| {
                    it.key(name).value(|out| writer.single(&self.messages, out));
                });
            });
        });
    }
}

impl MessageBody for ConverseResponse {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let offset = reader.next_offset();
        if !Body::has_member(reader.clone(), "output", Kind::Object)? {
            let messages = read_one(reader, cx)?;
            let (body, n_read) = (Body::new(OUTPUT), messages.len());
            return Ok(Self { messages, body, output: None, n_read });
        }
        let (body, found) = Body::read(reader, OUTPUT, cx, |it, cx| {
            if it.peek()? != Kind::Object {
                return Ok(it.raw().map(|_| None)?);
            }
            let (output, messages) = Body::read(it, MESSAGE, cx, |it, cx| match it.peek()? {
                Kind::Object => read_one(it, cx).map(Some),
                _ => Ok(it.raw().map(|_| None)?),
            })?;
            Ok(messages.flatten().map(|it| (output, it)))
        })?;
        let Some((output, messages)) = found.flatten() else {
            let expected = Converse::EXPECTED;
            return Err(Error::Shape { message: None, expected, offset });
        };
        let n_read = messages.len();
        Ok(Self { messages, body, output: Some(output), n_read })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, Purpose::Return, |writer| self.write_with(writer, out))
    }

    fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }

    /// A response is one message.
    fn has_room(&self, messages: usize) -> bool {
        messages == self.n_read
    }
}
