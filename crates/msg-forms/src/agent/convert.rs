//! Converts between the types of the agent form and [`Message`] (MS-13). Arguments pass through
//! `serde_json::Value` here, which sorts members; the reader and writer of bytes do not.

use msg_core::{
    Extra, Image, Message, Origin, Other, Part, RawJson, Report, Role, ToolCall, ToolResult, native,
};
use serde_json::Value;

use super::read::{Body, is_value};
use super::write::{Shape, is_json, is_plain_image, shapes};
use super::{
    AgentMessage, ContentPart, MessageContent, MessageRole, ToolInvocation, ToolResultContent,
    write,
};
use crate::losses::Losses;

/// The message of what was read. The id of a call that is answered belongs to the result of a tool
/// message; on any other it is carried.
pub(crate) fn assemble(
    role: MessageRole,
    body: Body,
    name: Option<String>,
    tool_call_id: Option<String>,
    mut extra: Extra,
) -> Message {
    let mut res = Message::new(match role {
        MessageRole::System => Role::System,
        MessageRole::User => Role::User,
        MessageRole::Assistant => Role::Assistant,
        MessageRole::Tool => Role::Tool,
    });
    if role == MessageRole::Tool {
        let call_id = tool_call_id.unwrap_or_default();
        let result = ToolResult { call_id, name, ..body.into_result() };
        res.parts.push(Part::ToolResult(result));
    } else {
        if let Some(id) = tool_call_id {
            extra.insert(Origin::Agent, "tool_call_id", RawJson::string(&id));
        }
        res.parts = body.into_parts();
        res.name = name.filter(|it| !it.is_empty());
    }
    res.extra = extra;
    res
}

impl From<AgentMessage> for Message {
    fn from(it: AgentMessage) -> Self {
        let body = match it.content {
            MessageContent::Text(it) => Body::Text(it),
            MessageContent::ToolCalls(it) => {
                Body::ToolCalls(it.into_iter().map(ToolCall::from).collect())
            }
            MessageContent::ToolResult(it) => Body::ToolResult(ToolResult::new("", it.content)),
            MessageContent::MultiPart(it) => {
                Body::MultiPart(it.into_iter().map(Part::from).collect())
            }
        };
        assemble(it.role, body, it.name, it.tool_call_id, Extra::default())
    }
}

impl From<ToolInvocation> for ToolCall {
    fn from(it: ToolInvocation) -> Self {
        let arguments = match it.arguments {
            Value::String(it) => it,
            it => it.to_string(),
        };
        ToolCall::new(it.id, it.name, arguments)
    }
}

impl From<ContentPart> for Part {
    fn from(it: ContentPart) -> Self {
        match it {
            ContentPart::Text(it) => Part::text(it),
            ContentPart::Image { url, detail } => {
                Part::Image(Image { detail, ..Image::from_url(url) })
            }
            ContentPart::ToolCall(it) => Part::ToolCall(it.into()),
            ContentPart::ToolResult(it) => Part::ToolResult(ToolResult::new("", it.content)),
            ContentPart::Json(it) => Part::Other(Other::new(Origin::Json, it.into())),
            ContentPart::Other(it) => native::read_part(it.to_string().as_bytes())
                .unwrap_or_else(|_| Part::Other(Other::new(Origin::Json, it.into()))),
        }
    }
}

impl AgentMessage {
    /// The agent messages of a message: one, or one for each result of a tool message; and the report of
    /// what they cannot hold (MS-24), with message 0.
    ///
    /// ```
    /// use msg_core::Message;
    /// use msg_forms::agent::AgentMessage;
    /// let (it, report) = AgentMessage::from_message(Message::tool_result("call_1", "42"));
    /// assert_eq!(it[0].content.as_text(), Some("42"));
    /// assert_eq!(it[0].tool_call_id.as_deref(), Some("call_1"));
    /// assert!(report.is_empty());
    /// ```
    pub fn from_message(message: Message) -> (Vec<Self>, Report) {
        let mut report = Report::default();
        let mut losses = Losses::new(&mut report, 0);
        let id = carried_id(&message.extra);
        for (name, _) in message.extra.iter(&Origin::Agent).filter(|it| it.0 != "tool_call_id") {
            losses.member(name, "the agent types");
        }
        let mut res: Vec<_> = shapes(&message, &mut losses).into_iter().map(view).collect();
        if let Some(first) = res.first_mut().filter(|it| it.tool_call_id.is_none()) {
            first.tool_call_id = id;
        }
        (res, report)
    }
}

/// The id that a message carries which answers no call (see [`assemble`]).
fn carried_id(extra: &Extra) -> Option<String> {
    extra.get(&Origin::Agent, "tool_call_id")?.parse().ok()
}

fn view(shape: Shape<'_>) -> AgentMessage {
    AgentMessage {
        role: shape.role,
        content: match shape.content {
            write::Body::Text(it) => MessageContent::Text(it.into_owned()),
            write::Body::ToolCalls(it) => {
                MessageContent::ToolCalls(it.into_iter().map(invocation).collect())
            }
            write::Body::ToolResult(it, _) => {
                MessageContent::ToolResult(ToolResultContent { content: it.into_owned() })
            }
            write::Body::MultiPart(it) => {
                MessageContent::MultiPart(it.into_iter().map(content_part).collect())
            }
        },
        name: shape.name.map(str::to_owned),
        tool_call_id: shape.tool_call_id.map(str::to_owned),
    }
}

fn invocation(call: &ToolCall) -> ToolInvocation {
    let text = call.arguments.text();
    let value = if is_value(text) { call.arguments.parse().ok() } else { None };
    ToolInvocation {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: value.unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

fn content_part(part: &Part) -> ContentPart {
    match part {
        Part::Text(it) => ContentPart::Text(it.text.clone()),
        Part::ToolCall(it) => ContentPart::ToolCall(invocation(it)),
        Part::Image(it) if is_plain_image(part) => ContentPart::Image {
            url: it.url.clone().unwrap_or_default(),
            detail: it.detail.clone(),
        },
        Part::Other(it) if is_json(part) => ContentPart::Json(value(&it.value)),
        _ => ContentPart::Other(serde_json::to_value(part).unwrap_or_default()),
    }
}

/// The value, or its text where it nests deeper than `Value` can be read.
fn value(raw: &RawJson) -> Value {
    raw.parse().unwrap_or_else(|_| Value::String(raw.text().to_owned()))
}
