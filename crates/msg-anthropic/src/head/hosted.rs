//! The tools that Anthropic runs itself (RQ-20): `{"type":"web_search_20250305","name":"web_search"}`. The number is
//! the day of a version; the ones that are written are the oldest that all models take.

use msg_core::RawJson;
use msg_core::request::{HostedKind, HostedTool, RequestHead, Tool, ToolChoice};
use msg_json::Writer;

/// The start of the types of a kind, the name of the tool, and the type that is written.
const KINDS: [(HostedKind, &str, &str, &str); 4] = [
    (HostedKind::WebSearch, "web_search_", "web_search", "web_search_20250305"),
    (HostedKind::WebFetch, "web_fetch_", "web_fetch", "web_fetch_20250910"),
    (HostedKind::CodeExecution, "code_execution_", "code_execution", "code_execution_20250825"),
    (
        HostedKind::ToolSearch,
        "tool_search_tool_",
        "tool_search_tool_bm25",
        "tool_search_tool_bm25_20251119",
    ),
];

/// The settings that a tool of this kind has a place for.
pub(super) fn places(kind: HostedKind) -> &'static [&'static str] {
    match kind {
        HostedKind::WebSearch => {
            &["allowed_domains", "blocked_domains", "max_uses", "user_location", "cache_control"]
        }
        HostedKind::WebFetch => {
            &["allowed_domains", "blocked_domains", "max_uses", "cache_control"]
        }
        HostedKind::CodeExecution | HostedKind::ToolSearch => &["cache_control"],
    }
}

/// The name that choices and calls use for a tool of this kind.
pub(super) fn name(kind: HostedKind) -> &'static str {
    KINDS.iter().find(|it| it.0 == kind).map_or("", |it| it.2)
}

/// A tool of one of the kinds; none if it is another.
pub(super) fn read(raw: &RawJson, pointer: &str) -> Option<HostedTool> {
    let word = raw.member_text("type")?;
    let (kind, ..) = KINDS.iter().find(|it| word.starts_with(it.1))?;
    let mut res = HostedTool::new(*kind, pointer);
    let settings = raw.present_members()?.into_iter();
    for (name, value) in settings.filter(|it| !matches!(it.0.as_str(), "type" | "name")) {
        let pointer = format!("{pointer}/{name}");
        res.say(name, pointer, value);
    }
    Some(res)
}

pub(super) fn write(it: &mut Writer<'_>, tool: &HostedTool) {
    it.object(|it| {
        let word = KINDS.iter().find(|it| it.0 == tool.kind).map_or("", |it| it.3);
        it.key("type").str(word);
        it.key("name").str(name(tool.kind));
        for place in places(tool.kind) {
            it.optional(place, tool.setting(place), |it, raw| it.raw(raw.text()));
        }
    });
}

/// The tool of the provider that the choice names, if it names one: it is the one that the request has.
pub(super) fn chosen(head: &RequestHead) -> Option<HostedKind> {
    let Some(ToolChoice::Tool(name)) = &head.tool_choice else { return None };
    head.tools.iter().find_map(|it| match it {
        Tool::Hosted(it) => {
            let (_, start, word, _) = KINDS.iter().find(|known| known.0 == it.kind)?;
            (name == word || format!("{name}_").starts_with(start)).then_some(it.kind)
        }
        _ => None,
    })
}
