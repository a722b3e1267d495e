//! Requests that an API refuses because of their shape: missing members, unknown kinds of parts, values of the
//! wrong type, too many cache breakpoints. The shapes are data; this code knows no provider.
//!
//! ```text
//! {"messages":[{"role":"user","content":[{"type":"img"}]}]}     openai
//!   ─▶ `messages[0].content[0]` is of the unknown type `img`
//!      the API would answer: Invalid value: 'img'. Supported values are: 'file', 'image_url', …
//! ```
//!
//! Checks only documents in the format of the API: a conversion writes valid shapes. A place that another rule
//! reports is reported once.

mod breach;
mod foreign_parts;
mod json_text;
mod missing;
mod table;
mod texts;
mod unread;
mod walk;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use msg_chainast::Profile;
use msg_core::{CallKind, Code, Diagnostic, Message, Origin, Part, Role, Text};
use msg_formats::Format;

use self::breach::{Breach, Inner};
pub(crate) use self::foreign_parts::{foreign_parts, is_content_member, is_not_understood};
pub(crate) use self::missing::{Completed, may_be_completed};
use self::table::{Api, Member, Path};
pub(crate) use self::unread::{
    has_other_calls, is_name_of_calls, is_orphan, may_have_orphans, may_have_text_call,
    remove_orphans, unread_calls,
};
use self::walk::Walk;
pub(crate) use self::{
    json_text::{Members, is_base64, is_data, is_sound_url, is_url},
    walk::Seen,
};

/// Errors of other rules about a value that also has the wrong shape.
const SAME_ERRORS: [&str; 18] = [
    "chain::duplicate-call-id",
    "chain::empty-call-id",
    "chain::empty-result-id",
    "chain::empty-tool-message",
    "chain::nameless-call",
    "chain::unknown-role",
    "message::foreign-part",
    "profile::arguments",
    "profile::empty-message",
    "profile::empty-text",
    "profile::file-type",
    "profile::image-type",
    "profile::media-place",
    "profile::part-without-type",
    "profile::reasoning-last",
    "profile::server-tool",
    "profile::shape",
    "profile::unknown-member",
];

/// The member whose values the chain rules judge in every format.
const MARKER: &str = ".cache_control";

/// Warnings of other rules about such a value.
const SAME_WARNINGS: [&str; 5] = [
    "chain::empty-arguments",
    "chain::empty-message",
    "chain::missing-call-kind",
    "message::wrong-type",
    "profile::unknown-member",
];

/// The parts of a request that are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// The messages, by the rules of the provider that defines the format.
    Messages,
    /// The messages and the settings.
    Request,
    /// Only the settings, by the rules that all providers of the format share.
    CommonSettings,
}

/// Settings for which other providers of the format accept further types: a count of logprobs, an effort that is a
/// number.
const OWN_SETTINGS: [&str; 3] = ["logprobs", "metadata", "reasoning_effort"];

/// Providers that accept a tool without `type`. Source: recorded requests that were answered, in pydantic/pydantic-ai.
const UNTYPED_TOOLS: [&str; 1] = ["mistral"];

impl Judged {
    /// The members of a request that are checked, and whether by the rules of the provider that defines the format.
    fn members(
        self,
        api: &'static Api,
        profile: &Profile,
    ) -> (impl Iterator<Item = &'static Member>, bool) {
        let is_own = self != Judged::CommonSettings && profile.name != "generic";
        let settings = api.settings.iter().filter(move |it| match self {
            Judged::Messages => false,
            Judged::Request => it.is_for(is_own),
            Judged::CommonSettings => it.is_for(is_own) && !OWN_SETTINGS.contains(&it.name),
        });
        let messages = if self == Judged::CommonSettings { &[] } else { api.members.as_slice() };
        (messages.iter().chain(settings), is_own)
    }
}

/// The findings about everything in a document that the API of its format refuses, in the order of the messages, and
/// what the walk saw of the text. `None` for a format without an API. If the place of the list of messages is known,
/// the list is not scanned for its end. Linear.
pub(crate) fn refused_by_api<'a>(
    (json, list): (&'a str, Option<&Range<usize>>),
    format: Format,
    (profile, judged): (&Profile, Judged),
    messages: &[Message],
) -> Option<(Vec<Diagnostic>, Seen<'a>)> {
    let api = Api::of_format(format.name())?;
    let mut walk = Walk::over((json, list), api, judged.members(api, profile))?;
    let mut seen = std::mem::take(&mut walk.seen);
    walk.breaches.retain(|it| !is_taken(it, api, profile));
    repeated(&mut walk);
    markers(&mut walk, profile);
    seen.can_be_completed = walk.breaches.iter().any(|it| !it.insertions.is_empty());
    if walk.breaches.is_empty() {
        return Some((Vec::new(), seen));
    }
    let places = Places::of(messages, &walk.elements, format);
    let mut res: Vec<_> =
        walk.breaches.into_iter().map(|it| diagnostic(it, api, profile, &places)).collect();
    if judged == Judged::CommonSettings {
        // The table has the answers of another provider.
        res.iter_mut().for_each(|it| it.answer = None);
    }
    Some((res, seen))
}

/// Whether a provider accepts something that the API of the format refuses. An unknown provider of the OpenAI format
/// may have other words.
fn is_taken(it: &Breach, api: &Api, profile: &Profile) -> bool {
    let is_type_of_tool = || it.path.starts_with("tools[") && it.path.ends_with("].type");
    match it.answer {
        // The address of a deployment names the model.
        "missing" if profile.name == "azure" && it.path == "model" => true,
        "missing" => UNTYPED_TOOLS.contains(&&*profile.name) && is_type_of_tool(),
        "word" => api.is_taken_over && profile.name == "generic",
        _ => false,
    }
}

/// Whether the API of a format has parts, blocks or items of this kind, or with this member if a member tells the kind.
/// True for a format whose kinds are not known.
pub(crate) fn is_kind_of(format: &str, kind: &str) -> bool {
    Api::of_format(format).is_none_or(|it| it.has_kind(kind))
}

/// As [`is_kind_of`], but only for kinds that the table names, even if the API may have more.
pub(crate) fn has_kind(format: &str, kind: &str) -> bool {
    Api::of_format(format).is_none_or(|it| it.names_kind(kind))
}

/// Adds the findings of an API to those of other rules. Each fault is reported once.
pub(crate) fn add_refused(found: &mut Vec<Diagnostic>, mut refused: Vec<Diagnostic>) {
    if refused.is_empty() {
        return;
    }
    let messages: HashSet<_> = refused.iter().map(|it| it.at.message).collect();
    // A finding about a result whose call may be in that message stays.
    let is_of_a_result = |it: &Diagnostic| it.at.tool_call_id.is_some();
    found.retain(|it| {
        !is_not_understood(it) || is_of_a_result(it) || !messages.contains(&it.at.message)
    });
    let place = |it: &Diagnostic| (it.at.message, it.at.part);
    let is_of = |codes: &[&str], it: &Diagnostic| codes.contains(&it.code.as_str());
    let places: HashSet<_> = refused.iter().map(place).collect();
    found.retain(|it| it.is_error() || !is_of(&SAME_WARNINGS, it) || !places.contains(&place(it)));
    let counts = found.iter().any(|it| it.code == "profile::cache-markers");
    let of_marker = |it: &Diagnostic| it.code == "profile::cache-markers";
    let is_same = |it: &&mut Diagnostic| is_of(&SAME_ERRORS, it) || of_marker(it);
    let errors = found.iter_mut().filter(|it| it.is_error()).filter(is_same);
    let mut errors: HashMap<_, &mut Diagnostic> = errors.map(|it| (place(it), it)).collect();
    refused.retain_mut(|it| {
        // The finding of another rule keeps its code and edit, and gets the API's answer.
        let same = errors.get_mut(&place(it));
        if let Some(same) = same.filter(|same| !of_marker(same) || it.message().contains(MARKER)) {
            same.answer = it.answer.take().or_else(|| same.answer.take());
            return false;
        }
        !(counts && it.code == "profile::cache-markers")
    });
    drop(errors);
    // A reader that understood a value reports it for the message; its sentence begins with the place in the message.
    let shapes = found.iter_mut().filter(|it| it.code == "profile::shape" && it.at.part.is_none());
    let mut shapes: HashMap<(Option<usize>, String), &mut Diagnostic> = shapes
        .map(|it| {
            ((it.at.message, dotted_path(it.message().split(' ').next().unwrap_or_default())), it)
        })
        .collect();
    refused.retain_mut(|it| {
        if shapes.is_empty() {
            return true;
        }
        let (message, path) = (it.at.message, local_path(&it.message()));
        let ends = path.match_indices('.').map(|it| it.0).chain([path.len()]);
        // A reader of parts gives only the place inside the part.
        let in_part = path.strip_prefix("content.").filter(|_| it.code == "profile::shape");
        let in_part = in_part.and_then(|it| it.split_once('.')).map(|it| it.1);
        let whole = ends.map(|end| &path[..end]);
        for path in whole.chain(in_part) {
            if let Some(same) = shapes.get_mut(&(message, path.to_owned())) {
                same.answer = same.answer.take().or_else(|| it.answer.take());
                return false;
            }
        }
        true
    });
    drop(shapes);
    found.append(&mut refused);
}

/// A path in one notation, whatever the notation of the API.
fn dotted_path(text: &str) -> String {
    text.replace('[', ".").replace([']', '_'], "").to_ascii_lowercase()
}

/// The path inside the message, from the first path in a sentence of this module.
fn local_path(sentence: &str) -> String {
    let path = dotted_path(sentence.split('`').nth(1).unwrap_or_default());
    path.splitn(3, '.').nth(2).unwrap_or_default().to_owned()
}

/// The edit that keeps a part as text which only the model may have, in a message of another role.
fn as_text(part: &Part) -> Option<&'static str> {
    match part {
        Part::Reasoning(it) if it.display_text().is_empty() => None,
        Part::Reasoning(it) if it.signature.is_some() => {
            Some("written as text, without its signature")
        }
        Part::Reasoning(_) | Part::Refusal(_) => Some("written as text"),
        Part::ToolResult(it) => {
            let has_one = it.content.parts().iter().any(|it| matches!(it, Part::Refusal(_)));
            has_one.then_some("written as text")
        }
        _ => None,
    }
}

fn turn_into_text(part: &mut Part) {
    let (text, mut extra) = match part {
        Part::Reasoning(it) => (it.display_text().into_owned(), std::mem::take(&mut it.extra)),
        Part::Refusal(it) => (std::mem::take(&mut it.text), std::mem::take(&mut it.extra)),
        Part::ToolResult(it) => {
            let parts = it.content.parts_mut().iter_mut();
            return parts.filter(|it| matches!(it, Part::Refusal(_))).for_each(turn_into_text);
        }
        _ => return,
    };
    extra.clear_layout();
    *part = Part::Text(Text { text, extra });
}

/// Fills in what refused parts lack, for each finding that has an edit.
pub(crate) fn complete_parts(messages: &mut [Message], refused: &[Diagnostic]) {
    for it in refused.iter().filter(|it| it.fix.is_some()) {
        let (Some(message), Some(part)) = (it.at.message, it.at.part) else { continue };
        let part = messages.get_mut(message).and_then(|it| it.parts.get_mut(part));
        let is_call = matches!(part, Some(Part::ToolCall(_)));
        if it.code == "profile::unknown-kind" && !is_call {
            part.into_iter().for_each(turn_into_text);
            continue;
        }
        if let Some(Part::Reasoning(thought)) = part {
            thought.summary.get_or_insert_default();
            continue;
        }
        let Some(Part::ToolCall(call)) = part else { continue };
        // An unknown kind of call stays.
        let told = call.extra.get(&Origin::OpenAi, "type");
        if call.kind == CallKind::Unspecified && told.is_none_or(|it| it.text() == "\"\"") {
            call.kind = CallKind::Function;
            call.extra.remove(&Origin::OpenAi, "type");
        }
        if call.arguments.text().is_empty() {
            call.arguments = "{}".into();
        }
    }
}

/// Reports items whose id occurred before.
fn repeated(walk: &mut Walk<'_>) {
    let mut seen = HashSet::new();
    let repeated: Vec<_> = walk.ids.iter().filter(|it| !seen.insert(&it.1)).cloned().collect();
    for (element, id, removal) in repeated {
        let sentence = format!("a second item with the id `{id}`");
        let it = Breach::new("repeated", "profile::shape", sentence);
        let (value, insertions) = (id.into_owned(), removal.into_iter().collect());
        walk.breaches.push(Breach { value, element: Some(element), insertions, ..it });
    }
}

/// Reports too many cache breakpoints in the request, and a long lifetime after a short one.
fn markers(walk: &mut Walk<'_>, profile: &Profile) {
    let max = profile.cache_max;
    let n = walk.markers.len();
    if let Some(last) = walk.markers.last().filter(|_| max > 0 && n > max) {
        let sentence =
            format!("{n} cache markers in tools, system prompt and messages, {max} are accepted");
        let it = Breach::new("markers", "profile::cache-markers", sentence);
        // The last markers of the messages stay, and the first ones in tools and system prompt.
        let of_messages = walk.markers.iter().filter(|it| it.element.is_some());
        let others = walk.markers.iter().rev().filter(|it| it.element.is_none());
        let surplus = of_messages.chain(others).take(n - max).map(|it| it.removal.clone());
        let insertions = surplus.collect::<Option<Vec<_>>>().unwrap_or_default();
        let it = Breach { value: n.to_string(), element: last.element, insertions, ..it };
        walk.breaches.push(it);
    }
    let mut all = walk.markers.iter();
    if all.any(|it| !it.is_long)
        && let Some(it) = all.find(|it| it.is_long)
    {
        let sentence = format!("`{}` is cached for 1h, and one before it for 5m", it.path);
        let breach = Breach::new("ttl", "profile::cache-markers", sentence);
        // After a short lifetime, a longer one has no effect.
        let late = std::iter::once(it).chain(all.filter(|it| it.is_long));
        let insertions = late.map(|it| it.shortening.clone()).collect::<Option<Vec<_>>>();
        let (path, element) = (it.path.clone(), it.element);
        let insertions = insertions.unwrap_or_default();
        walk.breaches.push(Breach { path, element, insertions, ..breach });
    }
}

fn diagnostic(it: Breach, api: &Api, profile: &Profile, places: &Places) -> Diagnostic {
    let of_path = api.answers.get(&format!("{} {}", it.answer, it.path));
    let answer = of_path.or_else(|| api.answers.get(it.answer)).map(|answer| {
        let max = profile.cache_max.to_string();
        let value_of = |name: &str| {
            Some(match name {
                "path" => it.path.as_str(),
                "expected" => &it.expected,
                "kinds" | "found" => &it.kinds,
                "max" => &max,
                "value" => &it.value,
                _ => return None,
            })
        };
        filled(answer, value_of).into()
    });
    let mut res = Diagnostic::error(Code::new(it.code), it.sentence);
    res.answer = answer;
    let Some((message, part)) = it.element.and_then(|element| places.of_value(element, it.inner))
    else {
        // A place in the settings becomes a JSON Pointer.
        let first = it.path.split(['.', '[']).next();
        if api.settings.iter().any(|setting| first == Some(setting.name)) && api.path != Path::Snake
        {
            let pointer = it.path.replace(['.', '['], "/").replace(']', "");
            return res.at_pointer(format!("/{pointer}"));
        }
        return res;
    };
    res = match part {
        Some(part) => res.at_part(message, part),
        None => res.at_message(message),
    };
    let as_text = part.and_then(|part| places.texts.get(&(message, part)));
    if let Some(fix) = as_text.filter(|_| it.code == "profile::unknown-kind") {
        return res.with_fix(*fix);
    }
    match it.default.filter(|_| {
        it.insertions.is_empty() && part.is_some_and(|part| places.is_mendable(message, part))
    }) {
        Some(default) => res.with_fix(format!("set to {default}")),
        None => res,
    }
}

/// The answer with each name in braces replaced by its value.
fn filled<'v>(answer: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut res = String::with_capacity(2 * answer.len());
    let mut rest = answer;
    while let Some((before, after)) = rest.split_once('{') {
        let named = after.split_once('}').and_then(|it| Some((value_of(it.0)?, it.1)));
        let (value, after) = named.unwrap_or(("{", after));
        res.extend([before, value]);
        rest = after;
    }
    res + rest
}

/// Maps each part of the list to its message and part. Readers keep the order of parts and put members beside the list
/// first, so both are counted from the end.
struct Places {
    /// The index in `places` of the first place of each element.
    starts: Vec<usize>,
    places: Vec<(usize, Option<usize>)>,
    /// Calls and thoughts, whose members a repair may add.
    mendable: HashSet<(usize, usize)>,
    /// Parts that only the model may have, in messages of other roles, each with the edit that keeps it as text.
    texts: HashMap<(usize, usize), &'static str>,
    /// Whether an element can be a part instead of a message.
    are_items: bool,
    /// The index of the first content part and of the first call of each message, if each element is one message.
    whole: Option<Vec<(usize, usize)>>,
}

impl Places {
    fn of(messages: &[Message], elements: &[usize], format: Format) -> Self {
        let mut places = Vec::new();
        let (mut mendable, mut texts) = (HashSet::new(), HashMap::new());
        for (at, message) in messages.iter().enumerate() {
            places.extend((0..message.parts.len()).map(|part| (at, Some(part))));
            if message.parts.is_empty() {
                places.push((at, None));
            }
            let parts = message.parts.iter().enumerate();
            let can_be = |it: &Part| matches!(it, Part::ToolCall(_) | Part::Reasoning(_));
            mendable.extend(parts.clone().filter(|it| can_be(it.1)).map(|it| (at, it.0)));
            if message.role != Role::Assistant {
                texts.extend(parts.filter_map(|it| Some(((at, it.0), as_text(it.1)?))));
            }
        }
        let total: usize = elements.iter().map(|it| (*it).max(1)).sum();
        let mut start = places.len().saturating_sub(total);
        let mut next = |it: &usize| {
            let res = start;
            start += (*it).max(1);
            res
        };
        let starts = elements.iter().map(&mut next).collect();
        let is_whole = format.name() == "openai" && messages.len() == elements.len();
        let whole = is_whole.then(|| messages.iter().map(beginnings).collect());
        Places {
            starts,
            places,
            mendable,
            texts,
            whole,
            are_items: matches!(format.name(), "responses" | "interactions"),
        }
    }

    fn is_mendable(&self, message: usize, part: usize) -> bool {
        self.mendable.contains(&(message, part))
    }

    fn of_value(&self, element: usize, inner: Option<Inner>) -> Option<(usize, Option<usize>)> {
        if let Some(whole) = &self.whole {
            let (content, calls) = *whole.get(element)?;
            let part = inner.map(|it| match it {
                Inner::Part(part) => content.saturating_add(part),
                Inner::Call(call) => calls + call,
            });
            // The content of a result is inside one part.
            return Some((element, part.map(|it| if content == usize::MAX { 0 } else { it })));
        }
        let (start, at) = (*self.starts.get(element)?, |it: usize| self.places.get(it).copied());
        match inner {
            Some(Inner::Part(part)) => at(start + part),
            _ => at(start).map(|it| (it.0, it.1.filter(|_| self.are_items))),
        }
    }
}

/// The index of the first content part and of the first call among the parts of a chat message.
fn beginnings(message: &Message) -> (usize, usize) {
    let parts = &message.parts;
    let content = parts.iter().take_while(|it| it.as_reasoning().is_some()).count();
    let n_calls = message.tool_calls().count();
    let content = if message.role == Role::Tool { usize::MAX } else { content };
    (content, parts.len() - n_calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_that_a_shape_names_is_there() {
        for format in ["openai", "responses", "anthropic", "gemini", "bedrock", "interactions"] {
            let api = Api::of_format(format).expect("because the table has it");
            assert_eq!(api.unknown_names(), Vec::<String>::new(), "{format}");
        }
    }
}
