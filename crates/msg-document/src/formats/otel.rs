//! OpenTelemetry GenAI messages (OT-1, OT-2): the list that a span has in `gen_ai.input.messages`.
//!
//! ```text
//! [{"role":"user","parts":[{"type":"text","content":"Weather?"}]},
//!  {"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"weather","arguments":{}}]},
//!  {"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"sunny"}]}]
//! ```
//!
//! Spans themselves are not read here.

use msg_core::json::Writer;
use msg_core::{
    Arguments, Message, Origin, Other, Part, RawJson, Reasoning, Report, Role, Text, ToolCall,
    ToolResult,
};
use msg_wire::codec::Losses;

use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::members::{
    Members, keep_rest, note_refusal, note_result, take, text_or_source, write_arguments,
    write_rest,
};
use crate::outline::{Item, Outline, Record};
use crate::refusal::Refusal;
use crate::verbatim::{self, Form, Ids};

pub(crate) struct Otel;

impl Codec for Otel {
    fn name(&self) -> &'static str {
        "otel"
    }

    fn about(&self) -> &'static str {
        "OpenTelemetry GenAI messages: an array of `{role, parts}` whose texts are `content`"
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        let is_part = |it: &Item<'_>| match it.kind {
            Some("tool_call_response") => true,
            Some("text" | "reasoning") => it.has("content") && !it.has("text"),
            _ => false,
        };
        let is_ours = |it: &Record<'_>| it.is_list("parts") && it.parts().any(is_part);
        match outline.messages() {
            Some(list) if list.records().any(is_ours) => Likelihood::Certain,
            Some(list) if list.is_empty() => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        verbatim::read(bytes, &Otel, &["messages"])
    }

    fn write(&self, messages: &mut Vec<Message>, _: &WriteOptions, out: &mut Vec<u8>) -> Report {
        verbatim::write(messages, self, out)
    }
}

impl Form for Otel {
    fn origin(&self) -> Origin {
        Origin::Other("otel".into())
    }

    fn read(&self, source: &RawJson, _: &mut Ids) -> Result<Message, &'static str> {
        let mut members = source.members().ok_or("a message, which is an object")?;
        let role: String = take(&mut members, "role").ok_or("`role` to be a string")?;
        let parts: Vec<RawJson> = take(&mut members, "parts").ok_or("`parts` to be a list")?;
        let role = Role::known(&role).unwrap_or_else(|| Role::from(role.as_str()));
        let mut res = Message::new(role);
        res.name = take(&mut members, "name");
        res.parts = parts.iter().map(|it| part(it, &self.origin())).collect();
        keep_rest(&mut res.extra, &self.origin(), members);
        Ok(res)
    }

    fn write(&self, message: &Message, losses: &mut Losses<'_>, out: &mut Writer<'_>) {
        losses.foreign(&message.extra, Some(&self.origin()), None);
        out.object(|out| {
            out.key("role").str(message.role.as_str());
            if let Some(name) = &message.name {
                out.key("name").str(name);
            }
            out.key("parts").array(message.parts.iter().enumerate(), |out, (at, it)| {
                write_part(at, it, &self.origin(), losses, out);
            });
            write_rest(&message.extra, &self.origin(), &[], out);
        });
    }
}

/// OT-1: parts by their type; every other one is kept raw.
fn part(source: &RawJson, origin: &Origin) -> Part {
    let read = || {
        let mut members = source.members()?;
        let mut part = match take::<String>(&mut members, "type")?.as_str() {
            "text" => Part::Text(Text::new(take::<String>(&mut members, "content")?)),
            "reasoning" => {
                Part::Reasoning(Reasoning::new(take::<String>(&mut members, "content")?))
            }
            "tool_call" => Part::ToolCall(call(&mut members)?),
            "tool_call_response" => Part::ToolResult(result(&mut members)?),
            _ => return None,
        };
        keep_rest(part.extra_mut(), origin, members);
        Some(part)
    };
    read().unwrap_or_else(|| Part::Other(Other::new(origin.clone(), source.clone())))
}

fn call(members: &mut Members) -> Option<ToolCall> {
    let name: String = take(members, "name")?;
    let id: Option<String> = take::<Option<String>>(members, "id").flatten();
    let arguments: Option<RawJson> = take(members, "arguments");
    Some(ToolCall::new(id.unwrap_or_default(), name, Arguments::from(text_of(arguments))))
}

/// `response`; `result` in older versions. A value that is no text goes as its source text.
fn result(members: &mut Members) -> Option<ToolResult> {
    let id: Option<String> = take::<Option<String>>(members, "id").flatten();
    let content = take(members, "response").or_else(|| take(members, "result"));
    Some(ToolResult::new(id.unwrap_or_default(), text_of(Some(content?)).as_str()))
}

fn text_of(raw: Option<RawJson>) -> String {
    raw.filter(|it| it.text() != "null").map(text_or_source).unwrap_or_default()
}

/// OT-2: a part as it is stored, its unknown members behind the known ones.
fn write_part(
    at: usize,
    part: &Part,
    origin: &Origin,
    losses: &mut Losses<'_>,
    out: &mut Writer<'_>,
) {
    if let Part::Other(it) = part
        && it.format == *origin
    {
        return out.raw(it.value.text());
    }
    losses.foreign(part.extra(), Some(origin), Some(at));
    let Some(kind) = kind_of(at, part, losses) else { return };
    out.object(|out| {
        out.key("type").str(kind);
        match part {
            Part::Text(it) | Part::Refusal(it) => out.key("content").str(&it.text),
            Part::Reasoning(it) => out.key("content").str(&it.display_text()),
            Part::ToolCall(it) => {
                out.key("id").str(&it.id);
                out.key("name").str(&it.name);
                write_arguments(it, out);
            }
            Part::ToolResult(it) => {
                out.key("id").str(&it.call_id);
                out.key("response").str(&it.content.text());
            }
            _ => {}
        }
        write_rest(part.extra(), origin, &[], out);
    });
}

/// The type of a part; none, and reported, if it has no place.
fn kind_of(at: usize, part: &Part, losses: &mut Losses<'_>) -> Option<&'static str> {
    match part {
        Part::Text(_) => Some("text"),
        Part::Refusal(_) => {
            note_refusal(at, losses);
            Some("text")
        }
        Part::Reasoning(it) if it.redacted.is_none() => {
            if it.signature.is_some() || it.encrypted.is_some() {
                losses.member(Some(at), "the signature of reasoning");
            }
            Some("reasoning")
        }
        Part::ToolCall(it) => {
            if it.signature.is_some() {
                losses.member(Some(at), "the signature of a call");
            }
            Some("tool_call")
        }
        Part::ToolResult(it) => {
            note_result(at, it, losses);
            Some("tool_call_response")
        }
        other => {
            losses.part(at, other.kind());
            None
        }
    }
}
