//! Interactions: the steps of an answer, or of a whole stored conversation, and every other member raw and in its
//! place (GI-1, GI-14).

use msg_codec::Assembled;
use msg_codec::codec::{Body, Context, ListWriter, MessageBody, Purpose};
use msg_core::{Error, Message, Report, Role, Usage};
use msg_json::{Kind, Reader};

use super::events::{status, usage};
use super::read::{read_items, read_steps};
use super::write::{Writer, written};
use crate::WriteOptions;

const STEPS: &str = "steps";
const OUTPUTS: &str = "outputs";

/// What is held as messages: `steps`, or what the older schema has for them.
const HELD: &[&str] = &[STEPS];
const HELD_BEFORE: &[&str] = &[OUTPUTS];

/// What the API answered with.
///
/// ```
/// use msg_gemini::{ReadOptions, interactions};
///
/// let json = br#"{"id":"v1_a","object":"interaction","status":"completed","model":"gemini-x",
///     "steps":[{"type":"model_output","content":[{"type":"text","text":"Hi"}]}],
///     "usage":{"total_input_tokens":3,"total_output_tokens":1}}"#;
/// let (document, _) = interactions::read(json, &ReadOptions::new())?;
/// let interactions::Document::Response(response) = document else {
///     unreachable!("an object with steps is a response")
/// };
/// assert_eq!(response.messages[0].text(), "Hi");
/// assert_eq!(response.id().as_deref(), Some("v1_a"));
/// assert_eq!(response.status().as_deref(), Some("completed"));
/// assert_eq!(response.usage().and_then(|it| it.output), Some(1));
/// # Ok::<(), msg_gemini::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// What was said.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
    /// The steps were `outputs`.
    is_before: bool,
}

impl Interaction {
    /// The response that says what a stream said, of whatever format it was: for a proxy that answers its client whole.
    /// Of several choices it is the first.
    ///
    /// ```
    /// use msg_codec::{StreamOptions, StreamReader};
    /// use msg_gemini::{GEMINI, interactions::Interaction};
    ///
    /// let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
    /// reader.feed(br#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}"#, &mut |_| {});
    /// let response = Interaction::of(&reader.finish(&mut |_| {}));
    /// assert_eq!(response.status().as_deref(), Some("completed"));
    /// assert_eq!(response.messages[0].text(), "Hi");
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        let first = res.choices.first();
        let mut body = Body::new(HELD);
        body.write_optional("id", res.id.as_ref(), |it, text| it.str(text));
        body.write_member("object", |it| it.str("interaction"));
        let status = first.and_then(|it| it.finish.as_ref()).and_then(status);
        body.write_member("status", |it| it.str(status.unwrap_or("failed")));
        body.write_optional("model", res.model.as_ref(), |it, text| it.str(text));
        body.hold(STEPS);
        body.write_optional("usage", res.usage.as_ref(), usage);
        let messages = first.map(|it| it.message.clone()).into_iter().collect();
        Self { messages, body, is_before: false }
    }

    /// The provider's id of the interaction.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.body.parse("id")
    }

    /// The model that answered.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.body.parse("model")
    }

    /// Its status, in the API's word.
    #[must_use]
    pub fn status(&self) -> Option<String> {
        self.body.parse("status")
    }

    /// What it cost.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.body.usage("usage")
    }

    /// Whether it holds what was asked too, as a stored interaction does.
    #[must_use]
    pub fn is_conversation(&self) -> bool {
        self.messages.iter().any(|it| it.role == Role::User)
    }

    fn write_with<'a>(&'a self, writer: &mut Writer<'a, '_>, out: &mut Vec<u8>) {
        let before = self.messages.first().filter(|it| {
            let is_one = self.messages.len() == 1 && it.role == Role::Assistant;
            is_one && self.is_before && writer.is_verbatim()
        });
        self.body.write(out, |it, _, _| match before {
            Some(message) => it.key(OUTPUTS).value(|out| writer.items(message, out)),
            None => it.key(STEPS).value(|out| writer.list(&self.messages, 0, out)),
        });
    }
}

impl MessageBody for Interaction {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let is_before = !Body::has_member(reader.clone(), STEPS, Kind::Array)?;
        let held = if is_before { HELD_BEFORE } else { HELD };
        let (body, messages) = Body::read(reader, held, cx, |it, cx| match it.peek()? {
            Kind::Array if is_before => read_items(it, cx),
            Kind::Array => read_steps(it, cx),
            _ => Ok(it.raw().map(|_| Vec::new())?),
        })?;
        let mut messages = messages.unwrap_or_default();
        body.note_model("model", answers(&mut messages));
        Ok(Self { messages, body, is_before })
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
}

/// The messages, which one model made if there is nothing else among them.
fn answers(messages: &mut [Message]) -> &mut [Message] {
    let is_answer = messages.iter().all(|it| it.role == Role::Assistant);
    if is_answer { messages } else { &mut [] }
}
