//! The tools that Gemini runs itself (RQ-20): `{"googleSearch":{}}`, in Interactions `{"type":"google_search"}`.

use msg_core::RawJson;
use msg_core::request::{HostedKind, HostedTool, RequestHead, Tool};

/// The kinds, by the name that both APIs have for them, each in its own case.
const KINDS: [(HostedKind, &str, &str); 3] = [
    (HostedKind::WebSearch, "googleSearch", "google_search"),
    (HostedKind::WebFetch, "urlContext", "url_context"),
    (HostedKind::CodeExecution, "codeExecution", "code_execution"),
];

/// The kind of a tool, in either case of its name; the older search has a name of its own.
pub(crate) fn kind(name: &str) -> Option<HostedKind> {
    if matches!(name, "googleSearchRetrieval" | "google_search_retrieval") {
        return Some(HostedKind::WebSearch);
    }
    KINDS.iter().find(|it| it.1 == name || it.2 == name).map(|it| it.0)
}

/// Where a tool of a kind has its settings: none of them is shared. None if Gemini has none, or if functions are
/// beside it: "Built-in tools ({google_search}) and Function Calling cannot be combined in the same request".
pub(crate) fn places(head: &RequestHead, kind: HostedKind) -> Option<&'static [&'static str]> {
    let has_functions = head.tools.iter().any(|it| it.function().is_some());
    let is_known = KINDS.iter().any(|it| it.0 == kind);
    (is_known && !has_functions).then_some(&[])
}

/// The name of a tool in camel case, and in snake case.
pub(crate) fn names(tool: &Tool) -> Option<(&'static str, &'static str)> {
    let Tool::Hosted(tool) = tool else { return None };
    KINDS.iter().find(|it| it.0 == tool.kind).map(|it| (it.1, it.2))
}

/// A tool of this kind with these settings, which are at a pointer of the source.
pub(crate) fn read(
    kind: HostedKind,
    settings: Vec<(String, RawJson)>,
    (tool, inside): (&str, &str),
) -> HostedTool {
    let mut res = HostedTool::new(kind, tool);
    for (name, raw) in settings {
        let pointer = format!("{inside}/{name}");
        res.say(name, pointer, raw);
    }
    res
}
