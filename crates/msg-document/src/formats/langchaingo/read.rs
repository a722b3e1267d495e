//! A stored message into a message. What has no place in the model is kept raw.

use msg_core::{
    Arguments, Audio, CallKind, File, Image, Message, Other, Part, RawJson, Reasoning, Role, Text,
    ToolCall, ToolResult,
};

use super::origin;
use crate::formats::langchaingo;
use crate::json::{Members, keep_rest, take};

/// Reads a message, or says what was expected (LG-1).
pub(super) fn message(source: &RawJson) -> Result<Message, &'static str> {
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

/// The words of langchaingo, and all others as they are.
fn role_of(word: &str) -> Role {
    Role::known(word).or_else(|| Role::spelling(word)).unwrap_or_else(|| Role::from(word))
}

/// Adds what a part holds: reasoning is before what it led to (LG-2).
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
    res.push(with_rest(Part::Text(text), members));
    Some(res)
}

fn image(mut members: Members) -> Option<Vec<Part>> {
    let mut nested = take_object(&mut members, "image_url")?;
    let mut image = Image::from_url(take::<String>(&mut nested, "url")?);
    image.detail = take(&mut nested, "detail");
    nested.is_empty().then(|| vec![with_rest(Part::Image(image), members)])
}

/// Bytes of any kind, by their media type.
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

/// The part that reasoning belongs to: it says whose signature it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Text,
    Call,
}

/// `reasoning` beside a text or in a call: its text, and of a call the signature apart (LG-3). None if
/// it is something else.
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
    let signature = stored.map(langchaingo::text);
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

/// The part with the unknown members of the object that it was in, as an object of that name.
fn with_nested(mut part: Part, name: &str, members: Members) -> Part {
    if !members.is_empty() {
        let members = members.iter().map(|it| (it.0.as_str(), it.1.text()));
        part.extra_mut().insert(origin(), name, msg_codec::codec::object_of(members));
    }
    part
}
