//! The events of a stream of model text in their JSON form.

use msg_xml::{ArgPath, Event, Outcome, PathItem};
use serde::{Serialize, Serializer};

/// An event, and the byte after the piece that brought it.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct EventForm {
    at: u64,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
}

#[derive(Debug, Clone)]
struct PathForm(ArgPath);

impl Serialize for PathForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.items().iter().map(|item| match item {
            PathItem::Key(key) => serde_json::Value::from(&**key),
            PathItem::Index(n) => serde_json::Value::from(*n),
        }))
    }
}

/// Adds an event, if they are wanted.
pub(super) fn note(events: &mut Option<Vec<EventForm>>, at: u64, event: &Event<'_>) {
    let Some(events) = events else { return };
    let base = EventForm { at, ..EventForm::default() };
    events.push(match event {
        Event::Text { text, .. } => {
            EventForm { event: "text", text: Some(text.to_string()), ..base }
        }
        Event::Thinking { text, .. } => {
            EventForm { event: "thinking", text: Some(text.to_string()), ..base }
        }
        Event::ToolBegin { call } => EventForm { event: "tool_begin", call: Some(*call), ..base },
        Event::ToolName { call, name } => {
            EventForm { event: "tool_name", call: Some(*call), name: Some(name.clone()), ..base }
        }
        Event::Arg { call, path, text } => EventForm {
            event: "arg",
            call: Some(*call),
            path: Some(PathForm(path.clone().into_owned())),
            text: Some(text.to_string()),
            ..base
        },
        Event::ArgReset { call, path } => EventForm {
            event: "arg_reset",
            call: Some(*call),
            path: Some(PathForm(path.clone())),
            ..base
        },
        Event::ToolEnd { call, outcome } => EventForm {
            event: "tool_end",
            call: Some(*call),
            complete: Some(matches!(**outcome, Outcome::Complete(_))),
            ..base
        },
        Event::ToolVoid { call, code } => {
            EventForm { event: "tool_void", call: Some(*call), code: Some(code.as_str()), ..base }
        }
        Event::Reclaim(range) => {
            EventForm { event: "reclaim", start: Some(range.start), end: Some(range.end), ..base }
        }
        _ => return,
    });
}
