//! Responses of the Messages API: one message, and every other member raw and in its place (AN-1).

use msg_codec::Assembled;
use msg_codec::codec::{Body, Context, MessageBody, Purpose, RequestForm, text_of};
use msg_core::{Error, Message, RawJson, Report, Role, Usage};
use msg_json::Reader;

use crate::{
    EventOptions, WriteOptions, events,
    read::read_message,
    request::MessagesForm,
    write::{Writer, written},
};

/// What is held as the message.
const HELD: &[&str] = &["content"];

/// A message that the API answered with.
///
/// ```
/// use msg_anthropic::{ReadOptions, messages};
///
/// let json = br#"{"id":"msg_1","type":"message","role":"assistant","model":"m",
///     "content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"output_tokens":1}}"#;
/// let (document, _) = messages::read(json, &ReadOptions::new())?;
/// let messages::Document::Response(response) = document else {
///     unreachable!("an object with content and role is a response")
/// };
/// assert_eq!(response.messages[0].text(), "Hi");
/// assert_eq!(response.id().as_deref(), Some("msg_1"));
/// let maker = response.messages[0].provenance();
/// assert_eq!(maker.and_then(|it| it.model.as_deref()), Some("m"));
/// assert_eq!(response.usage().and_then(|it| it.output), Some(1));
/// # Ok::<(), msg_anthropic::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesResponse {
    /// What the model said: one message.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
}

impl MessagesResponse {
    /// The response that says what a stream said, of whatever format it was: for a proxy that answers its client whole.
    /// Of several choices it is the first.
    ///
    /// ```
    /// use msg_anthropic::{ANTHROPIC, MessagesResponse};
    /// use msg_codec::{StreamOptions, StreamReader};
    ///
    /// let mut reader = StreamReader::new(&[ANTHROPIC], StreamOptions::default());
    /// let body = br#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}]}"#;
    /// reader.feed(body, &mut |_| {});
    /// let response = MessagesResponse::of(&reader.finish(&mut |_| {}));
    /// assert_eq!(response.id().as_deref(), Some("msg_1"));
    /// assert_eq!(response.messages[0].text(), "Hi");
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        let first = res.choices.first().map(|it| it.message.clone());
        Self::new(first.unwrap_or_else(|| Message::new(Role::Assistant)), &EventOptions::of(res))
    }

    /// A response that says this message, as the API answers a request that is not streamed: for a proxy.
    /// Why the model stopped follows from its calls where the options do not say.
    ///
    /// ```
    /// use msg_anthropic::{EventOptions, MessagesResponse, WriteOptions, messages::Document};
    /// use msg_core::Message;
    ///
    /// let options = EventOptions::default().with_id("msg_1").with_model("m");
    /// let response = MessagesResponse::new(Message::assistant("Hi"), &options);
    /// let mut out = Vec::new();
    /// let report = Document::Response(response).write(&WriteOptions::new(), &mut out);
    /// assert!(report.is_empty());
    /// assert_eq!(
    ///     String::from_utf8_lossy(&out),
    ///     concat!(
    ///         r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","#,
    ///         r#""content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,"#,
    ///         r#""usage":{"input_tokens":0,"output_tokens":0}}"#,
    ///     ),
    /// );
    /// ```
    #[must_use]
    pub fn new(message: Message, options: &EventOptions) -> Self {
        let mut body = Body::new(HELD);
        for name in ["id", "type", "role", "model"] {
            let text = match name {
                "id" => &options.id,
                "type" => "message",
                "role" => "assistant",
                _ => &options.model,
            };
            body.set(name, RawJson::string(text));
        }
        body.hold("content");
        let reason = events::stop_reason(options, &message);
        body.set(
            "stop_reason",
            reason.map_or_else(|| RawJson::written(|it| it.null()), RawJson::string),
        );
        body.write_member("stop_sequence", |it| it.null());
        body.write_member("usage", |it| it.raw(&events::usage_text(options)));
        Self { messages: vec![message], body }
    }

    /// The provider's id of the message.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.body.parse("id")
    }

    /// The model that answered.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.body.parse("model")
    }

    /// Why it stopped, in Anthropic's word.
    #[must_use]
    pub fn stop_reason(&self) -> Option<String> {
        self.body.parse("stop_reason")
    }

    /// What it cost.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.body.usage("usage")
    }

    pub(crate) fn write_with(&self, writer: &mut Writer<'_>, out: &mut Vec<u8>) {
        self.body.write(out, |it, name, _| {
            it.key(name).value(|out| writer.response(&self.messages, out));
        });
    }
}

impl MessageBody for MessagesResponse {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let offset = reader.next_offset();
        let (body, content) = Body::read(reader, HELD, cx, |it, _| Ok(it.raw()?))?;
        let role = body.get("role").and_then(|it| text_of(it.text()));
        let Some((role, _)) = role else {
            return Err(Error::Shape { message: None, expected: MessagesForm::EXPECTED, offset });
        };
        let mut messages = read_message(Role::from(&*role), content.unwrap_or("[]"), cx)?;
        body.note_model("model", &mut messages);
        Ok(Self { messages, body })
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
        messages == 1
    }
}
