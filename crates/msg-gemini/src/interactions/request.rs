//! Requests: the steps of `input`, `system_instruction` first among the messages, and every other member raw and in
//! its place (GI-1, GI-2).

use msg_codec::codec::{
    Body, BodyKind, Context, MessageBody, Purpose, RequestBody, last_member, text_of,
};
use msg_core::{Error, Extra, Message, Part, Report, Role, request::RequestHead};
use msg_json::{Kind, Reader};

use super::read::read_steps;
use super::shape::INTERACTIONS;
use super::write::{Writer, written};
use super::{Interaction, head};
use crate::WriteOptions;

const INPUT: &str = "input";
const SYSTEM: &str = "system_instruction";

/// What is held as messages; a `system_instruction` that said nothing stays in its place.
const HELD: &[&str] = &[INPUT, SYSTEM];

/// A request for an interaction.
///
/// ```
/// use msg_gemini::{ReadOptions, WriteOptions, interactions};
///
/// let json = br#"{"model":"gemini-x","input":"Hi","system_instruction":"Be brief.","store":false}"#;
/// let (document, _) = interactions::read(json, &ReadOptions::new())?;
/// let interactions::Document::Request(request) = &document else {
///     unreachable!("an object with input is a request")
/// };
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// assert!(request.body.get("store").is_some());
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct InteractionRequest {
    /// The conversation, `system_instruction` as its first message.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
    /// `system_instruction` became the first message, and has only its place in the body.
    has_system: bool,
    /// `input` was one element instead of a list.
    is_single: bool,
    /// Where its messages are from.
    purpose: Purpose,
}

impl InteractionRequest {
    /// A request of these messages that asks what `head` asks (GI-24), and what it has no place for.
    ///
    /// ```
    /// use msg_core::{Message, request::RequestHead};
    /// use msg_gemini::{WriteOptions, interactions::{Document, InteractionRequest}};
    ///
    /// let head = RequestHead { max_tokens: Some(9), stream: Some(true), ..RequestHead::default() };
    /// let (request, report) = InteractionRequest::from_head(&head, vec![Message::user("Hi")]);
    /// assert!(report.is_empty());
    /// let mut out = Vec::new();
    /// Document::Request(request).write(&WriteOptions::new(), &mut out);
    /// assert_eq!(
    ///     String::from_utf8_lossy(&out),
    ///     concat!(
    ///         r#"{"input":[{"type":"user_input","content":[{"type":"text","text":"Hi"}]}],"#,
    ///         r#""generation_config":{"max_output_tokens":9},"stream":true}"#,
    ///     ),
    /// );
    /// ```
    #[must_use]
    pub fn from_head(head: &RequestHead, messages: Vec<Message>) -> (Self, Report) {
        let mut body = Body::new(HELD);
        body.write_optional("model", head.model.as_ref(), |it, text| it.str(text));
        body.hold(INPUT);
        let report = head::write(head, &mut body);
        let purpose = Purpose::Convert;
        (Self { messages, body, has_system: false, is_single: false, purpose }, report)
    }

    /// What the request asks besides its conversation (GI-24).
    #[must_use]
    pub fn head(&self) -> RequestHead {
        head::read(self.body.iter())
    }

    /// Whether it goes on with an interaction that the provider keeps (GI-27).
    #[must_use]
    pub fn is_continued(&self) -> bool {
        let previous = self.body.parse::<String>("previous_interaction_id");
        previous.is_some_and(|it| !it.is_empty())
    }

    fn write_with<'a>(&'a self, writer: &mut Writer<'a, '_>, out: &mut Vec<u8>) {
        let n_leading = self.purpose.leading(&self.messages, &INTERACTIONS);
        let mut system = writer.system(&self.messages, n_leading);
        let had_system = self.body.has(SYSTEM);
        self.body.write(out, |it, name, raw| {
            let is_system = name == SYSTEM;
            match system.take_if(|_| is_system || !had_system) {
                Some(text) => it.key(SYSTEM).str(&text),
                None if is_system && !self.has_system && writer.keeps_raw(raw) => {
                    it.key(name).raw(raw.text());
                }
                None => {}
            }
            if !is_system {
                let rest = &self.messages[n_leading..];
                it.key(name).value(|out| match self.is_single {
                    true => writer.single(rest, n_leading, out),
                    false => writer.steps(rest, n_leading, out),
                });
            }
        });
    }
}

impl MessageBody for InteractionRequest {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        // The first message may come after the others, and findings say which message they are of.
        let system = read_system(reader.clone(), cx)?;
        let (mut body, found) = Body::read(reader, HELD, cx, |it, cx| {
            Ok((it.peek()? != Kind::Array, read_steps(it, cx)?))
        })?;
        let (is_single, mut messages) = found.unwrap_or_default();
        let has_system = system.is_some();
        if has_system {
            body.hold(SYSTEM);
            messages.splice(0..0, system);
        }
        Ok(Self { messages, body, has_system, is_single, purpose: Purpose::Return })
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

impl RequestBody for InteractionRequest {
    type Response = Interaction;

    const REQUEST: (&'static str, &'static [Kind]) =
        (INPUT, &[Kind::Array, Kind::Object, Kind::String]);
    const RESPONSE: &'static str = "steps";
    const RESPONSE_WINS: bool = true;
    const EXPECTED: &'static str =
        "a list of steps, an object with input, or one with steps or outputs";

    fn told_by(name: &str, kind: Kind) -> Option<BodyKind> {
        match (name, kind) {
            ("steps" | "outputs", Kind::Array) => Some(BodyKind::Response),
            (INPUT, kind) if Self::REQUEST.1.contains(&kind) => Some(BodyKind::Request),
            _ => None,
        }
    }

    fn read_list<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Vec<Message>, Error> {
        read_steps(reader, cx)
    }

    fn write_list(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, Purpose::Return, |writer| writer.steps(messages, 0, out))
    }

    fn head(&self) -> RequestHead {
        self.head()
    }

    fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

/// Reads the last value of `system_instruction`, wherever it is; none for one that says nothing, which stays
/// where it is.
fn read_system<'a>(
    reader: Reader<'a>,
    cx: &mut Context<'a, '_>,
) -> Result<Option<Message>, msg_json::JsonError> {
    let source = last_member(reader, SYSTEM)?;
    let text = source.and_then(text_of);
    if text.is_none() && source.is_some_and(|it| it != "null") {
        cx.wrong_type(SYSTEM);
    }
    let Some(text) = text.filter(|it| !it.0.is_empty()) else { return Ok(None) };
    let parts = vec![Part::text(cx.text(text, SYSTEM))];
    cx.next_message();
    Ok(Some(Message { role: Role::System, parts, name: None, extra: Extra::default() }))
}
