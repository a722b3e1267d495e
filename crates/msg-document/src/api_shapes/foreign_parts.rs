//! Parts of another provider: types that the format of a document does not have, but another known format
//! has (MS-9).
//!
//! Compares only the name of the type (for Gemini's parts, which have none, the member), and only of parts that the
//! reader of the format did not understand, in messages and in results of tools. A type of no known provider is not
//! reported: providers add types.
//!
//! ```json
//! [{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]
//! ```
//!
//! read as `openai` contains a `tool_result` part, which belongs to Anthropic.

use std::borrow::Cow;
use std::collections::HashSet;

use msg_codec::codec::{Losses, Placement};
use msg_core::{Code, Diagnostic, Extra, Message, Origin, Other, Part, RawJson, Role};
use msg_json::Reader;
use serde_json::Value;

use super::unread::is_of_calls;
use super::{has_kind, is_kind_of};

/// Members of a message that hold content only in other formats, each with the format.
const LISTS: [(&str, &str); 3] =
    [("parts", "gemini"), ("content", "openai"), ("tool_calls", "openai")];

/// Findings about parts and members of another provider, in the order of the messages. Linear in the parts that the
/// reader did not understand.
pub(crate) fn foreign_parts(messages: &[Message]) -> impl Iterator<Item = Diagnostic> + '_ {
    let looked_at = messages.iter().enumerate().filter(|it| may_be_foreign(it.1));
    looked_at.flat_map(|(at, message)| {
        let is_bare = message.parts.is_empty();
        let list = foreign_list(&message.extra, is_bare).map(move |it| it.at_message(at));
        let parts = message.parts.iter().enumerate();
        let found = list
            .into_iter()
            .chain(parts.filter_map(move |(n, part)| Some(foreign_part(part)?.at_part(at, n))));
        let found: Vec<_> = found.collect();
        let is_read = !found.is_empty() || follows_results(messages, at);
        let unread = if is_read { None } else { not_understood(message) };
        let some = if unread.is_none() { unknown_parts(message, at, &found) } else { Vec::new() };
        let beside = unread_beside(message, is_bare);
        let unread = unread.or(beside).map(|it| it.at_message(at));
        found.into_iter().chain(unread).chain(some)
    })
}

/// A warning about an unread member that may hold content of the message: one with a text that the message lacks, or
/// one for calls (RG-13). Chat interfaces often keep the same text in two members, so equal texts are not reported.
fn unread_beside(message: &Message, is_bare: bool) -> Option<Diagnostic> {
    // `foreign_list` reports chat calls in a message of another format.
    let is_unread = |it: &(&Origin, String, RawJson)| match &*it.1 {
        "tool_calls" if *it.0 != Origin::OpenAi => false,
        name if CONTENT_COPIES.contains(&name) => !is_bare && !is_said(&it.2, message),
        name => is_of_calls(name, &it.2),
    };
    let (_, name, _) = judged_members(&message.extra).find(is_unread)?;
    let text = match CONTENT_COPIES.contains(&&*name) {
        true => format!("member {name} says something else than the message, and is not read"),
        false => format!("member {name} may hold calls, and is not read"),
    };
    Some(Diagnostic::warning(Code::new("message::unread-content"), text))
}

const CONTENT_COPIES: [&str; 4] = ["content", "parts", "contents", "text"];

/// Whether the message contains each text of a value, at any depth. Members that do not hold content are skipped.
/// Linear in both: substring searches are limited to `SEARCHES`.
fn is_said(value: &RawJson, message: &Message) -> bool {
    const SEARCHES: usize = 64;
    let said: Vec<Cow<'_, str>> = message.parts.iter().filter_map(text_of).collect();
    let whole: HashSet<&str> = said.iter().map(|it| it.trim()).collect();
    let mut open: Vec<Value> = value.parse().into_iter().collect();
    let mut n_searches = 0;
    while let Some(it) = open.pop() {
        match it {
            Value::Array(list) => open.extend(list),
            Value::Object(members) => {
                let texts = members.into_iter().filter(|it| CONTENT_COPIES.contains(&&*it.0));
                open.extend(texts.map(|it| it.1));
            }
            Value::String(text) if !text.trim().is_empty() && !whole.contains(text.trim()) => {
                n_searches += 1;
                let is_in = || said.iter().any(|it| it.contains(text.trim()));
                if n_searches > SEARCHES || !is_in() && !message.text().contains(text.trim()) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// The text of a part that another member may repeat.
fn text_of(part: &Part) -> Option<Cow<'_, str>> {
    match part {
        Part::Text(it) => Some(Cow::Borrowed(&it.text)),
        Part::Reasoning(it) => Some(it.display_text()),
        Part::ToolResult(it) => Some(it.content.text()),
        Part::Other(it) => Some(Cow::Borrowed(it.value.text())),
        _ => None,
    }
}

/// Whether the message and the results before it come from the same element of the source. The results of that element
/// were understood.
fn follows_results(messages: &[Message], at: usize) -> bool {
    let (Some(before), message) = (at.checked_sub(1).map(|it| &messages[it]), &messages[at]) else {
        return false;
    };
    let is_apart =
        |it: &Origin| Placement::in_layout(message.extra.layout(it)).has(Placement::APART);
    let format = message.parts.iter().find_map(|it| match it {
        Part::Other(it) => Some(&it.format),
        _ => None,
    });
    let shares = |it: &&Origin| matches!(it, Origin::Anthropic | Origin::Gemini | Origin::Bedrock);
    message.role == Role::User
        && before.role == Role::Tool
        && format.filter(shares).is_some_and(|it| !is_apart(it))
}

/// Whether anything in a message may belong to another provider: an unread member, an unread part, or the lack of
/// parts.
fn may_be_foreign(message: &Message) -> bool {
    let is_other = |it: &Part| match it {
        Part::Other(_) => true,
        Part::Text(it) if it.text.is_empty() => !it.extra.is_empty(),
        Part::Text(it) => it.extra.get(&Origin::Responses, "item").is_some(),
        Part::Reasoning(it) => !it.extra.is_empty(),
        Part::ToolResult(it) => {
            let parts = it.content.parts();
            parts.is_empty() || parts.iter().any(|it| matches!(it, Part::Other(_)))
        }
        _ => false,
    };
    message.parts.is_empty() || !message.extra.is_empty() || message.parts.iter().any(is_other)
}

/// Whether a finding says that a message was not understood, so its calls are unknown.
pub(crate) fn is_not_understood(it: &Diagnostic) -> bool {
    it.code == NOT_UNDERSTOOD
}

pub(super) const NOT_UNDERSTOOD: &str = "message::not-understood";

/// The finding for a message that has content, but no part of a known kind (RG-11).
fn not_understood(message: &Message) -> Option<Diagnostic> {
    let what = match message.parts.as_slice() {
        [] => return unread_member(&message.extra, "message"),
        [Part::Text(only)] if only.text.is_empty() => {
            let mut extras = [&only.extra, &message.extra].into_iter();
            return extras.find_map(|it| unread_member(it, "message"));
        }
        parts if parts.iter().any(is_message) => {
            return parts.iter().filter(|it| is_message(it)).find_map(unread_in_message);
        }
        [Part::Other(first), rest @ ..] => {
            if let Some(it) = unread_text(first) {
                return Some(it);
            }
            let is_unread = |it: &Part| matches!(it, Part::Other(it) if !is_known(it));
            let all = !is_known(first) && rest.iter().all(is_unread);
            let kind = all.then(|| Members::of(first.value.text()).unwrap_or_default().kind)?;
            match kind {
                Some(kind) => format!("its parts are of the unknown type `{kind}`"),
                None => "its parts have no known member".to_owned(),
            }
        }
        _ => return None,
    };
    let text = format!("nothing of this message is understood: {what}");
    Some(Diagnostic::error(Code::new(NOT_UNDERSTOOD), text))
}

/// Findings for the unread parts of a message. `said` are the findings so far; their parts are not reported again.
fn unknown_parts(message: &Message, at: usize, said: &[Diagnostic]) -> Vec<Diagnostic> {
    let is_said = |part: usize| said.iter().any(|it| it.at.part == Some(part));
    let parts = message.parts.iter().enumerate().filter(|it| !is_said(it.0));
    let found = parts.flat_map(|(n, part)| {
        let found: Vec<_> = match part {
            Part::Other(it) => unread_part(it, "").into_iter().collect(),
            Part::ToolResult(it) => {
                let inner = it.content.parts().iter();
                let others =
                    inner.filter_map(|it| if let Part::Other(it) = it { Some(it) } else { None });
                others.filter_map(|it| unread_part(it, " in the content of a result")).collect()
            }
            Part::Reasoning(it) => unread_thought(&it.extra).into_iter().collect(),
            _ => Vec::new(),
        };
        found.into_iter().map(move |it| it.at_part(at, n))
    });
    found.collect()
}

/// The finding for an unread part. Whether a format has a kind of part is known for APIs only.
fn unread_part(it: &Other, place: &str) -> Option<Diagnostic> {
    let code = || Code::new("message::unknown-part");
    let kind = Members::of(it.value.text()).map(|it| it.kind);
    if !is_judged(&it.format) {
        let text = match kind.flatten() {
            // Parts of the native form may have any type (MS-18).
            _ if matches!(it.format, Origin::Json | Origin::Native) => return None,
            _ if it.pairing().is_some() || !has_content(it.value.text()) => return None,
            Some(kind) => format!("a part of type `{kind}`{place} is not read"),
            None => format!("a part{place} is not read"),
        };
        return Some(Diagnostic::info(code(), text));
    }
    let text = match kind {
        Some(Some(kind)) if is_text_kind(&kind) => {
            format!("a part of type `{kind}`{place} without a text")
        }
        Some(Some(kind)) if is_known(it) && READ.contains(&&*kind) => {
            let text = format!("a part of type `{kind}`{place} is not read");
            return Some(Diagnostic::info(code(), text));
        }
        Some(Some(kind)) if it.format == Origin::Interactions && !is_step(&kind) => {
            format!("a part of the unknown type `{kind}`{place}; it is not read")
        }
        _ if is_known(it) => return None,
        Some(Some(kind)) => format!("a part of the unknown type `{kind}`{place}; it is not read"),
        Some(None) => format!("a part without a known member{place}; it is not read"),
        None => format!("a part{place} must be an object; this one is not read"),
    };
    Some(Diagnostic::warning(code(), text))
}

/// Whether a type is a step of Interactions. Every `…_call` and `…_result` is one: providers add steps for tools that
/// they run.
fn is_step(kind: &str) -> bool {
    let is_of_a_server = kind.ends_with("_call") || kind.ends_with("_result");
    is_of_a_server || has_kind(Origin::Interactions.as_str(), kind)
}

/// Types of parts that the readers support. An unread part of such a type has a form that they do not support.
const READ: [&str; 9] = [
    "audio",
    "document",
    "file",
    "image",
    "image_url",
    "input_audio",
    "input_file",
    "input_image",
    "thought",
];

/// The finding for a `summary` or `content` list of reasoning that was not read.
fn unread_thought(extra: &Extra) -> Option<Diagnostic> {
    let is_list = |it: &(&Origin, String, RawJson)| {
        matches!(&*it.1, "summary" | "content") && has_content(it.2.text())
    };
    let (_, name, _) = judged_members(extra).find(is_list)?;
    let text = format!("`{name}` of reasoning is not understood, and is not read");
    Some(Diagnostic::warning(Code::new("message::unread-content"), text))
}

fn is_text_kind(kind: &str) -> bool {
    matches!(kind, "text" | "input_text" | "output_text")
}

/// Whether a part is a whole message or step, kept unchanged because the reader found no content in it.
fn is_message(part: &Part) -> bool {
    let Part::Other(it) = part else { return false };
    let members = it.value.members().filter(|_| is_judged(&it.format)).unwrap_or_default();
    let is_step = |it: &RawJson| matches!(it.text(), r#""model_output""# | r#""user_input""#);
    members.iter().any(|it| it.0 == "role" || it.0 == "type" && is_step(&it.1))
}

/// The finding for such a part if it has its text in a member that its format does not have.
fn unread_in_message(part: &Part) -> Option<Diagnostic> {
    let Part::Other(it) = part else { return None };
    let members = it.value.members()?;
    let mut texts = members.iter().filter(|it| it.1.text().starts_with('"'));
    texts.find_map(|it| unread(&it.0, &it.1, "message"))
}

/// The finding for a message without parts, or a result without content, that has content in a member that its format
/// does not have.
fn unread_member(extra: &Extra, of: &str) -> Option<Diagnostic> {
    judged_members(extra).find_map(|(_, name, value)| unread(&name, &value, of))
}

/// The members that a reader did not understand, each with its format. The reader keeps an item, a step or a result of
/// Bedrock as one member; its inner members are returned.
pub(super) fn judged_members(extra: &Extra) -> impl Iterator<Item = (&Origin, String, RawJson)> {
    let judged = extra.all().filter(|it| is_judged(it.0));
    judged.flat_map(|(format, name, value)| {
        let members = match name {
            "item" | "step" | "toolResult" => value.members().unwrap_or_default(),
            name => vec![(name.to_owned(), value.clone())],
        };
        members.into_iter().map(move |(name, value)| (format, name, value))
    })
}

/// The finding for a text part without `text` that has its text in another member.
fn unread_text(part: &Other) -> Option<Diagnostic> {
    let members = part.value.members()?;
    let is = |name: &str, is_it: fn(&str) -> bool| {
        members.iter().any(|it| it.0 == name && is_it(it.1.text()))
    };
    let is_text = is("type", |it| matches!(it, "\"text\"" | "\"input_text\"" | "\"output_text\""));
    let is_unread = is_judged(&part.format) && is_text && !is("text", |_| true);
    let found = is_unread.then(|| members.iter().find_map(|it| unread(&it.0, &it.1, "message")));
    found.flatten()
}

/// The finding for content in a member of the wrong name. A warning for text; an error for a list or an object, which
/// may contain unknown calls.
fn unread(name: &str, value: &RawJson, of: &str) -> Option<Diagnostic> {
    if !is_content_member(name) || !has_content(value.text()) {
        return None;
    }
    let text = format!("nothing of this {of} is understood: what it says is in `{name}`");
    Some(match value.text().starts_with('"') || of == "result" {
        true => Diagnostic::warning(Code::new("message::unread-content"), text),
        false => Diagnostic::error(Code::new(NOT_UNDERSTOOD), text),
    })
}

/// Whether a value is a string, list or object with any content.
fn has_content(json: &str) -> bool {
    let begins = matches!(json.as_bytes(), [b'{' | b'[' | b'"', ..]);
    begins && json.bytes().any(|it| it.is_ascii_alphanumeric() || !it.is_ascii())
}

/// Whether other formats keep the content of a message or a result in a member of this name.
pub(crate) fn is_content_member(name: &str) -> bool {
    CONTENT_MEMBERS.contains(&name)
}

const CONTENT_MEMBERS: [&str; 13] = [
    "parts",
    "blocks",
    "items",
    "contents",
    "content",
    "content_list",
    "message",
    "data",
    "payload",
    "text",
    "value",
    "body",
    "output",
];

/// Whether the kind of an unread part is known, in its own API or in another one that takes such messages.
fn is_known(it: &Other) -> bool {
    if !is_judged(&it.format) || it.pairing().is_some() {
        return true;
    }
    let format = it.format.as_str();
    match Members::of(it.value.text()) {
        Some(Members { kind: Some(kind), .. }) => {
            OF_OTHERS.contains(&&*kind) || is_kind_of(format, &kind)
        }
        // The name of a member tells the kind of the part. A part with two such members is unknown.
        _ if matches!(it.format, Origin::Gemini | Origin::Bedrock) => {
            let members = it.value.members().unwrap_or_default();
            let is_kind = |it: &&(String, RawJson)| {
                it.1.text() != "null" && is_kind_of(format, &camel(&it.0))
            };
            let n_kinds = members.iter().filter(is_kind).count();
            let is_foreign = members.iter().any(|it| Losses::owner_of_member(&it.0).is_some());
            n_kinds == 1 || n_kinds == 0 && (is_foreign || is_signature(&members))
        }
        Some(Members { tag, .. }) => tag.is_some(),
        None => false,
    }
}

/// Whether a part holds only the signature of a thought, without text. Gemini accepts that (GE-12).
fn is_signature(members: &[(String, RawJson)]) -> bool {
    let has = |name| members.iter().any(|it| camel(&it.0) == name);
    has("thoughtSignature") && members.iter().all(|it| camel(&it.0).starts_with("thought"))
}

/// `inline_data` as `inlineData`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut res = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        res.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        res.extend(letters);
    }
    res
}

/// Types of parts that other providers of chat messages have in addition to OpenAI's, and the tool changes in system
/// messages.
const OF_OTHERS: [&str; 11] = [
    "tool_addition",
    "tool_removal",
    "document_url",
    "video_url",
    "audio_url",
    "file_url",
    "image",
    "video",
    "audio",
    "document",
    "reference",
];

/// The finding for a part of another provider, also inside the content of a result.
fn foreign_part(part: &Part) -> Option<Diagnostic> {
    match part {
        Part::Other(it) => foreign_other(it),
        // Results do not nest in any format that is read.
        Part::ToolResult(it) => match it.content.parts() {
            [] => unread_member(&it.extra, "result"),
            parts => parts.iter().find_map(|it| match it {
                Part::Other(it) => foreign_other(it),
                _ => None,
            }),
        },
        // The text of an item that is a single part keeps the members of the item.
        Part::Text(it) => foreign_list(&it.extra, false),
        _ => None,
    }
}

fn foreign_other(it: &Other) -> Option<Diagnostic> {
    if !is_judged(&it.format) {
        return None;
    }
    let members = Members::of(it.value.text())?;
    let (what, name, owner) = match members.kind {
        // Interactions have calls of this type too, in separate lists.
        Some(kind) if it.format == Origin::Interactions && kind == "function_call" => return None,
        Some(kind) => ("type", kind.clone(), Losses::owner_of_type(&kind)?),
        None => ("member", members.tag?.0.into(), members.tag?.1),
    };
    (owner != it.format.as_str()).then(|| foreign(what, &name, owner))
}

/// The finding for a member in which another format keeps the parts of a message. In a message with parts only calls
/// count, because chat interfaces keep `parts` as a copy of `content`.
fn foreign_list(extra: &Extra, is_bare: bool) -> Option<Diagnostic> {
    judged_members(extra).find_map(|(format, member, value)| {
        let (_, owner) = LISTS.into_iter().find(|it| it.0 == member)?;
        let is_all = is_bare || member == "tool_calls";
        let is_full = !matches!(value.text(), "null" | "[]" | "\"\"");
        (format.as_str() != owner && is_all && is_full).then(|| foreign("member", &member, owner))
    })
}

/// Whether the kinds of parts of this format are known.
pub(super) fn is_judged(format: &Origin) -> bool {
    matches!(
        format,
        Origin::OpenAi
            | Origin::Anthropic
            | Origin::Responses
            | Origin::Gemini
            | Origin::Interactions
            | Origin::Bedrock
    )
}

fn foreign(what: &str, name: &str, owner: &str) -> Diagnostic {
    let text = format!("{name} is a {what} of {owner}; --from {owner} reads it");
    Diagnostic::error(Code::new("message::foreign-part"), text)
}

/// The members that tell the kind of a part.
#[derive(Default)]
struct Members<'a> {
    /// The last member `type` (MS-8), if it is a string.
    kind: Option<Cow<'a, str>>,
    /// The first member that identifies a part without a type, and the provider that has it.
    tag: Option<(&'static str, &'static str)>,
}

impl<'a> Members<'a> {
    /// Reads a JSON object; `None` for any other value.
    fn of(json: &'a str) -> Option<Self> {
        let mut reader = Reader::from_text(json);
        reader.begin_object().ok()?;
        let mut found = Members::default();
        while let Some(key) = reader.next_key().ok()? {
            let value = reader.raw().ok()?;
            if key.text == "type" {
                found.kind = Reader::from_text(value).string().ok().map(|it| it.text);
            }
            found.tag = found.tag.or_else(|| Losses::owner_of_member(&key.text));
        }
        Some(found)
    }
}
