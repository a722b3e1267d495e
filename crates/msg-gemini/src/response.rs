//! Responses of `generateContent`: a message for each candidate, and every other member raw and in its
//! place (GE-1).

use msg_core::{
    Error, Message, RawJson, Report, Role, Usage,
    json::{self, Kind, Reader},
};
use msg_wire::codec::{Body, Context, MessageBody, Purpose};

use crate::{
    WriteOptions,
    read::read_candidate,
    write::{Writer, written},
};

const CANDIDATES: &str = "candidates";
const CONTENT: &str = "content";

/// What the API answered with.
///
/// ```
/// use msg_gemini::{ReadOptions, contents};
///
/// let json = br#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}],
///     "usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1},"modelVersion":"m","responseId":"r"}"#;
/// let (document, _) = contents::read(json, &ReadOptions::new())?;
/// let contents::Document::Response(response) = document else {
///     unreachable!("an object with candidates is a response")
/// };
/// assert_eq!(response.messages[0].text(), "Hi");
/// assert_eq!(response.id().as_deref(), Some("r"));
/// assert_eq!(response.usage().and_then(|it| it.output), Some(1));
/// assert_eq!(response.finish_reason(0).as_deref(), Some("STOP"));
/// # Ok::<(), msg_gemini::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateResponse {
    /// What the model said: one message a candidate.
    pub messages: Vec<Message>,
    body: Body,
    /// The members of each candidate.
    candidates: Vec<Candidate>,
}

impl GenerateResponse {
    /// The provider's id of the response.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.body.parse("responseId")
    }

    /// The model that answered.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.body.parse("modelVersion")
    }

    /// Why a candidate ended, in Gemini's word.
    #[must_use]
    pub fn finish_reason(&self, candidate: usize) -> Option<String> {
        self.candidates.get(candidate)?.body.parse("finishReason")
    }

    /// How many candidates there were.
    #[must_use]
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// What it cost.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let raw = self.body.get("usageMetadata").filter(|it| it.text() != "null");
        raw.cloned().map(Usage::from_raw)
    }

    /// Any member but the candidates, raw.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.body.get(name).filter(|_| name != CANDIDATES)
    }

    /// The members but the candidates, raw, in order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.body.iter().filter(|(name, _)| *name != CANDIDATES)
    }

    pub(crate) fn write_with<'a>(&'a self, writer: &mut Writer<'a, '_>, out: &mut Vec<u8>) {
        let new = Candidate::default();
        self.body.write(out, CANDIDATES, |out| {
            json::Writer::new(out).array(self.messages.iter().enumerate(), |out, (at, it)| {
                let candidate = self.candidates.get(at).unwrap_or(&new);
                out.value(|out| candidate.write(writer, (at, it), out));
            });
        });
    }
}

impl MessageBody for GenerateResponse {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let (mut messages, mut candidates) = (Vec::new(), Vec::new());
        let body = Body::read(
            reader,
            |name| name == CANDIDATES,
            |reader| {
                (messages, candidates) = (Vec::new(), Vec::new());
                reader.begin_array()?;
                while reader.next_element()? {
                    let (message, candidate) = Candidate::read(reader, cx)?;
                    messages.push(message);
                    candidates.push(candidate);
                    cx.next_message();
                }
                Ok::<_, Error>(())
            },
        )?;
        body.note_model("modelVersion", &mut messages);
        Ok(Self { messages, body, candidates })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        written(options, Purpose::Return, |writer| self.write_with(writer, out))
    }

    fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }

    fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.messages)
    }

    /// A response is a message for each candidate.
    fn has_room(&self, messages: usize) -> bool {
        messages == self.candidates.len()
    }

    fn set_messages(&mut self, messages: Vec<Message>) {
        self.messages = messages;
    }
}

/// The members of a candidate.
#[derive(Debug, Clone, PartialEq, Default)]
struct Candidate {
    body: Body,
    /// Whether `content` is the message, and not null or absent.
    has_content: bool,
}

impl Candidate {
    /// Reads a candidate, and its message: an empty one without a content.
    fn read<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<(Message, Self), Error> {
        let (message, offset) = (cx.message, reader.next_offset());
        if reader.peek()? != Kind::Object {
            let expected = "a candidate, which is an object";
            return Err(Error::Shape { message: Some(message), expected, offset });
        }
        let mut found = None;
        let body = Body::read(
            reader,
            |name| name == CONTENT,
            |reader| {
                found = match reader.peek()? {
                    Kind::Null => reader.null().map(|()| None)?,
                    _ => Some(read_candidate(reader, cx).map_err(|it| it.in_message(message))?),
                };
                Ok::<_, Error>(())
            },
        )?;
        let has_content = found.is_some();
        let message = found.unwrap_or_else(|| Message::new(Role::Assistant));
        Ok((message, Self { body, has_content }))
    }

    /// Writes the members around a message; a candidate that had no content gets one only if there is
    /// something to say in it.
    fn write<'a>(
        &self,
        writer: &mut Writer<'a, '_>,
        (at, message): (usize, &'a Message),
        out: &mut Vec<u8>,
    ) {
        let is_empty = message.parts.is_empty() && message.extra.is_empty();
        if self.has_content {
            self.body.write(out, CONTENT, |out| writer.candidate(message, at, out));
        } else if is_empty {
            // No hole: a null stays what it is.
            json::Writer::new(out).object(|it| {
                self.body.iter().for_each(|(name, raw)| it.key(name).raw(raw.text()));
            });
        } else {
            let mut body = self.body.clone();
            body.dig(CONTENT);
            body.write(out, CONTENT, |out| writer.candidate(message, at, out));
        }
    }
}
