//! Requests of Converse: the messages, `system` first among them, and every other member raw and in its place (BR-1).

use msg_codec::codec::{self, Body, Context, RequestForm, RequestParts};
use msg_core::{Error, Message, Origin, Report, request::RequestHead};
use msg_json::{Kind, Reader};

use crate::{
    ConverseResponse, WriteOptions, head, read::read_messages, shape::BEDROCK, stream::Converse,
    write::written,
};

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
