//! OpenTelemetry GenAI messages (OT-1, OT-2): the list that a span has in `gen_ai.input.messages`.
//!
//! ```text
//! [{"role":"user","parts":[{"type":"text","content":"Weather?"}]},
//!  {"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"weather","arguments":{}}]},
//!  {"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"sunny"}]}]
//! ```
//!
//! Spans themselves are not read here.

use msg_codec::codec::{Losses, Parts, Want, Wants};
use msg_core::{Message, Origin, Other, Part, RawJson, Report, Role};
use msg_json::Writer;
use msg_session::ShareGptTurns;

use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::json::{
    keep_rest, note_json, note_refusal, note_result, take, text_of_result, write_arguments,
    write_rest,
};
use crate::outline::{Item, List, Member, Outline, Record, ValueKind};
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
        // OT-1: every part of another kind is kept raw.
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
    of: |source| Parts::by_type(source, part),
    text: |text| Parts::typed_text("content", text),
    may_be_bare: false,
    may_be_text: false,
    may_be_null: true,
    may_be_value: false,
    kinds: &[],
};

/// What is wanted of a part of this type.
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

/// OT-2: a part as it is stored, its unknown members after the known ones.
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

/// The type of a part; none, and reported, if it has no place.
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
            losses.members(Some(at), &[("signature", it.signature.is_some())]);
            Some("tool_call")
        }
        Part::ToolResult(it) => {
            note_result(at, it, origin, losses);
            Some("tool_call_response")
        }
        other => {
            losses.part(at, other.kind());
            None
        }
    }
}

// The marks of data sets, messages of frameworks, and traces.

/// The list that the document is, its lines, or the object alone.
pub(crate) fn records(outline: &Outline<'_>, of_it: impl Fn(&Record<'_>) -> bool) -> Likelihood {
    let in_list = outline.list("").is_some_and(|it| it.records().any(&of_it));
    Likelihood::certain_if(in_list || outline.entries().any(of_it))
}

/// Rows with turns, whose own members say who speaks and what.
pub(super) fn sharegpt(outline: &Outline<'_>) -> Likelihood {
    records(outline, |it| it.items("conversations").any(|it| it.has("from") && it.has("value")))
        .max(match outline.list("conversations") {
            Some(list) if list.records().any(|it| it.has("from") && it.has("value")) => {
                Likelihood::Certain
            }
            _ => Likelihood::No,
        })
}

/// Messages of LangChain, in a list, in `messages`, or in a state.
pub(super) fn langchain(outline: &Outline<'_>) -> Likelihood {
    const STATES: [&str; 2] = ["values", "channel_values"];
    let is_message =
        |it: &Record<'_>| is_langchain(it.members(), it.role, it.kind, it.object("data"));
    let in_list = |it: &List<'_>| it.records().any(is_message);
    let in_state = |name: &&str| {
        let is_message = |it: &Item<'_>| is_langchain(it.members(), None, it.kind, None);
        outline.object(name).is_some_and(|it| it.items("messages").any(is_message))
    };
    let listed = outline.list("messages").is_some_and(in_list);
    if listed || STATES.iter().any(in_state) {
        return Likelihood::Certain;
    }
    records(outline, is_message)
}

/// A message as a constructor, with its members in `data`, or flat.
fn is_langchain(
    members: &[Member<'_>],
    role: Option<&str>,
    kind: Option<&str>,
    data: Option<&Item<'_>>,
) -> bool {
    let member = |name: &str| members.iter().find(|it| it.0 == name);
    let is_class = |it: &Member<'_>| it.2.ends_with("Message") || it.2.ends_with("MessageChunk");
    if member("lc").is_some() && member("kwargs").is_some() {
        return member("id").is_some_and(is_class);
    }
    let is_kind = kind.is_some_and(|it| {
        let of_it = ["human", "ai", "system", "tool", "function", "remove", "chat"];
        of_it.contains(&it) || it.ends_with("MessageChunk")
    });
    // In an item nothing is known of its `data` but that there is some.
    let says = match (member("data"), data) {
        (Some(_), Some(data)) => data.has("content"),
        (Some(it), None) => it.1 == ValueKind::Object,
        (None, _) => member("content").is_some(),
    };
    role.is_none() && is_kind && says
}

/// Messages of a span, or spans with their names.
pub(super) fn otel(outline: &Outline<'_>) -> Likelihood {
    let is_span = outline.member("resourceSpans").is_some()
        || outline.list("spans").is_some_and(|it| it.records().any(is_span))
        || outline
            .members()
            .any(|it| it.starts_with("gen_ai.") && !it.starts_with("gen_ai.prompt."));
    Likelihood::certain_if(
        is_span || outline.messages().is_some_and(|it| it.records().any(is_otel)),
    )
}

/// A span with attributes, as an export lists them.
fn is_span(record: &Record<'_>) -> bool {
    const IDS: [&str; 5] = ["context", "spanId", "span_id", "traceId", "trace_id"];
    record.has("attributes") && IDS.iter().any(|it| record.has(it))
}

/// A message with parts whose text is `content`, with results that are called responses, or with calls whose
/// arguments are a value.
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
