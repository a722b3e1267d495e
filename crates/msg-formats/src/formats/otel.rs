//! OpenTelemetry GenAI messages (OT-1, OT-2): the list in the span attribute `gen_ai.input.messages`.
//!
//! ```text
//! [{"role":"user","parts":[{"type":"text","content":"Weather?"}]},
//!  {"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"weather","arguments":{}}]},
//!  {"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"sunny"}]}]
//! ```
//!
//! Spans themselves are not read here.

use msg_codec::codec::{Losses, Parts, Want, Wants};
use msg_core::{CallKind, Message, Origin, Other, Part, RawJson, Report, Role};
use msg_json::Writer;
use msg_session::ShareGptTurns;

use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::json::{
    keep_rest, note_json, note_refusal, note_result, take, text_of_result, write_arguments,
    write_rest,
};
use crate::outline::{Outline, Record, ValueKind};
use crate::refusal::Refusal;
use crate::verbatim;
use crate::verbatim::Form;

pub(crate) struct Otel;

impl Codec for Otel {
    fn name(&self) -> &'static str {
        "otel"
    }

    fn about(&self) -> &'static str {
        "OpenTelemetry GenAI messages: an array of `{role, parts}` whose texts are `content`"
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        match outline.messages() {
            Some(list) if list.records().any(is_otel) => Likelihood::Certain,
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

    fn wants(&self) -> &'static Wants {
        &MESSAGE
    }

    fn read(&self, source: &RawJson, _: &mut ShareGptTurns) -> Result<Message, &'static str> {
        let mut members = source.members().ok_or("a message, which is an object")?;
        let role: String = take(&mut members, "role").ok_or("`role` to be a string")?;
        let parts: Vec<RawJson> = take(&mut members, "parts").ok_or("`parts` to be a list")?;
        let role = Role::known(&role).unwrap_or_else(|| Role::from(role.as_str()));
        let mut res = Message::new(role);
        res.name = take(&mut members, "name");
        // Parts of other kinds are kept raw (OT-1).
        let raw = |it: &RawJson| Part::Other(Other::new(self.origin(), it.clone()));
        let part = |it| msg_session::otel_part(it).unwrap_or_else(|| raw(it));
        res.parts = parts.iter().map(part).collect();
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

static MESSAGE: Wants = Wants::new(&[("name", Want::Text), ("parts", Want::Content(&PARTS))], &[]);

static PARTS: Parts = Parts {
    may_be_null: true,
    ..Parts::new(|source| Parts::by_type(source, part), |text| Parts::typed_text("content", text))
};

/// The expected types for a part of this type.
fn part(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = Wants::new(&[("content", Want::Text)], &[&["content"]]);
    static CALL: Wants = Wants::new(&[("id", Want::Text), ("name", Want::Name)], &[&["name"]]);
    static RESPONSE: Wants = Wants::new(&[("id", Want::Text)], &[]);
    match kind {
        "text" | "reasoning" => Some(&TEXT),
        "tool_call" => Some(&CALL),
        "tool_call_response" => Some(&RESPONSE),
        _ => None,
    }
}

/// Writes a part in stored form, its unknown members after the known ones (OT-2).
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
    let Some(kind) = kind_of(at, part, origin, losses) else { return };
    out.object(|out| {
        out.key("type").str(kind);
        match part {
            Part::Text(it) | Part::Refusal(it) => out.key("content").str(&it.text),
            Part::Other(it) => out.key("content").str(it.value.text()),
            Part::Reasoning(it) => out.key("content").str(&it.display_text()),
            Part::ToolCall(it) => {
                out.key("id").str(&it.id);
                out.key("name").str(&it.name);
                write_arguments(it, out);
            }
            Part::ToolResult(it) => {
                out.key("id").str(&it.call_id);
                out.key("response").str(&text_of_result(it, origin));
            }
            _ => {}
        }
        write_rest(part.extra(), origin, &[], out);
    });
}

/// The type of a part; `None`, and reported, if it cannot be written.
fn kind_of(
    at: usize,
    part: &Part,
    origin: &Origin,
    losses: &mut Losses<'_>,
) -> Option<&'static str> {
    match part {
        Part::Text(_) => Some("text"),
        Part::Refusal(_) => {
            note_refusal(at, losses);
            Some("text")
        }
        Part::Other(it) if it.format == Origin::Json => {
            note_json(at, losses);
            Some("text")
        }
        Part::Reasoning(it) if it.redacted.is_none() => {
            let is_lost =
                [("signature", it.signature.is_some()), ("encrypted", it.encrypted.is_some())];
            losses.members(Some(at), &is_lost);
            Some("reasoning")
        }
        Part::ToolCall(it) => {
            let is_lost =
                [("signature", it.signature.is_some()), ("kind", it.kind != CallKind::Function)];
            losses.members(Some(at), &is_lost);
            Some("tool_call")
        }
        Part::ToolResult(it) => {
            note_result(at, it, origin, losses);
            Some("tool_call_response")
        }
        other => {
            losses.part(at, &other.kind_of_source());
            None
        }
    }
}

/// A message with parts whose text is `content`, with results called responses, or with calls whose arguments are a
/// value.
pub(super) fn is_otel(record: &Record<'_>) -> bool {
    record.is_list("parts")
        && record.parts().any(|it| match it.kind {
            Some("tool_call_response") => true,
            Some("text" | "reasoning") => it.has("content") && !it.has("text"),
            Some("tool_call") => {
                it.has("name") && !matches!(it.member("arguments"), Some(ValueKind::Text))
            }
            _ => false,
        })
}
