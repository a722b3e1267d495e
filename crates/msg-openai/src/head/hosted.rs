//! The tools that OpenAI runs itself (RQ-20): `{"type":"web_search"}` in Responses, `web_search_options` in chat.

use msg_core::RawJson;
use msg_core::request::{HostedKind, HostedTool, ToolChoice};
use msg_json::Writer;

use super::Spelling;

/// The member of a chat request that lets the model search the web.
pub(super) const OPTIONS: &str = "web_search_options";

/// The settings that a tool of this kind has a place for. None where the API has no tool of the kind.
pub(super) fn places(kind: HostedKind, spelling: Spelling) -> Option<&'static [&'static str]> {
    match (kind, spelling) {
        (HostedKind::WebSearch, Spelling::Chat) => Some(&["search_context_size", "user_location"]),
        (HostedKind::WebSearch, Spelling::Responses) => {
            Some(&["search_context_size", "user_location", "allowed_domains"])
        }
        (HostedKind::CodeExecution | HostedKind::ToolSearch, Spelling::Responses) => Some(&[]),
        _ => None,
    }
}

/// The kind of a type of tools, in any of its versions.
pub(super) fn kind(word: &str) -> Option<HostedKind> {
    match word {
        "code_interpreter" => Some(HostedKind::CodeExecution),
        "tool_search" => Some(HostedKind::ToolSearch),
        "web_search" | "web_search_preview" => Some(HostedKind::WebSearch),
        word if word.starts_with("web_search_2") || word.starts_with("web_search_preview_2") => {
            Some(HostedKind::WebSearch)
        }
        _ => None,
    }
}

/// The type of a tool of this kind.
pub(super) fn tool_word(kind: HostedKind) -> &'static str {
    match kind {
        HostedKind::WebSearch => "web_search",
        HostedKind::ToolSearch => "tool_search",
        _ => "code_interpreter",
    }
}

/// The word of a choice, which differs from the type of the tool.
pub(super) fn choice_word(kind: HostedKind) -> &'static str {
    match kind {
        HostedKind::WebSearch => "web_search_preview",
        _ => "code_interpreter",
    }
}

/// Whether requests of this spelling have a word for the choice.
pub(super) fn has_choice(choice: &ToolChoice, spelling: Spelling) -> bool {
    let is_flat = spelling == Spelling::Responses;
    match choice {
        ToolChoice::Hosted(HostedKind::WebSearch | HostedKind::CodeExecution) => is_flat,
        ToolChoice::Hosted(_) => false,
        ToolChoice::Allowed { tools, .. } => {
            let has_word =
                |it: &ToolChoice| !matches!(it, ToolChoice::Hosted(HostedKind::WebFetch));
            tools.iter().all(|it| has_word(it) && (is_flat || !matches!(it, ToolChoice::Hosted(_))))
        }
        _ => true,
    }
}

/// The tool of these members, without their type. None if the caller runs it, not the provider.
pub(super) fn read(
    kind: HostedKind,
    members: Vec<(String, RawJson)>,
    place: &str,
) -> Option<HostedTool> {
    let mut res = HostedTool::new(kind, place);
    for (name, raw) in members.into_iter().filter(|it| it.1.text() != "null") {
        let pointer = format!("{place}/{name}");
        let is_default = match name.as_str() {
            "execution" => {
                (raw.text() == r#""server""#).then_some(())?;
                true
            }
            // A container of its own is what other providers have in any case.
            "container" => is_auto(&raw),
            _ => false,
        };
        match raw.present_members().filter(|_| name == "filters") {
            Some(filters) => filters.into_iter().for_each(|(word, raw)| {
                let pointer = format!("{pointer}/{word}");
                res.say(word, pointer, raw);
            }),
            None if is_default => {}
            None => res.say(name, pointer, raw),
        }
    }
    Some(res)
}

fn is_auto(raw: &RawJson) -> bool {
    let members = raw.present_members().unwrap_or_default();
    matches!(members.as_slice(), [(name, word)] if name == "type" && word.text() == r#""auto""#)
}

/// A search of the web, as chat requests ask for it.
pub(super) fn read_options(raw: &RawJson) -> Option<HostedTool> {
    let mut res = HostedTool::new(HostedKind::WebSearch, format!("/{OPTIONS}"));
    for (name, raw) in raw.present_members()? {
        let pointer = format!("/{OPTIONS}/{name}");
        let place = raw.present_members().filter(|_| name == "user_location");
        let place = place.and_then(|it| it.into_iter().find(|it| it.0 == "approximate"));
        let value = match place.and_then(|it| it.1.present_members()) {
            Some(place) => RawJson::written(|it| {
                it.object(|it| {
                    it.key("type").str("approximate");
                    place.iter().for_each(|(name, raw)| it.key(name).raw(raw.text()));
                });
            }),
            None => raw,
        };
        res.say(name, pointer, value);
    }
    Some(res)
}

/// The value of `web_search_options`.
pub(super) fn write_options(it: &mut Writer<'_>, tool: &HostedTool) {
    it.object(|it| {
        let size = tool.setting("search_context_size");
        it.optional("search_context_size", size, |it, raw| it.raw(raw.text()));
        it.optional("user_location", tool.setting("user_location"), |it, raw| {
            it.object(|it| {
                it.key("type").str("approximate");
                it.key("approximate").object(|it| {
                    let place = raw.present_members().unwrap_or_default();
                    let said = place.iter().filter(|it| it.0 != "type");
                    said.for_each(|(name, raw)| it.key(name).raw(raw.text()));
                });
            });
        });
    });
}

/// A tool as Responses spell it.
pub(super) fn write(tool: &HostedTool, it: &mut Writer<'_>) {
    it.object(|it| match tool.kind {
        HostedKind::WebSearch => {
            it.key("type").str("web_search");
            it.optional("filters", tool.setting("allowed_domains"), |it, raw| {
                it.object(|it| it.key("allowed_domains").raw(raw.text()));
            });
            for name in ["search_context_size", "user_location"] {
                it.optional(name, tool.setting(name), |it, raw| it.raw(raw.text()));
            }
        }
        HostedKind::ToolSearch => it.key("type").str("tool_search"),
        _ => {
            it.key("type").str("code_interpreter");
            it.key("container").object(|it| it.key("type").str("auto"));
        }
    });
}
