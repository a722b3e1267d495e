//! Message chains as stored by langchaingo (LG-1 to LG-4): a list of messages with one text or with parts.
//!
//! ```text
//! [{"role":"system","text":"Be brief."},
//!  {"role":"human","text":"Weather?"},
//!  {"role":"ai","parts":[{"type":"tool_call","tool_call":{"id":"c1","type":"function",
//!     "function":{"name":"weather","arguments":"{}"}}}]},
//!  {"role":"tool","parts":[{"type":"tool_response","tool_response":
//!     {"tool_call_id":"c1","name":"weather","content":"sunny"}}]}]
//! ```
//!
//! Converts a stored message to a message. Values without a place in the model are kept raw.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use msg_codec::codec::{Losses, Parts, Want, Wants};
use msg_core::{
    Arguments, Audio, CallKind, File, Image, Message, Origin, Other, Part, RawJson, Reasoning,
    Report, Role, Text, ToolCall, ToolResult,
};
use msg_json::Writer;
use msg_session::ShareGptTurns;

use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::json::{Members, keep_rest, take};
use crate::outline::{Item, Outline, Record, ValueKind};
use crate::refusal::Refusal;
use crate::verbatim;
use crate::verbatim::Form;

mod write;

pub(crate) struct Langchaingo;

impl Codec for Langchaingo {
    fn name(&self) -> &'static str {
        "langchaingo"
    }

    fn about(&self) -> &'static str {
        "Chains as langchaingo stores them: an array of `{role, text}` and `{role, parts}`"
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        match outline.messages() {
            Some(list) if list.is_empty() => Likelihood::Possible,
            Some(list) if list.records().next().is_none() => Likelihood::No,
            Some(list) if !list.records().all(could_be_ours) => Likelihood::No,
            Some(list) if list.records().any(is_ours) => Likelihood::Certain,
            Some(list) if list.records().all(is_like_others) => Likelihood::Possible,
            _ => Likelihood::No,
        }
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        verbatim::read(bytes, &Langchaingo, &["messages"])
    }

    fn write(&self, messages: &mut Vec<Message>, _: &WriteOptions, out: &mut Vec<u8>) -> Report {
        // langchaingo sends Gemini the stored name.
        msg_core::Answered::name_results(messages);
        verbatim::write(messages, self, out)
    }
}

impl Form for Langchaingo {
    fn origin(&self) -> Origin {
        origin()
    }

    fn wants(&self) -> &'static Wants {
        &MESSAGE
    }

    fn read(&self, source: &RawJson, _: &mut ShareGptTurns) -> Result<Message, &'static str> {
        message(source)
    }

    fn write(&self, message: &Message, losses: &mut Losses<'_>, out: &mut Writer<'_>) {
        write::message(message, losses, out);
    }
}

// The expected types of the members of messages and parts (MS-29).

static MESSAGE: Wants = Wants::new(&[("text", Want::Text), ("parts", Want::Content(&PARTS))], &[]);

static PARTS: Parts = Parts {
    may_be_null: true,
    ..Parts::new(
        |source| Parts::by_type(source, part_wants),
        |text| Parts::typed_text("text", text),
    )
};

/// The expected types for a part of this type.
fn part_wants(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);
    static CALL: Wants = Wants::new(&[("tool_call", Want::Object(&CALLED))], &[&["tool_call"]]);
    static CALLED: Wants =
        Wants::new(&[("id", Want::Text), ("function", Want::Object(&FUNCTION))], &[]);
    static FUNCTION: Wants = Wants::new(&[("name", Want::Text), ("arguments", Want::Text)], &[]);
    static RESPONSE: Wants =
        Wants::new(&[("tool_response", Want::Object(&RESPONDED))], &[&["tool_response"]]);
    static RESPONDED: Wants = Wants::new(
        &[("tool_call_id", Want::Text), ("name", Want::Text), ("content", Want::Text)],
        &[],
    );
    match kind {
        "text" => Some(&TEXT),
        "tool_call" => Some(&CALL),
        "tool_response" => Some(&RESPONSE),
        _ => None,
    }
}

/// The origin of unknown members.
fn origin() -> Origin {
    Origin::Other("langchaingo".into())
}

/// The roles of langchaingo.
const ROLES: [&str; 6] = ["ai", "function", "generic", "human", "system", "tool"];

/// A message with one text beside its role, or a part with its content under its own type.
fn is_ours(record: &Record<'_>) -> bool {
    let is_text = record.role.is_some_and(|it| ROLES.contains(&it))
        && record.member("text") == Some(ValueKind::Text)
        && !record.has("content")
        && record.kind.is_none();
    let is_nested = |it: &Item<'_>| matches!(it.kind, Some(kind @ ("tool_call" | "tool_response" | "binary")) if it.has(kind));
    is_text || record.is_list("parts") && record.parts().any(is_nested)
}

/// Whether a message has parts that other formats also have.
fn is_like_others(record: &Record<'_>) -> bool {
    let is_known =
        record.role.is_some_and(|it| ROLES.contains(&it) || it == "user" || it == "assistant");
    is_known && record.is_list("parts") && record.parts().all(|it| it.kind.is_some())
}

fn could_be_ours(record: &Record<'_>) -> bool {
    let is_text = record.member("text") == Some(ValueKind::Text);
    record.role.is_some() && (record.has("parts") || is_text) && !record.has("content")
}

// Reasoning signatures: bytes in Go, hence base64 in JSON. The provider sent text, which for Gemini already was base64
// (LG-3).

/// The text in these bytes; the base64 itself if they are not text.
fn said(stored: String) -> String {
    let decoded = STANDARD.decode(&stored).ok().and_then(|it| String::from_utf8(it).ok());
    // A value that does not round-trip is kept unchanged.
    decoded.filter(|it| !it.is_empty() && STANDARD.encode(it) == stored).unwrap_or(stored)
}

/// A text as stored bytes.
fn stored(text: &str) -> String {
    STANDARD.encode(text)
}

/// Reads a message, or returns what was expected (LG-1).
fn message(source: &RawJson) -> Result<Message, &'static str> {
    let mut members = source.members().ok_or("a message, which is an object")?;
    let role: String = take(&mut members, "role").ok_or("`role` to be a string")?;
    let mut res = Message::new(role_of(&role));
    if let Some(parts) = take::<Option<Vec<RawJson>>>(&mut members, "parts").flatten() {
        parts.iter().for_each(|it| part(it, &mut res.parts));
    }
    if res.parts.is_empty() {
        let text: Option<String> = take(&mut members, "text");
        res.parts.extend(text.map(Part::text));
    }
    keep_rest(&mut res.extra, &origin(), members);
    Ok(res)
}

/// The role for a word of langchaingo; other words become roles unchanged.
fn role_of(word: &str) -> Role {
    Role::known(word).or_else(|| Role::spelling(word)).unwrap_or_else(|| Role::from(word))
}

/// Adds the contents of a part: reasoning comes before the text or call that it led to (LG-2).
fn part(source: &RawJson, parts: &mut Vec<Part>) {
    let read = source.members().and_then(|mut members| {
        let kind: String = take(&mut members, "type").unwrap_or_default();
        match kind.as_str() {
            "text" | "" => text(members),
            "image_url" => image(members),
            "binary" => binary(members),
            "tool_call" => call(members),
            "tool_response" => result(members),
            _ => None,
        }
    });
    parts.extend(read.unwrap_or_else(|| vec![Part::Other(Other::new(origin(), source.clone()))]));
}

fn text(mut members: Members) -> Option<Vec<Part>> {
    let reasoning = reasoning(&mut members, Holder::Text)?;
    let text = Text::new(take::<String>(&mut members, "text")?);
    let mut res: Vec<Part> = reasoning.0.map(Part::Reasoning).into_iter().collect();
    // The empty text only marks the place of the reasoning.
    let is_place = !res.is_empty() && text.text.is_empty() && members.is_empty();
    if !is_place {
        res.push(with_rest(Part::Text(text), members));
    }
    Some(res)
}

fn image(mut members: Members) -> Option<Vec<Part>> {
    let mut nested = take_object(&mut members, "image_url")?;
    let mut image = Image::from_url(take::<String>(&mut nested, "url")?);
    image.detail = take(&mut nested, "detail");
    nested.is_empty().then(|| vec![with_rest(Part::Image(image), members)])
}

/// Binary data as a part, by media type.
fn binary(mut members: Members) -> Option<Vec<Part>> {
    let mut nested = take_object(&mut members, "binary")?;
    let media_type: String = take(&mut nested, "mime_type")?;
    let data: String = take(&mut nested, "data")?;
    let part = match media_type.split_once('/') {
        Some(("image", _)) => {
            Part::Image(Image::from_url(format!("data:{media_type};base64,{data}")))
        }
        Some(("audio", format)) => {
            let format = Some(format.to_owned());
            Part::Audio(Audio { data: Some(data), format, ..Audio::default() })
        }
        _ => Part::File(File { data: Some(data), media_type: Some(media_type), ..File::default() }),
    };
    nested.is_empty().then(|| vec![with_rest(part, members)])
}

fn call(mut members: Members) -> Option<Vec<Part>> {
    let mut nested = take_object(&mut members, "tool_call")?;
    let (reasoning, signature) = reasoning(&mut nested, Holder::Call)?;
    let mut function = take_object(&mut nested, "function").unwrap_or_default();
    let call = ToolCall {
        id: take(&mut nested, "id").unwrap_or_default(),
        kind: CallKind::from(take::<String>(&mut nested, "type").unwrap_or_default().as_str()),
        name: take(&mut function, "name").unwrap_or_default(),
        arguments: Arguments::from(take::<String>(&mut function, "arguments").unwrap_or_default()),
        signature,
        ..ToolCall::default()
    };
    function.is_empty().then_some(())?;
    let part = with_nested(Part::ToolCall(call), "tool_call", nested);
    let mut res: Vec<Part> = reasoning.map(Part::Reasoning).into_iter().collect();
    res.push(with_rest(part, members));
    Some(res)
}

fn result(mut members: Members) -> Option<Vec<Part>> {
    let mut nested = take_object(&mut members, "tool_response")?;
    let id: String = take(&mut nested, "tool_call_id").unwrap_or_default();
    let mut result = ToolResult::new(id, take::<String>(&mut nested, "content")?.as_str());
    result.name = take::<String>(&mut nested, "name").filter(|it| !it.is_empty());
    let part = with_nested(Part::ToolResult(result), "tool_response", nested);
    Some(vec![with_rest(part, members)])
}

/// The kind of part with the reasoning, which determines the provider of a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Text,
    Call,
}

/// Reads `reasoning` beside a text or in a call: its text, and for a call also its signature (LG-3). `None` if it has
/// another form.
fn reasoning(members: &mut Members, holder: Holder) -> Option<(Option<Reasoning>, Option<String>)> {
    let Some(at) = members.iter().position(|it| it.0 == "reasoning") else {
        return Some((None, None));
    };
    let mut nested = members.remove(at).1.members()?;
    let text: Option<String> = take(&mut nested, "content");
    let stored: Option<String> = take(&mut nested, "signature");
    nested.is_empty().then_some(())?;
    if holder == Holder::Call {
        return Some((text.map(Reasoning::new), stored));
    }
    let signature = stored.map(said);
    let is_empty = text.is_none() && signature.is_none();
    let reasoning = Reasoning { text, signature, ..Reasoning::default() };
    Some(((!is_empty).then_some(reasoning), None))
}

fn take_object(members: &mut Members, name: &str) -> Option<Members> {
    let at = members.iter().position(|it| it.0 == name)?;
    let nested = members[at].1.members()?;
    members.remove(at);
    Some(nested)
}

/// The part with its unknown members.
fn with_rest(mut part: Part, members: Members) -> Part {
    keep_rest(part.extra_mut(), &origin(), members);
    part
}

/// The part with the unknown members of its enclosing object, as an object under that name.
fn with_nested(mut part: Part, name: &str, members: Members) -> Part {
    if !members.is_empty() {
        let members = members.iter().map(|it| (it.0.as_str(), it.1.text()));
        part.extra_mut().insert(origin(), name, msg_codec::codec::object_of(members));
    }
    part
}
