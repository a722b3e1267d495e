//! `reasoning_details` of OpenRouter and its like, with the seals that they hold (RQ-44): each goes to the member of the
//! model that its maker's seals have, so that it reaches the maker and no other provider.
//!
//! ```text
//! {"type":"reasoning.text","text":"hm","signature":"S","format":"anthropic-claude-v1"}     reasoning "hm", signature S
//! {"type":"reasoning.encrypted","data":"E","id":"rs_1","format":"openai-responses-v1"}     encrypted E of item rs_1
//! {"type":"reasoning.encrypted","data":"G","id":"call_1","format":"google-gemini-v1"}      signature of call_1
//! ```

use msg_codec::Json;
use msg_core::{Maker, Message, Origin, Part, RawJson, Reasoning};

const DETAILS: &str = "reasoning_details";

/// Puts the seals in `reasoning_details` to the thoughts and calls that they seal, for a format that has no such member.
/// Details of unknown makers stay where they are. Linear.
///
/// ```
/// use msg_openai::{ReadOptions, chat};
///
/// let json = br#"[{"role":"assistant","content":"4","reasoning":"2+2","reasoning_details":[
///     {"type":"reasoning.text","text":"2+2","signature":"S","format":"anthropic-claude-v1"}]}]"#;
/// let (mut document, _) = chat::read(json, &ReadOptions::new())?;
/// let chat::Document::List(messages) = &mut document else { unreachable!("it is an array") };
/// chat::unpack_details(messages);
/// let thought = messages[0].reasoning().next();
/// assert_eq!(thought.and_then(|it| it.signature.as_deref()), Some("S"));
/// # Ok::<(), msg_openai::Error>(())
/// ```
pub fn unpack_details(messages: &mut [Message]) {
    for message in messages {
        let details = message.extra.get(&Origin::OpenAi, DETAILS).cloned();
        if let Some(thoughts) = details.and_then(|it| thoughts(&it, message)) {
            message.extra.remove(&Origin::OpenAi, DETAILS);
            put(message, thoughts);
        }
    }
}

/// The thoughts of a list, the seals of calls given to their calls; none if something in it is not known.
fn thoughts(list: &RawJson, message: &mut Message) -> Option<Vec<Reasoning>> {
    let list = Json::from_valid(list.text());
    let all: Vec<_> = list.elements().map(Detail::of).collect::<Option<_>>()?;
    let mut res: Vec<(Option<String>, Reasoning)> = Vec::new();
    let mut calls = Vec::new();
    for detail in all {
        match (detail.maker, detail.id) {
            (Maker::Gemini, Some(id)) if detail.thought.encrypted.is_some() => {
                calls.push((id, detail.thought.encrypted?));
            }
            // A thought of Gemini has no member for its seal, and is a thought without one.
            (Maker::Gemini, _) if detail.thought.encrypted.is_some() => return None,
            (Maker::OpenAi, id @ Some(_)) if res.last().is_some_and(|it| it.0 == id) => {
                let (_, last) = res.last_mut()?;
                last.encrypted = detail.thought.encrypted.or(last.encrypted.take());
                let summary = detail.thought.summary.into_iter().flatten();
                last.summary.get_or_insert_default().extend(summary);
            }
            (_, id) => res.push((id, detail.thought)),
        }
    }
    let has_call = |id: &str| message.tool_calls().any(|it| it.id == id);
    if !calls.iter().all(|it| has_call(&it.0)) {
        return None;
    }
    for part in &mut message.parts {
        if let Part::ToolCall(call) = part
            && let Some(at) = calls.iter().position(|it| it.0 == call.id)
        {
            call.signature.get_or_insert(calls.swap_remove(at).1);
        }
    }
    Some(res.into_iter().map(|it| it.1).collect())
}

/// Puts thoughts in the place of those that say the same without a seal.
fn put(message: &mut Message, thoughts: Vec<Reasoning>) {
    let is_sealed = |it: &Reasoning| {
        [&it.signature, &it.redacted, &it.encrypted].into_iter().any(Option::is_some)
    };
    let is_plain = |it: &Part| matches!(it, Part::Reasoning(it) if !is_sealed(it));
    let place = message.parts.iter().position(is_plain).unwrap_or(0);
    if !thoughts.is_empty() {
        message.parts.retain(|it| !is_plain(it));
    }
    let place = place.min(message.parts.len());
    message.parts.splice(place..place, thoughts.into_iter().map(Part::Reasoning));
}

/// An element of the list.
struct Detail {
    maker: Maker,
    id: Option<String>,
    /// The thought; what is sealed of one of Gemini is `encrypted`, and goes to its call.
    thought: Reasoning,
}

impl Detail {
    /// None if it is of an unknown type or maker.
    fn of(detail: Json<'_>) -> Option<Self> {
        let text = |name: &str| {
            let text = detail.get(name).and_then(Json::text)?;
            Some(text.into_owned()).filter(|it| !it.is_empty())
        };
        let maker = Maker::of(&text("format")?)?;
        let (id, mut thought) = (text("id"), Reasoning::default());
        match (&*text("type")?, maker) {
            ("reasoning.text", Maker::Anthropic) => {
                thought.text = Some(text("text").unwrap_or_default());
                thought.signature = text("signature");
            }
            ("reasoning.text", _) => thought.text = text("text"),
            ("reasoning.summary", _) => thought.summary = text("summary").map(|it| vec![it]),
            ("reasoning.encrypted", Maker::Anthropic) => thought.redacted = Some(text("data")?),
            ("reasoning.encrypted", _) => thought.encrypted = Some(text("data")?),
            _ => return None,
        }
        if let (Maker::OpenAi, Some(id)) = (maker, &id) {
            let item = RawJson::written(|it| it.object(|it| it.key("id").str(id)));
            thought.extra.insert(Origin::Responses, "item", item);
        }
        Some(Self { maker, id, thought })
    }
}
