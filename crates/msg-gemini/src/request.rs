//! Requests of `generateContent`: the contents, `systemInstruction` first among them, and every other
//! member raw and in its place (GE-1).

use msg_core::{
    Error, Message, RawJson, Report,
    json::{self, Kind, Reader},
    request::RequestHead,
};
use msg_wire::codec::{Body, Context, MessageBody, Purpose, RequestBody};
use serde::de::DeserializeOwned;

use crate::{
    GenerateResponse, WriteOptions, head,
    read::{read_contents, read_system},
    shape::GEMINI,
    write::{Writer, written},
};

const CONTENTS: &str = "contents";
const SYSTEM: &str = "systemInstruction";
const SYSTEM_SNAKE: &str = "system_instruction";

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
/// assert!(request.get("tools").is_some());
/// let mut out = Vec::new();
/// document.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_gemini::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateRequest {
    /// The conversation, `systemInstruction` as its first message.
    pub messages: Vec<Message>,
    /// The members; `systemInstruction` keeps the value that said nothing.
    body: Body,
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
        let (mut body, mut report) = (Body::default(), Report::new());
        body.dig(CONTENTS);
        for (name, raw) in head::write(head, &mut report) {
            body.set(name, raw);
        }
        let purpose = Purpose::Convert;
        (Self { messages, body, has_system: false, is_single: false, purpose }, report)
    }

    /// What the request asks besides its conversation (AN-21).
    #[must_use]
    pub fn head(&self) -> RequestHead {
        head::read(self.members())
    }

    /// Sets a member; the contents and `systemInstruction` are the conversation and not set here.
    #[must_use]
    pub fn with_member(mut self, name: &str, value: RawJson) -> Self {
        if !is_of_messages(name) {
            self.body.set(name, value);
        }
        self
    }

    /// Any member but the messages, raw.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.body.get(name).filter(|_| !is_of_messages(name))
    }

    /// A member, read as a type; none if it is absent or something else.
    #[must_use]
    pub fn get_as<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// The members but the messages, raw, in order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.body.iter().filter(|(name, _)| !is_of_messages(name))
    }

    pub(crate) fn write_with<'a>(&'a self, writer: &mut Writer<'a, '_>, out: &mut Vec<u8>) {
        let n_leading = self.purpose.leading(&self.messages, &GEMINI);
        let mut system = writer.system(&self.messages, n_leading);
        let had_system = self.body.iter().any(|(name, _)| is_system(name));
        let keeps = writer.keeps_layout();
        json::Writer::new(out).object(|it| {
            for (name, raw) in self.body.iter() {
                if name == CONTENTS {
                    if let Some(system) = system.take_if(|_| !had_system) {
                        it.key(SYSTEM).value(|out| out.extend_from_slice(&system));
                    }
                    let rest = &self.messages[n_leading..];
                    it.key(name).value(|out| match self.is_single && keeps {
                        true => writer.single(rest, n_leading, out),
                        false => writer.contents(rest, n_leading, out),
                    });
                } else if !is_system(name) {
                    it.key(name).raw(raw.text());
                } else if let Some(system) = system.take() {
                    let name = if keeps { name } else { SYSTEM };
                    it.key(name).value(|out| out.extend_from_slice(&system));
                } else if !self.has_system && keeps {
                    it.key(name).raw(raw.text());
                }
            }
        });
    }
}

impl MessageBody for GenerateRequest {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        // The first message may stand behind the others, and findings say which message they are of.
        let system = match system_of(reader.clone())? {
            Some((name, mut value)) => read_system(&mut value, cx)?.map(|it| (name, it)),
            None => None,
        };
        let (mut messages, mut is_single) = (Vec::new(), false);
        let mut body = Body::read(
            reader,
            |name| name == CONTENTS,
            |reader| {
                is_single = reader.peek()? != Kind::Array;
                messages = read_contents(reader, cx)?;
                Ok::<_, Error>(())
            },
        )?;
        let has_system = system.is_some();
        if let Some((name, message)) = system {
            body.dig(name);
            messages.insert(0, message);
        }
        Ok(Self { messages, body, has_system, is_single, purpose: Purpose::Return })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, self.purpose, |writer| self.write_with(writer, out))
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
}

fn is_system(name: &str) -> bool {
    matches!(name, SYSTEM | SYSTEM_SNAKE)
}

fn is_of_messages(name: &str) -> bool {
    name == CONTENTS || is_system(name)
}

/// The last value of `systemInstruction`, wherever it stands, and its name; the reader stands before it.
fn system_of(
    mut reader: Reader<'_>,
) -> Result<Option<(&'static str, Reader<'_>)>, json::JsonError> {
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
