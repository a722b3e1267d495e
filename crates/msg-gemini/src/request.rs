//! Requests of `generateContent`: the contents, `systemInstruction` first among them, and every other
//! member raw and in its place (GE-1).

use msg_codec::codec::{Body, Context, MessageBody, Purpose, RequestBody};
use msg_core::{Error, Message, Report, request::RequestHead};
use msg_json::{Kind, Reader};

use crate::{
    GenerateResponse, WriteOptions, head,
    read::{read_contents, read_system},
    shape::GEMINI,
    write::{Writer, written},
};

const CONTENTS: &str = "contents";
const SYSTEM: &str = "systemInstruction";
const SYSTEM_SNAKE: &str = "system_instruction";

/// What is held as messages; a `systemInstruction` that said nothing stays in its place.
const HELD: &[&str] = &[CONTENTS, SYSTEM, SYSTEM_SNAKE];

/// A request for content.
///
/// ```
/// use msg_gemini::{ReadOptions, WriteOptions, contents};
///
/// let json = br#"{"contents":"Hi","system_instruction":{"parts":[{"text":"Be brief."}]},"tools":[]}"#;
/// let (document, _) = contents::read(json, &ReadOptions::new())?;
/// let contents::Document::Request(request) = &document else {
///     unreachable!("an object with contents is a request")
/// };
/// assert_eq!(request.messages[0].text(), "Be brief.");
/// assert!(request.body.get("tools").is_some());
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateRequest {
    /// The conversation, `systemInstruction` as its first message.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
    /// `systemInstruction` became the first message, and has only its place in the body.
    has_system: bool,
    /// `contents` was one content, or a string, instead of a list.
    is_single: bool,
    /// Where its messages are from.
    purpose: Purpose,
}

impl GenerateRequest {
    /// A request of these messages that asks what `head` asks (AN-21), and what it has no place for.
    ///
    /// ```
    /// use msg_core::{Message, request::RequestHead};
    /// use msg_gemini::{GenerateRequest, WriteOptions, contents::Document};
    ///
    /// let head = RequestHead { max_tokens: Some(9), stream: Some(true), ..RequestHead::default() };
    /// let (request, report) = GenerateRequest::from_head(&head, vec![Message::user("Hi")]);
    /// assert_eq!(report.len(), 1, "streaming is another method");
    /// let mut out = Vec::new();
    /// Document::Request(request).write(&WriteOptions::new(), &mut out);
    /// assert_eq!(
    ///     String::from_utf8_lossy(&out),
    ///     r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":9}}"#,
    /// );
    /// ```
    #[must_use]
    pub fn from_head(head: &RequestHead, messages: Vec<Message>) -> (Self, Report) {
        let mut body = Body::new(HELD);
        body.hold(CONTENTS);
        let report = head::write(head, &mut body);
        let purpose = Purpose::Convert;
        (Self { messages, body, has_system: false, is_single: false, purpose }, report)
    }

    /// What the request asks besides its conversation (AN-21).
    #[must_use]
    pub fn head(&self) -> RequestHead {
        head::read(self.body.iter())
    }

    pub(crate) fn write_with<'a>(&'a self, writer: &mut Writer<'a, '_>, out: &mut Vec<u8>) {
        let n_leading = self.purpose.leading(&self.messages, &GEMINI);
        let mut system = writer.system(&self.messages, n_leading);
        let had_system = self.body.has(SYSTEM) || self.body.has(SYSTEM_SNAKE);
        let keeps = writer.keeps_layout();
        self.body.write(out, |it, name, raw| {
            let is_system = name != CONTENTS;
            match system.take_if(|_| is_system || !had_system) {
                Some(system) => {
                    let name = if is_system && keeps { name } else { SYSTEM };
                    it.key(name).value(|out| out.extend_from_slice(&system));
                }
                None if is_system && !self.has_system && keeps => it.key(name).raw(raw.text()),
                None => {}
            }
            if !is_system {
                let rest = &self.messages[n_leading..];
                it.key(name).value(|out| match self.is_single && keeps {
                    true => writer.single(rest, n_leading, out),
                    false => writer.contents(rest, n_leading, out),
                });
            }
        });
    }
}

impl MessageBody for GenerateRequest {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        // The first message may come after the others, and findings say which message they are of.
        let system = match system_of(reader.clone())? {
            Some((name, mut value)) => read_system(&mut value, cx)?.map(|it| (name, it)),
            None => None,
        };
        let (mut body, found) = Body::read(reader, HELD, cx, |it, cx| {
            Ok((it.peek()? != Kind::Array, read_contents(it, cx)?))
        })?;
        let (is_single, mut messages) = found.unwrap_or_default();
        let has_system = system.is_some();
        if let Some((name, message)) = system {
            body.hold(name);
            messages.insert(0, message);
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

impl RequestBody for GenerateRequest {
    type Response = GenerateResponse;

    const REQUEST: (&'static str, &'static [Kind]) =
        ("contents", &[Kind::Array, Kind::Object, Kind::String]);
    const RESPONSE: &'static str = "candidates";
    const EXPECTED: &'static str =
        "a list of contents, an object with contents, or one with candidates";

    fn read_list<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Vec<Message>, Error> {
        read_contents(reader, cx)
    }

    fn write_list(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, Purpose::Return, |writer| writer.contents(messages, 0, out))
    }

    fn head(&self) -> RequestHead {
        self.head()
    }

    fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

fn is_system(name: &str) -> bool {
    matches!(name, SYSTEM | SYSTEM_SNAKE)
}

/// The last value of `systemInstruction`, wherever it is, and its name; the reader is at it.
fn system_of(
    mut reader: Reader<'_>,
) -> Result<Option<(&'static str, Reader<'_>)>, msg_json::JsonError> {
    let mut res = None;
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let name = if key.text == SYSTEM { SYSTEM } else { SYSTEM_SNAKE };
        if is_system(&key.text) {
            res = Some((name, reader.clone()));
        }
        reader.raw()?;
    }
    Ok(res)
}
