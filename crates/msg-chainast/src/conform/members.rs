//! Extra members, items and raw blocks that a provider reads or refuses: cache markers (PM-13 to PM-15, PM-249), unknown
//! members (PM-149), item ids, and the blocks of server tools (PM-3, PM-185).
//!
//! The wire formats write; this file checks a document in the provider's own format.

use std::collections::{BTreeMap, HashSet};

use msg_core::{Code, Diagnostic, Extra, Origin, Other, Part, RawJson, Role};
use serde::Deserialize;

use super::{Conform, content::CACHE_MARKER, error};
use crate::profile::{Acceptance, Profile, ServerTools};

/// A message, or a part of it.
type Spot = (usize, Option<usize>);

impl Conform<'_, '_> {
    /// Checks cache markers: their number, their members, and that none is on reasoning.
    pub(super) fn cache_markers(&mut self) {
        let max = self.profile.cache_max;
        if max == 0 {
            return;
        }
        let mut kept = Vec::new();
        for spot in self.spots() {
            if !has_marker(self.extra(spot)) {
                continue;
            }
            match spot
                .1
                .is_some_and(|it| self.items[spot.0].message.parts[it].as_reasoning().is_some())
            {
                true => self.remove_marker(spot, "a cache marker on reasoning"),
                false => kept.push(spot),
            }
        }
        for spot in &kept {
            self.trim_marker(*spot);
        }
        let mut surplus = kept.len().saturating_sub(max);
        // The last markers of the conversation serve the next request, the first ones of the prompt all.
        let is_system = |it: &Spot| self.items[it.0].message.role.is_system();
        let (systems, others): (Vec<Spot>, Vec<Spot>) = kept.into_iter().partition(is_system);
        for spot in others.into_iter().chain(systems.into_iter().rev()) {
            if surplus == 0 {
                break;
            }
            surplus -= 1;
            self.remove_marker(spot, &format!("more than {max} cache markers"));
        }
    }

    fn remove_marker(&mut self, spot: Spot, sentence: &str) {
        let it = error("profile::cache-markers", sentence.to_owned(), "removed `cache_control`");
        self.at_spot(spot, it);
        let extra = self.extra_mut(spot);
        for origin in marked_origins(extra) {
            extra.remove(&origin, CACHE_MARKER);
        }
    }

    /// Takes the members of a marker out that are not known, and sets those with other values than the accepted ones.
    fn trim_marker(&mut self, spot: Spot) {
        let known = &self.profile.cache_members;
        if known.is_empty() {
            return;
        }
        for origin in marked_origins(self.extra(spot)) {
            let Some(marker) = self.extra(spot).get(&origin, CACHE_MARKER) else { continue };
            let Ok(members) = marker.parse::<BTreeMap<String, RawJson>>() else { continue };
            let mut found = Vec::new();
            let is_known = |it: &&String| known.iter().any(|known| words_of(known).0 == *it);
            if let Some(first) = members.keys().find(|it| !is_known(it)) {
                let sentence = format!("unknown member `{first}` in a cache marker");
                found.push((sentence, "removed the unknown members of `cache_control`".to_owned()));
            }
            let mut kept = Vec::new();
            for (name, words) in known.iter().map(|it| words_of(it)) {
                let Some(value) = members.get(name) else { continue };
                let mut text = value.text().to_owned();
                if let Some(first) = words.filter(|it| !accepts(it, value)) {
                    let words = first.split('|').collect::<Vec<_>>().join("` or `");
                    let first = first.split('|').next().unwrap_or_default();
                    let sentence = format!("`{name}` of a cache marker must be `{words}`");
                    found.push((sentence, format!("set to `{first}`")));
                    text = RawJson::string(first).text().to_owned();
                }
                kept.push(format!("{}:{text}", RawJson::string(name).text()));
            }
            if found.is_empty() {
                continue;
            }
            let trimmed = RawJson::new(format!("{{{}}}", kept.join(",")));
            for (sentence, fix) in found {
                self.at_spot(spot, error("profile::cache-markers", sentence, fix));
            }
            if let Ok(trimmed) = trimmed {
                self.extra_mut(spot).insert(origin, CACHE_MARKER, trimmed);
            }
        }
    }

    /// Members that the provider does not know.
    pub(super) fn unknown_members(&mut self) {
        let refuses_all = self.profile.known_members_only;
        if !refuses_all && self.profile.refused_members.is_empty() {
            return;
        }
        for spot in self.spots() {
            let Some((gone, it)) = self.unknown_in(self.extra(spot), "") else { continue };
            self.at_spot(spot, it);
            if self.removes(&gone) {
                remove(self.extra_mut(spot), &gone);
            }
        }
        for (at, part) in if refuses_all { self.results() } else { Vec::new() } {
            let inner = content_of(&self.items[at].message.parts[part]);
            let place = " in the content of a result";
            let found: Vec<_> = inner.iter().map(|it| self.unknown_in(it.extra(), place)).collect();
            for (n, (gone, it)) in
                found.into_iter().enumerate().filter_map(|it| Some((it.0, it.1?)))
            {
                self.at_part(at, part, it);
                if self.removes(&gone)
                    && let Part::ToolResult(result) =
                        &mut self.items[at].message.to_mut().parts[part]
                {
                    remove(result.content.parts_mut()[n].extra_mut(), &gone);
                }
            }
        }
    }

    /// The members of one object that the provider does not know, with their report.
    fn unknown_in(
        &self,
        extra: &Extra,
        place: &str,
    ) -> Option<(Vec<(Origin, String)>, Diagnostic)> {
        let Profile { known_members_only, refused_members, known_members, format, .. } =
            self.profile;
        let own = Origin::from(format.as_str());
        let goes = |origin: &Origin, name: &str, value: &RawJson| {
            refused_members.iter().any(|it| it == name)
                || *known_members_only
                    && *origin == own
                    && says_something(value)
                    && !known_members.iter().any(|it| it == name)
        };
        let all = extra.all().filter(|(origin, name, value)| goes(origin, name, value));
        let gone: Vec<(Origin, String)> = all.map(|it| (it.0.clone(), it.1.to_owned())).collect();
        let (_, first) = gone.first()?;
        let names: Vec<String> = gone.iter().map(|it| format!("`{}`", it.1)).collect();
        let sentence = match gone.len() {
            1 => format!("unknown member `{first}`{place}"),
            n => format!("unknown member `{first}` and {} more{place}", n - 1),
        };
        let fix = format!("removed {}", names.join(", "));
        let it = error("profile::unknown-member", sentence, fix);
        let it = if self.refuses(&gone) { it } else { self.doubting("members", it) };
        Some((gone, it))
    }

    /// Whether the provider refuses one of these members by name.
    fn refuses(&self, members: &[(Origin, String)]) -> bool {
        members.iter().any(|it| self.profile.refused_members.contains(&it.1))
    }

    fn removes(&self, members: &[(Origin, String)]) -> bool {
        self.refuses(members) || self.mends("members")
    }

    /// The results with content whose parts have extra members.
    fn results(&self) -> Vec<(usize, usize)> {
        let has_extra = |it: &Part| content_of(it).iter().any(|it| !it.extra().is_empty());
        let items = self.items.iter().enumerate();
        let all =
            items.flat_map(|(at, it)| it.message.parts.iter().enumerate().map(move |it| (at, it)));
        all.filter(|it| has_extra(it.1.1)).map(|(at, it)| (at, it.0)).collect()
    }

    /// All messages and parts, in order.
    fn spots(&self) -> Vec<Spot> {
        let items = self.items.iter().enumerate();
        items
            .flat_map(|(at, item)| {
                let parts = (0..item.message.parts.len()).map(move |part| (at, Some(part)));
                std::iter::once((at, None)).chain(parts)
            })
            .filter(|it| !self.extra(*it).is_empty())
            .collect()
    }

    fn extra(&self, (item, part): Spot) -> &Extra {
        let message = &self.items[item].message;
        part.map_or(&message.extra, |it| message.parts[it].extra())
    }

    fn extra_mut(&mut self, (item, part): Spot) -> &mut Extra {
        let message = self.items[item].message.to_mut();
        match part {
            None => &mut message.extra,
            Some(it) => message.parts[it].extra_mut(),
        }
    }

    fn at_spot(&mut self, (item, part): Spot, it: Diagnostic) {
        match part {
            None => self.at_message(item, it),
            Some(part) => self.at_part(item, part, it),
        }
    }
}

fn remove(extra: &mut Extra, members: &[(Origin, String)]) {
    for (origin, name) in members {
        extra.remove(origin, name);
    }
}

/// The parts of a result; empty for any other part.
fn content_of(part: &Part) -> &[Part] {
    if let Part::ToolResult(it) = part { it.content.parts() } else { &[] }
}

fn has_marker(extra: &Extra) -> bool {
    extra.all().any(|it| it.1 == CACHE_MARKER && says_something(it.2))
}

/// The name of an accepted member of a marker, and the values that it may have.
fn words_of(member: &str) -> (&str, Option<&str>) {
    member.split_once(':').map_or((member, None), |it| (it.0, Some(it.1)))
}

/// Whether a value of a marker is one of these words, or null.
fn accepts(words: &str, value: &RawJson) -> bool {
    let is_word = |it: String| words.split('|').any(|word| word == it);
    value.text() == "null" || value.parse::<String>().is_ok_and(is_word)
}

fn marked_origins(extra: &Extra) -> Vec<Origin> {
    extra.all().filter(|it| it.1 == CACHE_MARKER).map(|it| it.0.clone()).collect()
}

/// Whether a value carries information.
fn says_something(value: &RawJson) -> bool {
    !matches!(value.text(), "null" | "[]" | "{}" | "\"\"")
}

// Reasoning that a provider keeps: items of OpenAI's Responses, which are sent again by their ids.
//
// A message of this model is several such items, one a part; a part carries the id of its item among its
// extra members. Writing them is the business of the wire format.

/// The member for everything in an item except its content.
pub(crate) const ITEM: &str = "item";

impl Conform<'_, '_> {
    /// Checks that ids of items have the provider's prefixes (PM-95). An item without an id is
    /// accepted.
    pub(crate) fn item_ids(&mut self) {
        let rules = &self.profile.item_ids;
        let rules: Vec<(&str, &str)> = rules.iter().filter_map(|it| it.split_once(':')).collect();
        if rules.is_empty() {
            return;
        }
        let judge = |part: &Part| {
            let of_kind = rules.iter().filter(|rule| rule.0 == part.kind());
            let begins: Vec<&str> = of_kind.map(|rule| rule.1).collect();
            let is_wrong = |id: &String| !begins.iter().any(|it| id.starts_with(it));
            let id = item_id(part).filter(|it| !begins.is_empty() && is_wrong(it))?;
            let begins = begins.join("` or `");
            let sentence = format!("item id `{id}` must begin with `{begins}`");
            Some((error("profile::item-id", sentence, "left out"), Some(())))
        };
        self.mend_parts(judge, |part, ()| leave_id_out(part.extra_mut()));
    }

    /// A reasoning item that is named by its id is followed by the item that it was made for (PM-87): a call, or
    /// a message with an id too, in the same message of the model or in the next one of the assistant.
    pub(crate) fn lone_reasoning(&mut self) {
        if self.profile.lone_reasoning == Acceptance::Accept {
            return;
        }
        // Goes backwards: after a removal, the item before it must be followed by an item that stays.
        for at in (0..self.items.len()).rev() {
            let lone = self.lone_parts(at);
            if lone.is_empty() {
                continue;
            }
            for part in &lone {
                let sentence = "reasoning item without the item that must follow it";
                self.at_part(at, *part, error("profile::lone-reasoning", sentence, "removed"));
            }
            self.remove_reasoning(at, |part| lone.binary_search(&part).is_ok());
        }
    }

    /// The reasoning parts of a message whose items are alone, in order.
    fn lone_parts(&self, at: usize) -> Vec<usize> {
        let parts = &self.items[at].message.parts;
        let mut followed = match self.items.get(at + 1) {
            Some(next) if next.message.role == Role::Assistant => {
                next.message.parts.first().is_some_and(may_be_made)
            }
            _ => false,
        };
        let mut lone = Vec::new();
        for (part, it) in parts.iter().enumerate().rev() {
            let is_reasoning = it.as_reasoning().is_some();
            if is_reasoning && has_item_id(it) && !followed {
                lone.push(part);
            }
            // A lone item is removed, so the item after it does not complete the item before it.
            followed = may_be_made(it) && (!is_reasoning || followed);
        }
        lone.reverse();
        lone
    }
}

/// Whether a part can be the item that follows a reasoning item. This includes a call without an id: recorded
/// requests of clients that omit ids were answered.
fn may_be_made(part: &Part) -> bool {
    has_item_id(part) || matches!(part, Part::ToolCall(_)) || is_raw_call(part)
}

/// Whether a part is an item with a call of a kind that this model does not have.
fn is_raw_call(part: &Part) -> bool {
    matches!(part, Part::Other(it) if Facts::of(it).kind.is_some_and(|it| it.ends_with("_call")))
}

/// Whether a part is an item with an id.
pub(crate) fn has_item_id(part: &Part) -> bool {
    item_id(part).is_some()
}

/// The id of the item of a part: its own, or the id in the JSON of an unknown kind.
pub(crate) fn item_id(part: &Part) -> Option<String> {
    #[derive(Deserialize)]
    struct Item {
        id: Option<String>,
    }
    let item = match part {
        Part::Other(it) if it.format == Origin::Responses => Some(&it.value),
        other => other.extra().get(&Origin::Responses, ITEM),
    };
    item?.parse::<Item>().ok()?.id
}

/// Removes the id from the other members of an item.
fn leave_id_out(extra: &mut Extra) {
    let members = extra.get(&Origin::Responses, ITEM).map(RawJson::parse::<serde_json::Map<_, _>>);
    let Some(Ok(mut members)) = members else { return };
    members.remove("id");
    let text = serde_json::Value::Object(members).to_string();
    if let Ok(item) = RawJson::new(text) {
        extra.insert(Origin::Responses, ITEM, item);
    }
}

// The members of a provider's raw JSON that rules need.
//
// A server tool is called and answered by the provider itself; its blocks are opaque parts here, and only
// whether they belong together is judged (PM-3, PM-185).

/// The properties of an opaque part that rules use.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Facts {
    #[serde(rename = "type", default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) tool_use_id: Option<String>,
    #[serde(default)]
    pub(crate) role: Option<String>,
}

/// The blocks for calls of the provider's own tools and of MCP servers, with the prefixes of their ids.
const CALLS: [(&str, &str); 2] = [("server_tool_use", "srvtoolu_"), ("mcp_tool_use", "")];

impl Facts {
    pub(crate) fn of(it: &Other) -> Self {
        let facts: Facts = it.value.parse().unwrap_or_default();
        // The name of a member tells the kind of a Gemini part; a part without members has none.
        let is_data = it.format == Origin::Gemini && !is_blank_object(it.value.text());
        Facts { kind: facts.kind.or(is_data.then(|| "data".to_owned())), ..facts }
    }
}

impl Conform<'_, '_> {
    /// Checks blocks of server tools: a result must follow its call in the same message, and the id of the
    /// call must be one of the provider's. Incomplete pairs are removed.
    pub(crate) fn server_tools(&mut self) {
        if self.profile.server_tools == ServerTools::Keep {
            return;
        }
        for at in 0..self.items.len() {
            let wrong = wrong_blocks(&self.items[at].message.parts, self.profile.server_tools);
            for part in &wrong {
                let sentence = match self.profile.server_tools {
                    ServerTools::None => "unknown server tool block",
                    _ => "server tool block without its call or result",
                };
                self.at_part(at, *part, error("profile::server-tool", sentence, "removed"));
            }
            if !wrong.is_empty() {
                self.remove_reasoning(at, |part| wrong.binary_search(&part).is_ok());
            }
        }
    }

    /// Parts that the provider does not read. Only their places are known.
    pub(crate) fn untyped_parts(&mut self) {
        if self.profile.untyped_parts == Acceptance::Accept {
            return;
        }
        let judge = |part: &Part| {
            let Part::Other(it) = part else { return None };
            let code = Code::new("profile::part-without-type");
            Some((Diagnostic::error(code, unread(it)?), None))
        };
        self.mend_parts(judge, |_, ()| {});
    }
}

/// The problem of a part of an unknown kind, if it is known.
fn unread(it: &Other) -> Option<&'static str> {
    let Facts { kind, role, .. } = Facts::of(it);
    match (&it.format, kind.as_deref()) {
        (Origin::OpenAi, None) => Some("a content part without a type"),
        (Origin::Gemini, None) => Some("a part without data"),
        (Origin::Responses, None | Some("message")) if role.is_some() => {
            Some("message content must be a string or a list of parts")
        }
        (Origin::Responses, Some("image_url" | "file")) => Some("a part of another format"),
        _ => None,
    }
}

fn is_blank_object(text: &str) -> bool {
    text.bytes().filter(|it| !it.is_ascii_whitespace()).eq(*b"{}")
}

/// The parts without meaning, in order.
fn wrong_blocks(parts: &[Part], rule: ServerTools) -> Vec<usize> {
    let blocks: Vec<(usize, Facts)> = parts
        .iter()
        .enumerate()
        .filter_map(|(at, it)| match it {
            Part::Other(it) if it.format == Origin::Anthropic => Some((at, Facts::of(it))),
            _ => None,
        })
        .filter(|it| is_call(&it.1) || is_result(&it.1))
        .collect();
    let mut called: HashSet<(&str, &str)> = HashSet::new();
    let mut wrong = Vec::new();
    for (at, block) in &blocks {
        let (call, id_prefix) = family(block);
        let id = if is_call(block) { &block.id } else { &block.tool_use_id };
        let fits = match id.as_deref() {
            Some(id) if is_call(block) => id.starts_with(id_prefix) && called.insert((call, id)),
            Some(id) => called.contains(&(call, id)),
            None => false,
        };
        if !fits || rule == ServerTools::None {
            wrong.push(*at);
        }
    }
    wrong
}

fn is_call(block: &Facts) -> bool {
    block.kind.as_deref().is_some_and(|kind| CALLS.iter().any(|it| it.0 == kind))
}

/// The kind of the call of a block, and how its ids begin.
fn family(block: &Facts) -> (&'static str, &'static str) {
    let is_mcp = block.kind.as_deref().is_some_and(|it| it.starts_with("mcp_"));
    CALLS[usize::from(is_mcp)]
}

fn is_result(block: &Facts) -> bool {
    block.kind.as_deref().is_some_and(|it| it.ends_with("_tool_result"))
}
