//! Requests of the Chat Completions API: read and written back as they were, or built (OA-3, OA-5).

use std::borrow::Cow;

use msg_core::request::RequestHead;
use msg_core::{
    Code, Diagnostic, Error, Message, RawJson, Report,
    json::{Kind, Reader, to_text},
};
use serde::{Serialize, Serializer, de::DeserializeOwned};

use super::{ChatResponse, Tool, ToolChoice, read_messages};
use crate::head::Spelling;
use crate::{ReadOptions, WriteOptions};
use msg_wire::codec::{Body, Context, MessageBody, RequestBody};

/// The members that the builder sets, in the order in which it writes them.
const ORDER: [&str; 14] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "stream",
    "stream_options",
    "response_format",
    "stop",
    "seed",
];

/// A request for a chat completion: the messages, and every other member raw and in place.
///
/// A request that was read goes out with its members in source order; one that was built has them
/// in the order of OA-5, `model` and `messages` first. What is not set is absent.
///
/// ```
/// use msg_core::Message;
/// use msg_openai::ChatRequest;
///
/// let request = ChatRequest::new("gpt-x", vec![Message::user("hi")])
///     .temperature(0.0)
///     .stream(true)
///     .include_usage(true);
/// assert_eq!(
///     serde_json::to_string(&request)?,
///     concat!(
///         r#"{"model":"gpt-x","messages":[{"role":"user","content":"hi"}],"temperature":0.0,"#,
///         r#""stream":true,"stream_options":{"include_usage":true}}"#,
///     ),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The conversation.
    pub messages: Vec<Message>,
    body: Body,
    /// Raw members of the builder, which go last and yield to all others.
    extra: Vec<(String, RawJson)>,
    is_built: bool,
    options: WriteOptions,
}

impl ChatRequest {
    /// A request to this model.
    pub fn new(model: impl AsRef<str>, messages: Vec<Message>) -> Self {
        let mut body = Body::default();
        body.set("model", RawJson::string(model.as_ref()));
        body.dig("messages");
        let options = WriteOptions::new();
        Self { messages, body, extra: Vec::new(), is_built: true, options }
    }

    /// Reads a request body: an object with `messages`.
    ///
    /// # Errors
    /// It is no JSON, no object with a list of messages, or too large.
    pub fn read(json: &[u8], options: &ReadOptions) -> Result<(Self, Report), crate::Error> {
        match super::read(json, options)? {
            (super::Document::Request(it), report) => Ok((it, report)),
            _ => Err(crate::Error::Read(Error::Shape {
                message: None,
                expected: "a request, which is an object with messages",
                offset: 0,
            })),
        }
    }

    /// A request that asks what a head asks (AN-21), in `max_completion_tokens` for the limit. Members
    /// that have no place are in the report; so is `model`, which is only a name where it came from.
    ///
    /// ```
    /// use msg_core::request::RequestHead;
    /// use msg_core::Message;
    /// use msg_openai::ChatRequest;
    ///
    /// let head = RequestHead { max_tokens: Some(9), ..RequestHead::default() };
    /// let (request, report) = ChatRequest::from_head(&head, vec![Message::user("hi")]);
    /// assert_eq!(
    ///     serde_json::to_string(&request)?,
    ///     r#"{"messages":[{"role":"user","content":"hi"}],"max_completion_tokens":9}"#,
    /// );
    /// assert!(report.is_empty());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn from_head(head: &RequestHead, messages: Vec<Message>) -> (Self, Report) {
        let mut report = Report::new();
        let mut res = Self::new(head.model.as_deref().unwrap_or_default(), messages);
        if head.model.is_none() {
            res.body.remove("model");
        }
        for (name, raw) in crate::head::write(head, Spelling::Chat, &mut report) {
            res.body.set(name, raw);
        }
        (res, report)
    }

    /// What it asks besides the conversation, in words that providers share.
    pub fn head(&self) -> RequestHead {
        crate::head::read(self.members(), Spelling::Chat)
    }

    /// The members but `messages`, raw, in order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        let extra = self.extra.iter().map(|it| (it.0.as_str(), &it.1));
        self.body.iter().filter(|it| it.0 != "messages").chain(extra)
    }

    /// The model's name.
    pub fn model(&self) -> Option<String> {
        self.get_as("model")
    }

    /// A member, raw.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        let extra = || self.extra.iter().find(|it| it.0 == name).map(|it| &it.1);
        self.body.get(name).filter(|_| name != "messages").or_else(extra)
    }

    /// A member, read as a type; none if it is absent or something else.
    pub fn get_as<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// Sets a member, whatever its name; `messages` are a field and not set here.
    #[must_use]
    pub fn set(mut self, name: &str, value: RawJson) -> Self {
        if name != "messages" {
            self.body.set(name, value);
        }
        self
    }

    /// Takes a member out.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Self {
        if name != "messages" {
            self.body.remove(name);
            self.extra.retain(|it| it.0 != name);
        }
        self
    }

    /// How the messages are encoded.
    #[must_use]
    pub fn encode(self, options: WriteOptions) -> Self {
        Self { options, ..self }
    }

    /// The tools that the model may call.
    #[must_use]
    pub fn tools<'t>(self, tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        self.set("tools", list(tools.into_iter().map(Tool::to_json)))
    }

    /// Which tool the model calls.
    #[must_use]
    pub fn tool_choice(self, choice: &ToolChoice) -> Self {
        self.set("tool_choice", choice.to_json())
    }

    /// Whether the model may make several calls at once.
    #[must_use]
    pub fn parallel_tool_calls(self, parallel: bool) -> Self {
        self.set("parallel_tool_calls", boolean(parallel))
    }

    /// How random the answer is; 0.0 is sent as `0.0`. A number that JSON does not have is not set.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        self.set_number("temperature", temperature)
    }

    /// Which share of the likeliest tokens is considered. A number that JSON does not have is not
    /// set.
    #[must_use]
    pub fn top_p(self, top_p: f64) -> Self {
        self.set_number("top_p", top_p)
    }

    /// The most tokens of the answer, in the older member.
    #[must_use]
    pub fn max_tokens(self, tokens: u64) -> Self {
        self.set("max_tokens", whole(tokens))
    }

    /// The most tokens of the answer, reasoning included.
    #[must_use]
    pub fn max_completion_tokens(self, tokens: u64) -> Self {
        self.set("max_completion_tokens", whole(tokens))
    }

    /// Whether the answer is streamed.
    #[must_use]
    pub fn stream(self, stream: bool) -> Self {
        self.set("stream", boolean(stream))
    }

    /// Whether a stream ends with the usage: `stream_options`.
    #[must_use]
    pub fn include_usage(self, include: bool) -> Self {
        let value =
            if include { r#"{"include_usage":true}"# } else { r#"{"include_usage":false}"# };
        self.set("stream_options", RawJson::new(value).expect("the literal is JSON"))
    }

    /// The shape of the answer, raw.
    #[must_use]
    pub fn response_format(self, format: RawJson) -> Self {
        self.set("response_format", format)
    }

    /// Texts at which the model stops.
    #[must_use]
    pub fn stop<S: AsRef<str>>(self, stop: impl IntoIterator<Item = S>) -> Self {
        self.set("stop", list(stop.into_iter().map(|it| RawJson::string(it.as_ref()))))
    }

    /// The seed of the sampling.
    #[must_use]
    pub fn seed(self, seed: i64) -> Self {
        self.set("seed", RawJson::new(seed.to_string()).expect("a whole number is JSON"))
    }

    /// A member of its own, written behind all others in the order of the calls. If one of this
    /// name is set otherwise, that one is written and this one reported.
    #[must_use]
    pub fn extra(mut self, name: impl Into<String>, value: RawJson) -> Self {
        self.extra.push((name.into(), value));
        self
    }

    /// Appends the request as JSON, encoded as [`ChatRequest::encode`] says. Linear in the output.
    /// What it cannot hold is in the report.
    pub fn write(&self, out: &mut Vec<u8>) -> Report {
        self.write_body(&self.options, out)
    }

    /// All members in the order in which they are written.
    fn whole(&self, report: &mut Report) -> Cow<'_, Body> {
        if !self.is_built {
            return Cow::Borrowed(&self.body);
        }
        let rank = |name: &str| ORDER.iter().position(|it| *it == name).unwrap_or(ORDER.len());
        let mut members: Vec<_> = self.body.iter().collect();
        members.sort_by_key(|it| rank(it.0));
        let mut res = Body::default();
        members.into_iter().for_each(|(name, value)| res.set(name, value.clone()));
        for (name, value) in &self.extra {
            if res.get(name).is_some() {
                report.push(skipped(name));
            } else {
                res.set(name, value.clone());
            }
        }
        Cow::Owned(res)
    }

    fn set_number(self, name: &str, number: f64) -> Self {
        // The debug form has the point that tells a fraction from a whole number.
        match RawJson::new(format!("{number:?}")) {
            Ok(value) => self.set(name, value),
            Err(_) => self,
        }
    }
}

impl MessageBody for ChatRequest {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let mut messages = Vec::new();
        let body = Body::read(
            reader,
            |name| name == "messages",
            |reader| {
                messages = read_messages(reader, cx)?;
                Ok::<_, Error>(())
            },
        )?;
        let options = WriteOptions::new();
        Ok(Self { messages, body, extra: Vec::new(), is_built: false, options })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        let mut report = Report::new();
        let whole = self.whole(&mut report);
        whole.write(out, "messages", |out| {
            super::write::messages(&self.messages, options, out, &mut report);
        });
        report
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

impl RequestBody for ChatRequest {
    type Response = ChatResponse;

    const REQUEST: (&'static str, &'static [Kind]) = ("messages", &[Kind::Array]);
    const RESPONSE: &'static str = "choices";
    const EXPECTED: &'static str =
        "a list of messages, an object with messages, or one with choices";

    fn read_list<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Vec<Message>, Error> {
        read_messages(reader, cx)
    }

    fn write_list(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        super::write(messages, options, out)
    }

    fn head(&self) -> RequestHead {
        self.head()
    }
}

impl Serialize for ChatRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = Vec::new();
        self.write(&mut out);
        super::serialize_raw(out, serializer)
    }
}

fn skipped(name: &str) -> Diagnostic {
    let text = format!("extra member {name} is left out: it is set otherwise");
    Diagnostic::info(Code::new("convert::lost-member"), text)
}

fn boolean(it: bool) -> RawJson {
    RawJson::new(if it { "true" } else { "false" }).expect("a boolean is JSON")
}

fn whole(it: u64) -> RawJson {
    RawJson::new(it.to_string()).expect("a whole number is JSON")
}

fn list(items: impl Iterator<Item = RawJson>) -> RawJson {
    let text = to_text(|it| it.array(items, |it, item| it.raw(item.text())));
    RawJson::new(text).expect("a list of JSON values is JSON")
}
