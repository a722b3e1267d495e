//! Which content a message becomes (MS-13), decided once for the writer of bytes and for the types.

use std::borrow::Cow;

use super::{MessageRole, call};
use crate::losses::Losses;
use msg_core::{CallKind, Extra, Message, Origin, Part, Role, ToolCall, ToolResult};

/// One agent message that a message becomes.
pub(super) struct Shape<'a> {
    pub(super) role: MessageRole,
    pub(super) content: Body<'a>,
    pub(super) name: Option<&'a str>,
    pub(super) tool_call_id: Option<&'a str>,
    /// The message whose unknown members go with it.
    pub(super) owner: Option<&'a Message>,
}

/// The content.
pub(super) enum Body<'a> {
    Text(Cow<'a, str>),
    ToolCalls(Vec<&'a ToolCall>),
    ToolResult(Cow<'a, str>, Option<&'a Extra>),
    MultiPart(Vec<&'a Part>),
}

/// What a message becomes: one, or one for each result of a tool message.
pub(super) fn shapes<'a>(message: &'a Message, losses: &mut Losses<'_>) -> Vec<Shape<'a>> {
    let role = message_role(&message.role, losses);
    losses.extra(&message.extra, Some(&Origin::Agent));
    losses.taken(&message.extra, &Origin::Agent, &["role", "content", "name"]);
    if role == MessageRole::Tool {
        return tool_shapes(message, losses);
    }
    for (at, part) in message.parts.iter().enumerate() {
        losses.at_part(Some(at));
        part_losses(part, losses);
    }
    let content = body(&message.parts);
    let name = message.name.as_deref();
    vec![Shape { role, content, name, tool_call_id: None, owner: Some(message) }]
}

pub(super) fn message_role(role: &Role, losses: &mut Losses<'_>) -> MessageRole {
    let res = match role {
        Role::System | Role::Developer => MessageRole::System,
        Role::Assistant => MessageRole::Assistant,
        Role::Tool => MessageRole::Tool,
        _ => MessageRole::User,
    };
    if matches!(role, Role::Developer | Role::Other(_)) {
        let text = format!("role `{role}` becomes {}", res.as_str());
        losses.warn("convert::role-changed", text);
    }
    res
}

fn body(parts: &[Part]) -> Body<'_> {
    match parts {
        [] => return Body::Text(Cow::Borrowed("")),
        [Part::Text(it)] => return Body::Text(Cow::Borrowed(&it.text)),
        _ => {}
    }
    let calls: Vec<_> = parts.iter().filter_map(Part::as_tool_call).collect();
    if calls.len() == parts.len() {
        return Body::ToolCalls(calls);
    }
    Body::MultiPart(parts.iter().collect())
}

fn tool_shapes<'a>(message: &'a Message, losses: &mut Losses<'_>) -> Vec<Shape<'a>> {
    losses.members("agent tool messages", &[("name", message.name.is_some())]);
    let mut res = Vec::new();
    for (at, part) in message.parts.iter().enumerate() {
        losses.at_part(Some(at));
        match part {
            Part::ToolResult(it) => res.push(result_shape(it, losses)),
            _ => losses.part(part, "agent tool messages"),
        }
    }
    match res.first_mut() {
        Some(first) => {
            first.owner = Some(message);
            if first.tool_call_id.is_some() {
                losses.at_part(None);
                losses.taken(&message.extra, &Origin::Agent, &["tool_call_id"]);
            }
        }
        None => losses.message(message),
    }
    if res.len() > 1 {
        losses.split();
    }
    res
}

fn result_shape<'a>(result: &'a ToolResult, losses: &mut Losses<'_>) -> Shape<'a> {
    let is_special = result.kind != CallKind::Function;
    losses.members("agent messages", &[("is_error", result.is_error), ("kind", is_special)]);
    Shape {
        role: MessageRole::Tool,
        content: result_body(result, losses),
        name: result.name.as_deref(),
        tool_call_id: Some(&*result.call_id).filter(|it| !it.is_empty()),
        owner: None,
    }
}

fn result_body<'a>(result: &'a ToolResult, losses: &mut Losses<'_>) -> Body<'a> {
    let parts = result.content.parts();
    for part in parts {
        part_losses(part, losses);
    }
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    if texts.len() < parts.len() {
        losses.extra(&result.extra, None);
        return Body::MultiPart(parts.iter().collect());
    }
    losses.extra(&result.extra, Some(&Origin::Agent));
    losses.taken(&result.extra, &Origin::Agent, &["content"]);
    Body::ToolResult(losses.join(&texts), Some(&result.extra))
}

/// What a part loses that has a place of its own; all others go whole, as native JSON.
fn part_losses(part: &Part, losses: &mut Losses<'_>) {
    match part {
        Part::Text(it) => losses.extra(&it.extra, None),
        Part::ToolCall(it) => {
            call_losses(it, losses);
            losses.taken(&it.extra, &Origin::Agent, &call::MEMBERS);
        }
        _ if is_plain_image(part) => {
            losses.extra(part.extra(), Some(&Origin::Agent));
            losses.taken(part.extra(), &Origin::Agent, &["url", "detail"]);
        }
        _ if is_json(part) => losses.extra(part.extra(), None),
        _ => {}
    }
}

/// What a call loses: kind, signature, members of other formats, and the form of arguments that are
/// no JSON.
pub(super) fn call_losses(call: &ToolCall, losses: &mut Losses<'_>) {
    let is_special = call.kind != CallKind::Function;
    let members = [("kind", is_special), ("signature", call.signature.is_some())];
    losses.members("agent messages", &members);
    losses.extra(&call.extra, Some(&Origin::Agent));
    if msg_json::validate(call.arguments.text()).is_err() {
        losses.warn("convert::invalid-arguments", "arguments are no JSON and become a string");
    }
}

/// Whether the image has a place of its own: a URL and nothing but a detail beside it.
pub(super) fn is_plain_image(part: &Part) -> bool {
    matches!(part, Part::Image(it)
        if it.url.is_some() && it.file_id.is_none() && it.media_type.is_none())
}

/// Whether the part is JSON as such.
pub(super) fn is_json(part: &Part) -> bool {
    matches!(part, Part::Other(it) if it.format == Origin::Json && it.place.is_none())
}
