//! Responses of the Responses API: the items of `output`, everything else raw and in place.

use msg_core::{Error, FinishReason, Message, Report, Usage};
use msg_json::Reader;
use serde::{Serialize, Serializer};

use super::read::items;
use super::write::{ItemsOf, items as items_of};
use crate::events::{End, RESPONSES_USAGE, response_defaults, whole_items, write_usage};
use crate::{Assembled, EventOptions, WriteOptions, chat::serialize_raw};
use msg_codec::codec::{Body, Context, MessageBody};

/// A response of the Responses API.
///
/// ```
/// use msg_openai::{ReadOptions, responses};
///
/// let json = br#"{"id":"resp_1","status":"completed","output":[
///     {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]}"#;
/// let (responses::Document::Response(it), _) = responses::read(json, &ReadOptions::new())? else {
///     unreachable!("an object with output is a response")
/// };
/// assert_eq!((it.id().as_deref(), it.status().as_deref()), (Some("resp_1"), Some("completed")));
/// assert_eq!(it.messages[0].text(), "Hi");
/// # Ok::<(), msg_openai::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ResponsesResponse {
    /// What the model said.
    pub messages: Vec<Message>,
    /// The other members, raw and in their places.
    pub body: Body,
}

/// What is held as messages.
const HELD: &[&str] = &["output"];

impl ResponsesResponse {
    /// The response that says what a stream said, of whatever format it was: for a proxy that answers its
    /// client whole. Of several choices it is the first.
    ///
    /// ```
    /// use msg_openai::{CHAT, ResponsesResponse, StreamOptions, StreamReader};
    ///
    /// let body = br#"{"id":"c1","choices":[{"message":{"content":"Hi"},"finish_reason":"length"}]}"#;
    /// let mut reader = StreamReader::new(&[CHAT], StreamOptions::default());
    /// reader.feed(body, &mut |_| {});
    /// let response = ResponsesResponse::of(&reader.finish(&mut |_| {}));
    /// assert_eq!(response.status().as_deref(), Some("incomplete"));
    /// assert_eq!(response.messages[0].text(), "Hi");
    /// ```
    #[must_use]
    pub fn of(res: &Assembled) -> Self {
        Self::with_report(res).0
    }

    /// As [`ResponsesResponse::of`], and what the items cannot hold.
    #[must_use]
    pub fn with_report(res: &Assembled) -> (Self, Report) {
        let options = EventOptions::of(res);
        // An answer that is an error without words of its own is not one that is still in progress.
        let is_error = options.finish == Some(FinishReason::Error);
        let wordless = is_error.then_some("the model answered with an error");
        let error = res.error.as_ref().map(|it| &*it.message).or(wordless);
        let end = End::of(options.finish.as_ref(), error);
        let mut report = Report::new();
        let items = whole_items(res, &mut report);
        let json = msg_json::to_text(|it| {
            it.object(|it| {
                it.key("id").str(&options.id);
                it.key("object").str("response");
                it.key("created_at").u64(options.created);
                it.key("status").str(end.status().unwrap_or("in_progress"));
                end.write_error(it.key("error"));
                end.write_details(it.key("incomplete_details"));
                it.key("model").str(&options.model);
                it.key("output").array(&items, |it, item| it.raw(item));
                response_defaults(it);
                let usage = options.usage.as_ref();
                it.optional("usage", usage, |it, usage| write_usage(it, usage, &RESPONSES_USAGE));
            });
        });
        // Read back, so that the items go out as they are, ids included.
        match super::read(json.as_bytes(), &crate::ReadOptions::new()) {
            Ok((super::Document::Response(it), _)) => (it, report),
            _ => (Self { messages: Vec::new(), body: Body::new(HELD) }, report),
        }
    }

    /// The provider's id of the response.
    pub fn id(&self) -> Option<String> {
        self.body.parse("id")
    }

    /// The model that answered.
    pub fn model(&self) -> Option<String> {
        self.body.parse("model")
    }

    /// How far it came: `completed`, `incomplete`, `failed` …
    pub fn status(&self) -> Option<String> {
        self.body.parse("status")
    }

    /// What it cost.
    pub fn usage(&self) -> Option<Usage> {
        self.body.usage("usage")
    }

    /// Appends the response as JSON; unedited it is the same value as what was read.
    /// What it cannot hold is in the report.
    pub fn write(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        let mut report = Report::new();
        self.body.write(out, |it, name, _| {
            it.key(name)
                .value(|out| items_of(&self.messages, ItemsOf::List, options, out, &mut report));
        });
        report
    }
}

impl MessageBody for ResponsesResponse {
    type Options = WriteOptions;

    fn read_body<'a>(reader: &mut Reader<'a>, cx: &mut Context<'a, '_>) -> Result<Self, Error> {
        let (body, messages) = Body::read(reader, HELD, cx, |it, cx| items(it, cx))?;
        let mut messages = messages.unwrap_or_default();
        body.note_model("model", &mut messages);
        Ok(Self { messages, body })
    }

    fn write_body(&self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        self.write(options, out)
    }

    fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }
}

impl Serialize for ResponsesResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = Vec::new();
        self.write(&WriteOptions::new(), &mut out);
        serialize_raw(out, serializer)
    }
}
