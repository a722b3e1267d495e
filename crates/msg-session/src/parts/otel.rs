//! The parts of OpenTelemetry's GenAI messages (OT-1), for spans and for lists of messages alone.

use msg_core::{Origin, Part, RawJson, Reasoning, ToolCall, ToolResult};

use crate::json::{Object, Value};

/// The part that a part of a GenAI message is, with the members that no part knows; none of media and of other
/// kinds.
///
/// ```
/// use msg_core::RawJson;
///
/// let part = RawJson::new(r#"{"type":"tool_call","id":"c1","name":"weather","arguments":{"at":1}}"#)?;
/// let part = msg_session::otel_part(&part).expect("because it is a call");
/// assert_eq!(part.as_tool_call().map(|it| it.arguments.text()), Some(r#"{"at":1}"#));
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub fn otel_part(source: &RawJson) -> Option<Part> {
    let object = Value { source: source.text(), at: 0 }.object()?;
    let (mut part, known): (_, &[&str]) = match &*object.text("type")? {
        "text" => (Part::text(object.text("content")?), &["content"]),
        "reasoning" => (Part::Reasoning(Reasoning::new(object.text("content")?)), &["content"]),
        "tool_call" => (Part::ToolCall(call(&object)?), &["id", "name", "arguments"]),
        "tool_call_response" => {
            let member = ["response", "result"].into_iter().find(|it| object.has(it))?;
            let result = ToolResult::new(super::text(&object, "id"), plain(&object, member));
            (
                Part::ToolResult(result),
                if member == "result" { &["id", "result"] } else { &["id", "response"] },
            )
        }
        _ => return None,
    };
    let rest = object.iter().filter(|it| it.0 != "type" && !known.contains(&it.0));
    for (name, value) in rest {
        part.extra_mut().insert(Origin::from("otel"), name, value.raw_json());
    }
    Some(part)
}

fn call(object: &Object<'_>) -> Option<ToolCall> {
    let name = object.text("name")?;
    Some(ToolCall::new(super::text(object, "id"), name, plain(object, "arguments")))
}

/// The text of a member, or its JSON if it is none; `""` of none, and of `null`.
fn plain(object: &Object<'_>, name: &str) -> String {
    let value = object.get(name).filter(|it| !it.is_null());
    value.map(|it| it.plain()).unwrap_or_default()
}
