//! Requests of the Responses API: the items of `input`, everything else raw and in place.

use msg_core::{
    Error, Message, RawJson, Report,
    json::{Kind, Reader},
};
use serde::{Serialize, Serializer, de::DeserializeOwned};

use super::read::items;
use crate::{EncodeOptions, chat::serialize_raw};
use msg_wire::codec::{Body, Context};

/// A request to the Responses API.
///
/// ```
/// use msg_core::{Message, RawJson};
/// use msg_openai::ResponsesRequest;
///
/// let request = ResponsesRequest::new("gpt-x", vec![Message::user("hi")])
///     .set("store", RawJson::new("false")?);
/// assert_eq!(
///     serde_json::to_string(&request)?,
///     concat!(
///         r#"{"model":"gpt-x","input":[{"type":"message","role":"user","#,
///         r#""content":[{"type":"input_text","text":"hi"}]}],"store":false}"#,
///     ),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ResponsesRequest {
    /// The conversation.
    pub messages: Vec<Message>,
    body: Body,
    /// Whether `input` was a string.
    is_string: bool,
}

impl ResponsesRequest {
    /// A request to this model.
    pub fn new(model: impl AsRef<str>, messages: Vec<Message>) -> Self {
        let mut body = Body::default();
        body.set("model", RawJson::string(model.as_ref()));
        body.dig("input");
        Self { messages, body, is_string: false }
    }

    /// A member, raw.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.body.get(name).filter(|_| name != "input")
    }

    /// A member, read as a type; none if it is absent or something else.
    pub fn get_as<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// Sets a member, whatever its name, behind those that are there; `input` is `messages` and not
    /// set here.
    #[must_use]
    pub fn set(mut self, name: &str, value: RawJson) -> Self {
        if name != "input" {
            self.body.set(name, value);
        }
        self
    }

    /// Takes a member out.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Self {
        if name != "input" {
            self.body.remove(name);
        }
        self
    }

    /// Appends the request as JSON. Linear in the output. What it cannot hold is in the report.
    pub fn write(&self, options: &EncodeOptions, out: &mut Vec<u8>) -> Report {
        let mut report = Report::new();
        self.body.write(out, "input", |out| match self.messages.as_slice() {
            [one] if self.is_string && *one == Message::user(one.text()) => {
                msg_core::json::write_str(out, &one.text());
            }
            all => super::write::items(all, options, out, &mut report),
        });
        report
    }

    pub(super) fn read_from<'a>(
        reader: &mut Reader<'a>,
        cx: &mut Context<'a, '_>,
    ) -> Result<Self, Error> {
        let mut messages = Vec::new();
        let mut is_string = false;
        let body = Body::read(
            reader,
            |name| name == "input",
            |reader| {
                is_string = reader.peek()? == Kind::String;
                messages = if is_string {
                    let it = reader.string()?;
                    vec![Message::user(cx.text((it.text, it.lone_surrogate), "input"))]
                } else {
                    items(reader, cx)?
                };
                Ok::<_, Error>(())
            },
        )?;
        Ok(Self { messages, body, is_string })
    }
}

impl Serialize for ResponsesRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = Vec::new();
        self.write(&EncodeOptions::new(), &mut out);
        serialize_raw(out, serializer)
    }
}
