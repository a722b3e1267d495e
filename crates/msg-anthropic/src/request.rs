//! Requests of the Messages API: the messages, `system` first among them, and every other member raw and
//! in its place (AN-1).

use msg_codec::codec::{Body, Context, MessageBody, Purpose, RequestBody, last_member};
use msg_core::{Code, Diagnostic, Error, Message, Report, request::RequestHead};
use msg_json::{Kind, Reader};

use crate::{
    MessagesResponse, WriteOptions, head,
    read::{read_messages, read_system},
    shape::ANTHROPIC,
    write::{Writer, written},
};

const MESSAGES: &str = "messages";
const SYSTEM: &str = "system";

/// What is held as messages; a `system` that said nothing stays in its place.
const HELD: &[&str] = &[MESSAGES, SYSTEM];

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
/// assert_eq!(request.body.parse::<String>("model").as_deref(), Some("claude-x"));
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
    /// The other members, raw and in their places.
    pub body: Body,
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
    /// let (request, report) = MessagesRequest::from_head(&head, chat);
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
    /// ```
    ///
    /// The API demands `max_tokens`: a head without it gives a request that says so in its report
    /// (`convert::missing-max-tokens`, an error).
    #[must_use]
    pub fn from_head(head: &RequestHead, messages: Vec<Message>) -> (Self, Report) {
        let mut body = Body::new(HELD);
        body.write_optional("model", head.model.as_ref(), |it, text| it.str(text));
        body.write_optional("max_tokens", head.max_tokens, |it, n| it.u64(n));
        body.hold(MESSAGES);
        let mut report = Report::new();
        if head.max_tokens.is_none() {
            let code = Code::new("convert::missing-max-tokens");
            report.push(Diagnostic::error(code, "`max_tokens` is missing, which the API demands"));
        }
        report.append(head::write(head, &mut body));
        (Self { messages, body, has_system: false, is_new: true }, report)
    }

    /// What the request asks besides its conversation, in words that providers share (AN-21).
    #[must_use]
    pub fn head(&self) -> RequestHead {
        head::read(self.body.iter())
    }

    /// Whether it is to be sent, wherever its messages are from.
    pub(crate) fn purpose(&self) -> Purpose {
        if self.is_new { Purpose::Convert } else { Purpose::Return }
    }

    pub(crate) fn write_with(&self, writer: &mut Writer<'_>, out: &mut Vec<u8>) {
        let n_leading = self.purpose().leading(&self.messages, &ANTHROPIC);
        let mut system = writer.system(&self.messages, n_leading);
        let had_system = self.body.has(SYSTEM);
        self.body.write(out, |it, name, raw| {
            let is_system = name == SYSTEM;
            match system.take_if(|_| is_system || !had_system) {
                Some(system) => it.key(SYSTEM).value(|out| out.extend_from_slice(&system)),
                None if is_system && !self.has_system => it.key(name).raw(raw.text()),
                None => {}
            }
            if !is_system {
                let rest = &self.messages[n_leading..];
                it.key(name).value(|out| writer.messages(rest, n_leading, out));
            }
        });
    }
}

impl MessageBody for MessagesRequest {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        // The first message may come after the others, and findings say which message they are of.
        let system = match last_member(reader.clone(), SYSTEM)? {
            Some(source) => read_system(source, cx)?,
            None => None,
        };
        let (mut body, messages) = Body::read(reader, HELD, cx, |it, cx| read_messages(it, cx))?;
        let mut messages = messages.unwrap_or_default();
        let has_system = system.is_some();
        if has_system {
            body.hold(SYSTEM);
            messages.splice(0..0, system);
        }
        Ok(Self { messages, body, has_system, is_new: false })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, self.purpose(), |writer| self.write_with(writer, out))
    }

    fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
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

    fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}
