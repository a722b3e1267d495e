//! Responses of the Chat Completions API: the messages of their choices, everything else raw and in
//! place (OA-3).

use msg_core::{
    Error, FinishReason, IdSource, Message, RawJson, Report, Role, Turn, Usage,
    json::{Kind, Reader, Writer as JsonWriter},
};
use serde::{Serialize, Serializer};

use super::{Writer, read_message};
use crate::events::{CHAT_USAGE, json, write_usage};
use crate::{
    Assembled, AssembledChoice, CHAT, EventOptions, StreamOptions, StreamReader, WriteOptions,
};
use msg_wire::codec::{Body, Context, MessageBody};

/// A chat completion: choices with a message each, and what stands around them.
///
/// ```
/// use msg_openai::{WriteOptions, ReadOptions, chat};
///
/// let json = br#"{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"x":1.0}"#;
/// let (chat::Document::Response(response), _) = chat::read(json, &ReadOptions::new())? else {
///     unreachable!("an object with choices is a response")
/// };
/// assert_eq!(response.choices()[0].message().map(|it| it.text()), Some("Hi".into()));
/// let mut out = Vec::new();
/// response.write(&WriteOptions::new(), &mut out);
/// assert_eq!(out, json);
/// # Ok::<(), msg_openai::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ChatResponse {
    body: Body,
    choices: Vec<Choice>,
}

/// One of the answers of a [`ChatResponse`].
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    message: Option<Message>,
    around: Around,
}

#[derive(Debug, Clone, PartialEq)]
enum Around {
    Members(Body),
    /// Something that is no object.
    Raw(RawJson),
}

impl Choice {
    fn of(choice: &AssembledChoice) -> Self {
        let mut body = Body::default();
        body.set("index", json(|it| it.u64(u64::from(choice.index))));
        body.dig("message");
        let reason = choice.finish.as_ref().map(|it| it.as_str());
        body.set("finish_reason", json(|it| it.opt_str(reason)));
        Self { message: Some(choice.message.clone()), around: Around::Members(body) }
    }

    /// The message; none if the choice has none.
    pub fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// The message, to change.
    pub fn message_mut(&mut self) -> Option<&mut Message> {
        self.message.as_mut()
    }

    /// Which choice this is; its place among them if it does not say.
    pub fn index(&self) -> Option<u64> {
        self.body()?.parse("index")
    }

    /// Why the model stopped, in the provider's word.
    pub fn finish_reason(&self) -> Option<FinishReason> {
        let word: String = self.body()?.parse("finish_reason")?;
        Some(FinishReason::from(word.as_str()))
    }

    /// Any other member, raw.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.body()?.get(name).filter(|_| name != "message")
    }

    fn body(&self) -> Option<&Body> {
        if let Around::Members(it) = &self.around { Some(it) } else { None }
    }

    fn read<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        if reader.peek()? != Kind::Object {
            let around = Around::Raw(RawJson::new(reader.raw()?)?);
            return Ok(Self { message: None, around });
        }
        let mut message = None;
        let body = Body::read(
            reader,
            |name| name == "message",
            |reader| {
                message = Some(read_message(reader, cx)?);
                Ok::<_, Error>(())
            },
        )?;
        Ok(Self { message, around: Around::Members(body) })
    }
}

impl ChatResponse {
    /// The completion that says what a stream said, of whatever format it was: for a proxy that answers
    /// its client whole.
    ///
    /// ```
    /// use msg_openai::{CHAT, ChatResponse, WriteOptions, StreamOptions, StreamReader};
    ///
    /// let mut reader = StreamReader::new(&[CHAT], StreamOptions::default());
    /// reader.feed(b"data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n", &mut |_| {});
    /// let response = ChatResponse::of(&reader.finish(&mut |_| {}));
    /// let mut out = Vec::new();
    /// response.write(&WriteOptions::new(), &mut out);
    /// assert_eq!(
    ///     String::from_utf8_lossy(&out),
    ///     concat!(
    ///         r#"{"id":"c1","object":"chat.completion","created":0,"model":"","choices":[{"index":0,"#,
    ///         r#""message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#,
    ///     ),
    /// );
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        let options = EventOptions::of(res);
        let mut body = Body::default();
        body.set("id", RawJson::string(&options.id));
        body.set("object", RawJson::string("chat.completion"));
        body.set("created", json(|it| it.u64(options.created)));
        body.set("model", RawJson::string(&options.model));
        body.dig("choices");
        if let Some(usage) = &options.usage {
            body.set("usage", json(|it| write_usage(it, usage, &CHAT_USAGE)));
        }
        Self { body, choices: res.choices.iter().map(Choice::of).collect() }
    }

    /// The members but `choices`, raw, in order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.body.iter().filter(|it| it.0 != "choices")
    }

    /// The answers, in order.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The answers, to change.
    pub fn choices_mut(&mut self) -> &mut [Choice] {
        &mut self.choices
    }

    /// The messages of the choices that have one.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.choices.iter().filter_map(Choice::message)
    }

    /// Gives away the messages of the choices that have one.
    pub fn into_messages(self) -> Vec<Message> {
        self.choices.into_iter().filter_map(|it| it.message).collect()
    }

    /// The provider's id of the response.
    pub fn id(&self) -> Option<String> {
        self.body.parse("id")
    }

    /// The model that answered.
    pub fn model(&self) -> Option<String> {
        self.body.parse("model")
    }

    /// What it cost.
    pub fn usage(&self) -> Option<Usage> {
        self.body.get("usage").filter(|it| it.text() != "null").cloned().map(Usage::from_raw)
    }

    /// Any other member, raw.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.body.get(name).filter(|_| name != "choices")
    }

    /// The turn of the first choice, as if the response had been streamed (OA-17, OA-25): its tool
    /// calls are pending, and those that were cut off have failed. Where the response has no id or
    /// time, it is given one of `ids` and `now`, in seconds.
    ///
    /// ```
    /// use msg_core::CountingIds;
    /// use msg_openai::{ReadOptions, chat};
    ///
    /// let json = br#"{"id":"c1","created":7,"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
    /// let (chat::Document::Response(response), _) = chat::read(json, &ReadOptions::new())? else {
    ///     unreachable!("an object with choices is a response")
    /// };
    /// let turn = response.into_turn(&mut CountingIds::default(), 0.0);
    /// assert_eq!((turn.id.as_str(), turn.timestamp, turn.finish_reason.as_str()), ("c1", 7.0, "stop"));
    /// # Ok::<(), msg_openai::Error>(())
    /// ```
    #[must_use]
    pub fn into_turn(self, ids: &mut dyn IdSource, now: f64) -> Turn {
        let mut body = Vec::new();
        self.write(&WriteOptions::new(), &mut body);
        let mut reader = StreamReader::new(&[CHAT], StreamOptions::default());
        reader.feed(&body, &mut |_| {});
        reader.into_turn(ids, now)
    }

    /// Writes the response; unedited it is the same value as what was read, member order included.
    /// What it cannot hold is in the report.
    pub fn write(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        let mut report = Report::new();
        let mut writer = Writer::new(options, &mut report);
        self.body.write(out, "choices", |out| {
            let write = |list: &mut JsonWriter<'_>, choice: &Choice| match &choice.around {
                Around::Raw(raw) => list.raw(raw.text()),
                Around::Members(body) => list.value(|out| {
                    body.write(out, "message", |out| {
                        choice.message.iter().for_each(|it| writer.alone(it, out));
                    });
                }),
            };
            JsonWriter::new(out).array(&self.choices, write);
        });
        report
    }
}

impl MessageBody for ChatResponse {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let offset = reader.next_offset();
        let mut choices = Vec::new();
        let body = Body::read(
            reader,
            |name| name == "choices",
            |reader| {
                choices.clear();
                reader.begin_array()?;
                while reader.next_element()? {
                    choices.push(Choice::read(reader, cx)?);
                }
                Ok::<_, Error>(())
            },
        )?;
        // Some servers send no choice at all beside the verdict of a filter.
        if !choices.is_empty() && choices.iter().all(|it: &Choice| it.message.is_none()) {
            return Err(Error::Shape {
                message: None,
                expected: "a choice with a message",
                offset,
            });
        }
        body.note_model("model", choices.iter_mut().filter_map(Choice::message_mut));
        Ok(Self { body, choices })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        self.write(options, out)
    }

    fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages()
    }

    /// Empty ones keep the places of those that are given away.
    fn take_messages(&mut self) -> Vec<Message> {
        let places = self.choices.iter_mut().filter_map(Choice::message_mut);
        places.map(|it| std::mem::replace(it, Message::new(Role::Assistant))).collect()
    }

    fn has_room(&self, messages: usize) -> bool {
        messages == self.messages().count()
    }

    fn set_messages(&mut self, messages: Vec<Message>) {
        let places = self.choices.iter_mut().filter_map(Choice::message_mut);
        places.zip(messages).for_each(|(place, it)| *place = it);
    }
}

impl Serialize for ChatResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = Vec::new();
        self.write(&WriteOptions::new(), &mut out);
        super::serialize_raw(out, serializer)
    }
}
