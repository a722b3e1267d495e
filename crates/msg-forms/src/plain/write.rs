//! Messages to plain messages (MS-10), each loss reported (MS-24).

use std::borrow::Cow;

use crate::{
    layout::{Order, Step},
    losses::Losses,
};
use msg_core::{CallKind, Message, Origin, Part, RawJson, Report, Role, ToolResult};
use msg_json::Writer;

/// Appends a list of plain messages (MS-10), and reports what they cannot hold.
///
/// ```
/// use msg_core::Message;
/// use msg_forms::plain;
/// let mut json = Vec::new();
/// let report = plain::write(&[Message::tool("calculator", "42")], &mut json);
/// assert_eq!(json, br#"[{"role":"tool","content":"Tool: calculator\n42"}]"#);
/// assert!(report.is_empty());
/// ```
pub fn write(messages: &[Message], out: &mut Vec<u8>) -> Report {
    let mut report = Report::default();
    Writer::new(out).list(|list| {
        for (at, message) in messages.iter().enumerate() {
            shapes(message, at, &mut report).iter().for_each(|it| write_shape(it, list));
        }
    });
    report
}

/// Appends role and preview of each message (MS-17), as plain messages.
///
/// ```
/// use msg_core::Message;
/// use msg_forms::plain;
/// let mut json = Vec::new();
/// plain::write_previews(&[Message::user("one\ntwo three")], 8, &mut json);
/// assert_eq!(json, "[{\"role\":\"user\",\"content\":\"one two…\"}]".as_bytes());
/// ```
pub fn write_previews(messages: &[Message], max_chars: usize, out: &mut Vec<u8>) {
    Writer::new(out).array(messages, |it, message| {
        it.object(|it| {
            it.key("role").str(message.role.as_str());
            it.key("content").str(&message.preview(max_chars));
        });
    });
}

/// One plain message that a message becomes.
pub(super) struct Shape<'a> {
    pub(super) role: &'a Role,
    pub(super) content: Cow<'a, str>,
    /// The message whose unknown members and layout go with it.
    owner: Option<&'a Message>,
}

/// What a message becomes: itself, and a tool message for each result. Results of a user come
/// before the message, those of an assistant behind it.
pub(super) fn shapes<'a>(message: &'a Message, at: usize, report: &mut Report) -> Vec<Shape<'a>> {
    let mut losses = Losses::new(report, at);
    losses.members("plain messages", &[("name", message.name.is_some())]);
    losses.extra(&message.extra, Some(&Origin::Plain));
    losses.taken(&message.extra, &Origin::Plain, &KNOWN);
    let is_crlf = Order::of(&message.extra, &Origin::Plain, N_KNOWN).is_flagged();
    let line_break = if is_crlf { "\r\n" } else { "\n" };
    let mut results = Vec::new();
    let mut texts = Vec::new();
    for (n, part) in message.parts.iter().enumerate() {
        losses.at_part(Some(n));
        match part {
            Part::ToolResult(it) => {
                let content = result_content(it, line_break, &mut losses);
                results.push(Shape { role: &Role::Tool, content, owner: None });
            }
            _ if message.role == Role::Tool => losses.part(part, "plain tool messages"),
            _ => texts.extend(losses.text_of(part, "plain messages")),
        }
    }
    let is_tool = message.role == Role::Tool;
    if results.len() > 1 || (!is_tool && !results.is_empty()) {
        losses.split();
    }
    if is_tool && results.is_empty() {
        losses.message(message);
    }
    if !is_tool && (results.is_empty() || !texts.is_empty()) {
        losses.at_part(None);
        let own = Shape { role: &message.role, content: losses.join(&texts), owner: None };
        let at = if message.role == Role::Assistant { 0 } else { results.len() };
        results.insert(at, Shape { owner: Some(message), ..own });
    } else if let Some(first) = results.first_mut() {
        first.owner = Some(message);
    }
    results
}

const KNOWN: [&str; 2] = ["role", "content"];
const N_KNOWN: u8 = KNOWN.len() as u8;

fn write_shape(shape: &Shape<'_>, list: &mut Writer<'_>) {
    let known = |number: u8, it: &mut Writer<'_>| match number {
        0 => it.key("role").str(shape.role.as_str()),
        _ => it.key("content").str(&shape.content),
    };
    list.object(|it| {
        let Some(owner) = shape.owner else {
            return (0..N_KNOWN).for_each(|number| known(number, it));
        };
        let unknown: Vec<(&str, &RawJson)> =
            owner.extra.iter(&Origin::Plain).filter(|it| !KNOWN.contains(&it.0)).collect();
        let order = Order::of(&owner.extra, &Origin::Plain, N_KNOWN);
        order.walk(N_KNOWN, unknown.len(), |step| match step {
            Step::Known(number) => known(number, it),
            Step::Unknown(at) => it.key(unknown[at].0).compact(unknown[at].1.text()),
        });
    });
}

/// The header, the mark of an error, and the text of a result.
fn result_content<'a>(
    result: &'a ToolResult,
    line_break: &str,
    losses: &mut Losses<'_>,
) -> Cow<'a, str> {
    let is_special = result.kind != CallKind::Function;
    losses.members(
        "plain messages",
        &[("call_id", !result.call_id.is_empty()), ("kind", is_special)],
    );
    losses.extra(&result.extra, None);
    let parts = result.content.parts().iter();
    let texts: Vec<_> = parts.filter_map(|it| losses.text_of(it, "plain messages")).collect();
    let text = losses.join(&texts);
    let mark = if result.is_error && !text.starts_with("Error:") { "Error: " } else { "" };
    match &result.name {
        Some(name) => Cow::Owned(format!("Tool: {name}{line_break}{mark}{text}")),
        None if mark.is_empty() => text,
        None => Cow::Owned(format!("{mark}{text}")),
    }
}
