//! Tool calls in the text of older Cline sessions (SE-67): read by msg-xml, on request only.

use msg_core::{Part, Reasoning, Role};
use msg_xml::{Dialects, ParseOptions, SegmentKind, ToolSet};

use crate::view::View;

/// The tools that Cline and Roo Code write as tags.
const TOOLS: [&str; 18] = [
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "ask_followup_question",
    "attempt_completion",
    "plan_mode_respond",
    "new_task",
    "switch_mode",
];

/// Makes calls of the tags in the texts of answers; each has its message and number as id.
pub(crate) fn read_calls(view: &mut View) {
    let options = Dialects::by_names(["cline"]).map(|it| {
        ParseOptions::new().with_dialects(it).with_tools(TOOLS.into_iter().collect::<ToolSet>())
    });
    let Ok(options) = options else { return };
    for (at, message) in view.messages.iter_mut().enumerate() {
        if message.role != Role::Assistant {
            continue;
        }
        let origins = std::mem::take(&mut view.origins[at]);
        let parts = std::mem::take(&mut message.parts);
        for (part, origin) in parts.into_iter().zip(origins) {
            let found = match &part {
                Part::Text(it) => segments(&it.text, at, &options),
                _ => Vec::new(),
            };
            let found = if found.is_empty() { vec![part] } else { found };
            view.origins[at].extend(vec![origin; found.len()]);
            message.parts.extend(found);
        }
    }
}

/// The parts of a text that has calls; none of one without.
fn segments(text: &str, message: usize, options: &ParseOptions) -> Vec<Part> {
    let parsed = msg_xml::parse(text.as_bytes(), None, options);
    if parsed.calls().next().is_none() {
        return Vec::new();
    }
    let part = |(n, kind): (usize, SegmentKind)| match kind {
        SegmentKind::Text(it) => (!it.trim().is_empty()).then(|| Part::text(it)),
        SegmentKind::Thinking { text, .. } => Some(Part::Reasoning(Reasoning::new(text))),
        SegmentKind::Call(call) => Some(Part::ToolCall(call.to_core(format!("xml_{message}_{n}")))),
        SegmentKind::Partial(call) => Some(Part::text(call.source())),
    };
    parsed.segments.into_iter().map(|it| it.kind).enumerate().filter_map(part).collect()
}
