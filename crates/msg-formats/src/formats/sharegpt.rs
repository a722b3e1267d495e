//! ShareGPT conversations (SG-1 to SG-3): an object with `conversations`, or a bare list.
//!
//! ```text
//! {"conversations":[{"from":"human","value":"Weather?"},
//!                   {"from":"function_call","value":"{\"name\":\"weather\",\"arguments\":{}}"},
//!                   {"from":"observation","value":"sunny"},
//!                   {"from":"gpt","value":"Sunny."}],"tools":"[…]"}
//! ```

use msg_codec::codec::{Body, Losses, Want, Wants};
use msg_core::{CallKind, Message, Origin, Part, RawJson, Report, Role, ToolCall};
use msg_json::Writer;
use msg_session::ShareGptTurns;

use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::json::{
    keep_rest, note_json, note_refusal, note_result, take, text_of_result, write_arguments,
    write_rest,
};
use crate::outline::{Outline, Record, ValueKind};
use crate::refusal::Refusal;
use crate::text_calls::text_as_call;
use crate::verbatim::{self, Form};

pub(crate) struct ShareGpt;

const LIST: &str = "conversations";

/// The speaker names in data sets that no other format uses for a sender.
const SPEAKERS: [&str; 12] = [
    "human",
    "gpt",
    "user",
    "assistant",
    "system",
    "tool",
    "function_call",
    "function_response",
    "observation",
    "chatgpt",
    "bing",
    "bard",
];

impl Codec for ShareGpt {
    fn name(&self) -> &'static str {
        "sharegpt"
    }

    fn about(&self) -> &'static str {
        "A ShareGPT conversation: an object with `conversations` of `{from, value}`, or the list"
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        let is_turn = |it: &Record<'_>| {
            it.member("from") == Some(ValueKind::Text) && it.has("value") && it.role.is_none()
        };
        let named = outline.list(LIST);
        let Some(list) = named.or_else(|| outline.list("")) else { return Likelihood::No };
        // Mails also have a sender and a value: a bare list counts only with a known speaker name.
        let says_who = |it: &Record<'_>| it.text("from").is_some_and(|it| SPEAKERS.contains(&it));
        match list.is_empty() {
            true if named.is_some() => Likelihood::Certain,
            true => Likelihood::Possible,
            // A turn of another shape still belongs to the list: it is read as JSON, or refused with its place.
            false if named.is_some() && list.records().any(says_who) => Likelihood::Certain,
            false => Likelihood::certain_if(
                list.n_others() == 0
                    && list.records().all(is_turn)
                    && (named.is_some() || list.records().any(says_who)),
            ),
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        verbatim::read(bytes, &ShareGpt, &[LIST])
    }

    fn write(&self, messages: &mut Vec<Message>, _: &WriteOptions, out: &mut Vec<u8>) -> Report {
        out.extend_from_slice(b"{\"conversations\":");
        let report = verbatim::write(messages, self, out);
        out.push(b'}');
        report
    }
}

impl Form for ShareGpt {
    fn origin(&self) -> Origin {
        Origin::Other("sharegpt".into())
    }

    fn wants(&self) -> &'static Wants {
        static TURN: Wants = Wants::new(&[("from", Want::Text), ("value", Want::Text)], &[]);
        &TURN
    }

    /// Reads a turn as a message (SG-1, SG-2, SG-2b).
    fn read(&self, source: &RawJson, turns: &mut ShareGptTurns) -> Result<Message, &'static str> {
        let mut members = source.members().ok_or("a turn, which is an object")?;
        let mut text = |name| take(&mut members, name).map(Option::<String>::unwrap_or_default);
        let (from, text) = (text("from").ok_or("a `from`")?, text("value").ok_or("a `value`")?);
        let mut res = turns.read(&from, &text);
        keep_rest(&mut res.extra, &self.origin(), members);
        Ok(res)
    }

    /// Reads the system text from a separate member (SG-1).
    fn leading(&self, body: &Body) -> Option<(&'static str, Message)> {
        let text: String = body.parse("system")?;
        (!text.is_empty()).then(|| ("system", Message::system(text)))
    }

    /// Writes texts, then calls, then results as turns; for roles other than the assistant, results come first (SG-3).
    fn write(&self, message: &Message, losses: &mut Losses<'_>, out: &mut Writer<'_>) {
        if message.name.is_some() {
            losses.member(None, "name");
        }
        if message.role == Role::Developer {
            losses.warn("convert::role-changed", None, "developer became system");
        }
        losses.foreign(&message.extra, Some(&self.origin()), None);
        let text = texts_of(message, losses);
        let calls: Vec<_> = message.tool_calls().collect();
        let results: Vec<_> = message.tool_results().collect();
        let mut is_other = false;
        let mut turn = |from: &str, value: &str, is_said: fn(&Part, &str) -> bool| {
            is_other |= !is_read_so(from, value, is_said);
            out.object(|out| {
                out.key("from").str(from);
                out.key("value").str(value);
                write_rest(&message.extra, &self.origin(), &[], out);
            });
        };
        let is_said =
            |it: &Part, text: &str| it.as_tool_result().is_some_and(|it| it.content.text() == text);
        // User text after results is a reply to them.
        let (first, last) = match message.role {
            Role::Assistant => (&[][..], &results[..]),
            _ => (&results[..], &[][..]),
        };
        first
            .iter()
            .for_each(|it| turn("observation", &text_of_result(it, &self.origin()), is_said));
        if text.is_some() || calls.is_empty() && results.is_empty() {
            let from = word_of(&message.role);
            turn(from, text.as_deref().unwrap_or_default(), |it, text| match it {
                Part::Text(it) => it.text == text,
                // A tool turn is always a result.
                it => it.as_tool_result().is_some_and(|it| it.content.text() == text),
            });
        }
        if !calls.is_empty() {
            turn("function_call", &call_text(&calls), |it, _| it.as_tool_call().is_some());
        }
        last.iter()
            .for_each(|it| turn("observation", &text_of_result(it, &self.origin()), is_said));
        if is_other {
            let said = text_as_call();
            losses.warn("convert::text-as-call", None, said.message().into_owned());
        }
    }
}

/// Whether each part of a turn, after an open call, is read as what it was.
fn is_read_so(from: &str, value: &str, is_said: fn(&Part, &str) -> bool) -> bool {
    if !value.contains('<') {
        return true;
    }
    let mut turns = ShareGptTurns::default();
    turns.read("function_call", r#"{"name":"f","arguments":{}}"#);
    turns.read(from, value).parts.iter().all(|it| is_said(it, value))
}

/// One call as an object, several as a list. JSON arguments become their value.
fn call_text(calls: &[&ToolCall]) -> String {
    let one = |it: &mut Writer<'_>, call: &ToolCall| {
        it.object(|it| {
            it.key("name").str(&call.name);
            write_arguments(call, it);
            write_rest(&call.extra, &ShareGpt.origin(), &[], it);
        });
    };
    msg_json::to_text(|it| match calls {
        [call] => one(it, call),
        calls => it.array(calls, |it, call| one(it, call)),
    })
}

/// The texts of a message; other parts, except calls and results, cannot be written.
fn texts_of(message: &Message, losses: &mut Losses<'_>) -> Option<String> {
    let mut texts = Vec::new();
    for (at, part) in message.parts.iter().enumerate() {
        match part {
            Part::Text(it) => texts.push(it.text.as_str()),
            Part::Refusal(it) => {
                note_refusal(at, losses);
                texts.push(it.text.as_str());
            }
            Part::ToolCall(it) => {
                losses.members(Some(at), &[("kind", it.kind != CallKind::Function)]);
            }
            Part::ToolResult(it) => note_result(at, it, &ShareGpt.origin(), losses),
            Part::Other(it) if it.format == Origin::Json => {
                note_json(at, losses);
                texts.push(it.value.text());
            }
            other => losses.part(at, &other.kind_of_source()),
        }
    }
    if texts.len() > 1 {
        losses.warn("convert::merged-parts", None, "several texts became one, a line each");
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn word_of(role: &Role) -> &str {
    match role {
        Role::User => "human",
        Role::Assistant => "gpt",
        Role::Developer => "system",
        Role::Tool => "observation",
        other => other.as_str(),
    }
}
