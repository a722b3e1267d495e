//! Members that a request lacks and that follow from the rest of it: the `type` of a part with an `image_url`, the
//! media type of data by its first bytes, the `function` of a tool in the form of Responses. They are added to the text
//! before it is read, so the whole part is understood. Ambiguous members are only reported.
//!
//! ```text
//! {"role":"user","content":[{"tool_use_id":"t1","content":"22"}]}
//!   ─▶ `messages.0.content.0.type` is missing: set to tool_result
//! ```

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use msg_chainast::Profile;
use msg_core::{Diagnostic, Message};
use msg_formats::Format;

use super::breach::Breach;
use super::json_text::{Members, members as members_of, of, text_of};
use super::table::{Api, Member, Object};
use super::texts::meant;
use super::walk::Walk;
use super::{Judged, Places, diagnostic, is_taken, markers, repeated};

/// A request with the missing words filled in, where the rest of the object allows only one word.
pub(crate) struct Completed {
    /// The request.
    pub(crate) text: String,
    api: &'static Api,
    breaches: Vec<Breach>,
    elements: Vec<usize>,
}

impl Completed {
    /// Fills in the missing words; `None` if none is missing. Linear.
    pub(crate) fn of(
        json: &[u8],
        format: Format,
        (profile, judged): (&Profile, Judged),
    ) -> Option<Self> {
        let api = Api::of_format(format.name())?;
        let json = std::str::from_utf8(json).ok()?;
        let mut walk = Walk::over((json, None), api, judged.members(api, profile))?;
        repeated(&mut walk);
        markers(&mut walk, profile);
        walk.breaches.retain(|it| !it.insertions.is_empty() && !is_taken(it, api, profile));
        let mut insertions: Vec<_> =
            walk.breaches.iter().flat_map(|it| it.insertions.clone()).collect();
        if insertions.is_empty() {
            return None;
        }
        insertions.sort_by_key(|it| (it.place.start, it.place.end));
        let mut text = String::with_capacity(json.len() + 24 * insertions.len());
        let mut done = 0;
        let mut left = HashSet::new();
        for it in insertions {
            if it.place.start < done {
                // A removal around it also covers this place, so it is checked in the next round.
                left.insert(it.place.start);
                continue;
            }
            text.push_str(json.get(done..it.place.start)?);
            text.push_str(&it.text);
            done = it.place.end;
        }
        text.push_str(&json[done..]);
        walk.breaches.retain(|it| !it.insertions.iter().all(|it| left.contains(&it.place.start)));
        let breaches = walk.breaches;
        Some(Completed { text, api, breaches, elements: walk.elements })
    }

    /// Findings for the missing words, placed in the messages that are read from the text. A missing id has no edit.
    pub(crate) fn found(
        &self,
        messages: &[Message],
        profile: &Profile,
        format: Format,
    ) -> Vec<Diagnostic> {
        let places = Places::of(messages, &self.elements, format);
        let found = self.breaches.iter().map(|it| {
            let fix = match (&it.default, it.answer) {
                (Some(value), _) if value.is_empty() => "set to an empty text".to_owned(),
                (Some(value), _) => format!("set to {value}"),
                (None, "ttl") => "removed `ttl`: a later breakpoint is kept no longer".to_owned(),
                (None, "type") if it.removes() => format!("removed `{}`", it.name()),
                (None, "missing" | "base64" | "type" | "") => {
                    "written as the API has it".to_owned()
                }
                (None, "markers") => "removed the surplus ones".to_owned(),
                (None, "repeated") => "removed the id".to_owned(),
                (None, "word") => format!("removed `{}`", it.name()),
                (None, _) => "removed".to_owned(),
            };
            let res = diagnostic(it.clone(), self.api, profile, &places);
            if is_missing_id(it) { res } else { res.with_fix(fix) }
        });
        found.collect()
    }
}

/// The chain rules assign missing ids, and report that.
fn is_missing_id(it: &Breach) -> bool {
    it.answer == "missing" && matches!(it.name(), "id" | "tool_use_id" | "toolUseId")
}

/// Whether one of these findings may be about a missing word that can be filled in.
pub(crate) fn may_be_completed(found: &[Diagnostic]) -> bool {
    const CODES: [&str; 6] = [
        "profile::cache-markers",
        "profile::missing-member",
        "profile::part-without-type",
        "profile::shape",
        "profile::unknown-kind",
        "profile::unknown-member",
    ];
    found.iter().any(|it| CODES.contains(&it.code.as_str()))
}

/// A replacement in the text of a request: a member that is added, or removed.
#[derive(Debug, Clone)]
pub(super) struct Insertion {
    /// The range of bytes that it replaces; empty for a new member.
    pub(super) place: Range<usize>,
    pub(super) text: String,
}

impl Insertion {
    /// Adds a tag to an object of a request, spaced like its first member.
    pub(super) fn of(
        request: &str,
        (tag, word): (&str, &str),
        members: &Members<'_>,
        json: &str,
    ) -> Self {
        if let Some(null) = of(members, tag) {
            return Insertion::instead(request, null, word);
        }
        let inside = json.get(1..).unwrap_or_default();
        let space = &inside[..inside.len() - inside.trim_start().len()];
        let at = offset(request, inside) + space.len();
        let (colon, next) = match (is_spaced(request, members), space.is_empty()) {
            (true, true) => (": ", " "),
            (true, false) => (": ", space),
            (false, _) => (":", space),
        };
        Insertion { place: at..at, text: format!("\"{tag}\"{colon}\"{word}\",{next}") }
    }

    /// Adds a member to an object of a request, after all others.
    pub(super) fn after(request: &str, (name, value): (&str, &str), members: &Members<'_>) -> Self {
        if let Some(null) = of(members, name) {
            return Insertion::instead(request, null, value);
        }
        let space = if is_spaced(request, members) { " " } else { "" };
        let at = members.last().map_or(0, |it| offset(request, it.1) + it.1.len());
        Insertion { place: at..at, text: format!(",{space}\"{name}\":{space}\"{value}\"") }
    }

    /// Removes a member of an object; `stays` tells which members remain. `None` if its name is written with escapes.
    pub(super) fn without(
        request: &str,
        members: &Members<'_>,
        name: &str,
        stays: &dyn Fn(&str) -> bool,
    ) -> Option<Self> {
        let at = members.iter().rposition(|it| it.0 == name)?;
        let value = members[at].1;
        let end = offset(request, value) + value.len();
        let place = match members[..at].iter().any(|it| stays(&it.0)) {
            true => {
                let before = members[at - 1].1;
                offset(request, before) + before.len()..end
            }
            false => {
                let (start, key) = (offset(request, value), format!("\"{name}\""));
                let near = start.saturating_sub(key.len() + 64);
                let before = &request.as_bytes()[near..start];
                let at = memchr::memmem::rfind(before, key.as_bytes())?;
                let between = &before[at + key.len()..];
                if !between.iter().all(|it| *it == b':' || it.is_ascii_whitespace()) {
                    return None;
                }
                let start = near + at;
                let rest = request.get(end..)?;
                let next = rest.trim_start();
                let next = next.strip_prefix(',').map_or(rest, str::trim_start);
                start..offset(request, next)
            }
        };
        Some(Insertion { place, text: String::new() })
    }

    pub(super) fn instead(request: &str, value: &str, word: &str) -> Self {
        let start = offset(request, value);
        Insertion { place: start..start + value.len(), text: format!("\"{word}\"") }
    }
}

/// Whether a path is an element of `tools`, or the tool choice.
pub(super) fn is_tool(path: &str) -> bool {
    if path == "tool_choice" {
        return true;
    }
    let number = path.strip_prefix("tools[").and_then(|it| it.strip_suffix(']'));
    number.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
}

/// The offset of a slice in its text.
pub(super) fn offset(text: &str, slice: &str) -> usize {
    slice.as_ptr().addr() - text.as_ptr().addr()
}

/// Whether there is a space between the name and the value of the first member.
fn is_spaced(text: &str, members: &Members<'_>) -> bool {
    let before = |value: &str| text.as_bytes().get(offset(text, value).checked_sub(1)?).copied();
    members.first().is_some_and(|it| before(it.1) == Some(b' '))
}

/// The only possible value of a required member: the media type that its data reveal, or any name where one is
/// required.
pub(super) fn forced_value(member: &Member, members: &Members<'_>) -> Option<Cow<'static, str>> {
    match (member.name, member.default) {
        // Text data have only one type.
        ("media_type" | "type", Some(default)) => Some(default.into()),
        ("mimeType" | "media_type" | "format", None) => forced_type(member, members),
        ("name" | "content" | "output" | "id" | "tool_use_id" | "toolUseId", Some(default)) => {
            Some(default.into())
        }
        // A text part without any other member.
        ("text", None) if members.len() == 1 && members[0].0 == "type" => Some("".into()),
        _ => None,
    }
}

/// Converts a tool in the form of Responses, with the members of `function` next to `type`, to the form of chat
/// requests, or back.
pub(super) fn other_tool(is_chat: bool, members: &Members<'_>) -> Option<(&'static str, String)> {
    const INNER: [&str; 5] = ["name", "description", "parameters", "strict", "format"];
    let kind = text_of(members, "type").unwrap_or("function".into());
    let has_body = ["function", "custom"].iter().any(|it| of(members, it).is_some());
    let body = match &*kind {
        "function" => "function",
        "custom" => "custom",
        _ => return None,
    };
    let is_name = |it: &str| !matches!(it, "" | "\"\"" | "null");
    let member =
        |it: &(Cow<'_, str>, &str)| format!("{}:{}", msg_json::to_text(|w| w.str(&it.0)), it.1);
    if is_chat {
        if has_body || !of(members, "name").is_some_and(is_name) {
            return None;
        }
        let (inner, outer): (Vec<_>, Vec<_>) =
            members.iter().partition(|it| INNER.contains(&&*it.0));
        let outer = outer.into_iter().filter(|it| it.0 != "type").map(member);
        let inner = inner.into_iter().map(member).collect::<Vec<_>>().join(",");
        let all = [format!("\"type\":\"{kind}\""), format!("\"{body}\":{{{inner}}}")];
        return Some((
            body,
            format!("{{{}}}", all.into_iter().chain(outer).collect::<Vec<_>>().join(",")),
        ));
    }
    let inner = of(members, body).and_then(members_of)?;
    if of(members, "name").is_some() || !of(&inner, "name").is_some_and(is_name) {
        return None;
    }
    let outer = members.iter().filter(|it| it.0 != "type" && it.0 != body).map(member);
    let all = std::iter::once(format!("\"type\":\"{kind}\""));
    let all = all.chain(inner.iter().map(member)).chain(outer).collect::<Vec<_>>();
    Some(("name", format!("{{{}}}", all.join(","))))
}

/// The media type that the data reveal, in the API's word for it.
pub(super) fn forced_type(member: &Member, members: &Members<'_>) -> Option<Cow<'static, str>> {
    if !matches!(member.name, "mimeType" | "media_type" | "format") {
        return None;
    }
    let inner = || text_of(&of(members, "source").and_then(members_of)?, "bytes");
    let data = text_of(members, "data").or_else(inner)?;
    let media_type = msg_codec::DataUrl::type_of_data(&data)?;
    let words = member.value.words();
    match words.is_empty() {
        true => Some(media_type.into()),
        false => meant(media_type, &words).map(Into::into),
    }
}

fn mime<'a>(members: &Members<'a>) -> Option<Cow<'a, str>> {
    text_of(members, "media_type").or_else(|| text_of(members, "mime_type"))
}

/// The only possible kind of an object without a tag: the kind whose required members it has, the most of all kinds.
pub(super) fn forced_kind(
    walk: &Walk<'_>,
    object: &'static Object,
    members: &Members<'_>,
) -> Option<&'static str> {
    if object.tag == Some("role") {
        return None;
    }
    let has = |name: &str| of(members, name).is_some_and(|it| it != "null");
    let all =
        object.kinds.iter().filter_map(|(kind, shape)| Some((*kind, walk.api.fit(shape, &has)?)));
    let all: Vec<_> = all.filter(|it| it.0 != "item_reference" || members.len() == 1).collect();
    let best = all.iter().map(|it| it.1).max()?;
    let mut best = all.iter().filter(|it| it.1 == best).map(|it| it.0);
    let (kind, others) = (best.next()?, best.collect::<Vec<_>>());
    let source = || of(members, "source").and_then(members_of);
    let is_of_a_server = || {
        ["id", "tool_use_id"]
            .iter()
            .filter_map(|it| text_of(members, it))
            .any(|it| it.starts_with("srvtoolu_") || it.starts_with("mcptoolu_"))
    };
    match (kind, others.as_slice()) {
        ("tool_use" | "tool_result", []) if is_of_a_server() => None,
        (kind, []) => Some(kind),
        // Other members, or the place, decide between these kinds.
        ("base64", ["text"]) if mime(members)?.starts_with("text/") => Some("text"),
        ("base64", ["text"]) => Some("base64"),
        ("document", ["image"]) => {
            let source = source()?;
            let mime = mime(&source).unwrap_or_default();
            let is_text = of(&source, "content").is_some() || mime.starts_with("text/");
            match (mime.starts_with("image/"), is_text || mime == "application/pdf") {
                (true, _) => Some("image"),
                (_, true) => Some("document"),
                _ => None,
            }
        }
        ("input_text", ["output_text"]) if walk.source.role == "assistant" => Some("output_text"),
        ("input_text", ["output_text"]) => Some("input_text"),
        ("custom_tool_call_output", ["function_call_output"]) => {
            let has_custom = || walk.source.json.contains("\"custom_tool_call\"");
            (!walk.source.has_custom_calls.get_or_init(has_custom))
                .then_some("function_call_output")
        }
        ("audio", ["document", "image", "video"]) => match mime(members)?.split('/').next()? {
            "image" => Some("image"),
            "audio" => Some("audio"),
            "video" => Some("video"),
            "application" | "text" => Some("document"),
            _ => None,
        },
        _ => None,
    }
}
