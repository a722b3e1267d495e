//! Requests of the Messages API: the messages, `system` first among them, and every other member raw and
//! in its place (AN-1).

use msg_core::{
    Error, Message, RawJson, Report,
    json::{self, Kind, Reader},
    request::RequestHead,
};
use msg_wire::codec::{Body, Context, MessageBody, Purpose, RequestBody};
use serde::de::DeserializeOwned;

use crate::{
    MessagesResponse, WriteOptions, head,
    read::{read_messages, read_system},
    shape::ANTHROPIC,
    write::{Writer, written},
};

const MESSAGES: &str = "messages";
const SYSTEM: &str = "system";

/// A request for a message.
///
/// ```
/// use msg_anthropic::{ReadOptions, WriteOptions, messages};
///
/// let json = br#"{"model":"claude-x","max_tokens":9.0,"system":"Be brief.","messages":[]}"#;
/// let (document, _) = messages::read(json, &ReadOptions::new())?;
/// let messages::Document::Request(request) = &document else {
///     unreachable!("an object with messages is a request")
/// };
/// assert_eq!(request.get_as::<String>("model").as_deref(), Some("claude-x"));
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_anthropic::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesRequest {
    /// The conversation, `system` as its first message.
    pub messages: Vec<Message>,
    /// The members; `system` keeps the value that said nothing.
    body: Body,
    /// `system` became the first message, and has only its place in the body.
    has_system: bool,
    /// It was made of messages of any format, and is none that goes back to where it was.
    is_new: bool,
}

impl MessagesRequest {
    /// A request of these messages that asks what `head` asks (AN-21), and what it has no place for.
    ///
    /// ```
    /// use msg_anthropic::{MessagesRequest, WriteOptions, messages::Document};
    /// use msg_core::{Message, request::RequestHead};
    ///
    /// let head = RequestHead { max_tokens: Some(9), stop: vec!["x".into()], ..RequestHead::default() };
    /// let chat = vec![Message::system("Be brief."), Message::user("hi")];
    /// let (request, report) = MessagesRequest::from_head(&head, chat, &WriteOptions::new())?;
    /// assert!(report.is_empty());
    /// let mut out = Vec::new();
    /// Document::Request(request).write(&WriteOptions::new(), &mut out);
    /// assert_eq!(
    ///     String::from_utf8_lossy(&out),
    ///     concat!(
    ///         r#"{"max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hi"}],"#,
    ///         r#""stop_sequences":["x"]}"#,
    ///     ),
    /// );
    /// # Ok::<(), msg_anthropic::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Missing`]: the API demands `max_tokens`, and neither the head nor the options say it.
    pub fn from_head(
        head: &RequestHead,
        messages: Vec<Message>,
        options: &WriteOptions,
    ) -> Result<(Self, Report), crate::Error> {
        let missing =
            crate::Error::Missing { code: "convert::missing-max-tokens", member: "max_tokens" };
        let max_tokens = head.max_tokens.or(options.max_tokens).ok_or(missing)?;
        let mut report = Report::new();
        let mut body = Body::default();
        if let Some(model) = &head.model {
            body.set("model", RawJson::string(model));
        }
        let number = max_tokens.to_string();
        body.set("max_tokens", RawJson::new(number).expect("because a number is JSON"));
        body.dig(MESSAGES);
        for (name, raw) in head::write(head, &mut report) {
            body.set(name, raw);
        }
        Ok((Self { messages, body, has_system: false, is_new: true }, report))
    }

    /// What the request asks besides its conversation, in words that providers share (AN-21).
    #[must_use]
    pub fn head(&self) -> RequestHead {
        head::read(self.members())
    }

    /// Sets a member; `messages` and `system` are the conversation and not set here.
    #[must_use]
    pub fn with_member(mut self, name: &str, value: RawJson) -> Self {
        if !matches!(name, MESSAGES | SYSTEM) {
            self.body.set(name, value);
        }
        self
    }

    /// Whether it is to be sent, wherever its messages are from.
    pub(crate) fn purpose(&self) -> Purpose {
        if self.is_new { Purpose::Convert } else { Purpose::Return }
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.get_as("model")
    }

    /// Any member but `messages` and `system`, raw.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.body.get(name).filter(|_| !matches!(name, MESSAGES | SYSTEM))
    }

    /// A member, read as a type; none if it is absent or something else.
    #[must_use]
    pub fn get_as<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// The members but `messages` and `system`, raw, in order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.body.iter().filter(|(name, _)| !matches!(*name, MESSAGES | SYSTEM))
    }

    pub(crate) fn write_with(&self, writer: &mut Writer<'_>, out: &mut Vec<u8>) {
        let n_leading = self.purpose().leading(&self.messages, &ANTHROPIC);
        let mut system = writer.system(&self.messages, n_leading);
        let had_system = self.body.get(SYSTEM).is_some();
        json::Writer::new(out).object(|it| {
            for (name, raw) in self.body.iter() {
                if name == MESSAGES {
                    if let Some(system) = system.take_if(|_| !had_system) {
                        it.key(SYSTEM).value(|out| out.extend_from_slice(&system));
                    }
                    let rest = &self.messages[n_leading..];
                    it.key(name).value(|out| writer.messages(rest, n_leading, out));
                } else if name != SYSTEM {
                    it.key(name).raw(raw.text());
                } else if let Some(system) = system.take() {
                    it.key(name).value(|out| out.extend_from_slice(&system));
                } else if !self.has_system {
                    it.key(name).raw(raw.text());
                }
            }
        });
    }
}

impl MessageBody for MessagesRequest {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        // The first message may stand behind the others, and findings say which message they are of.
        let system = match system_of(reader.clone())? {
            Some(source) => read_system(source, cx)?,
            None => None,
        };
        let mut messages = Vec::new();
        let mut body = Body::read(
            reader,
            |name| name == MESSAGES,
            |reader| {
                messages = read_messages(reader, cx)?;
                Ok::<_, Error>(())
            },
        )?;
        let has_system = system.is_some();
        if has_system {
            body.dig(SYSTEM);
            messages.splice(0..0, system);
        }
        Ok(Self { messages, body, has_system, is_new: false })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, self.purpose(), |writer| self.write_with(writer, out))
    }

    fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }

    fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.messages)
    }

    fn set_messages(&mut self, messages: Vec<Message>) {
        self.messages = messages;
    }
}

impl RequestBody for MessagesRequest {
    type Response = MessagesResponse;

    const REQUEST: (&'static str, &'static [Kind]) = ("messages", &[Kind::Array]);
    const RESPONSE: &'static str = "content";
    const EXPECTED: &'static str =
        "a list of messages, an object with messages, or one with content and role";

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
}

/// The last value of `system`, wherever it stands.
fn system_of(mut reader: Reader<'_>) -> Result<Option<&str>, json::JsonError> {
    let mut res = None;
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = reader.raw()?;
        if key.text == SYSTEM {
            res = Some(value);
        }
    }
    Ok(res)
}
