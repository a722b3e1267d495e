//! Lowers a tool part to a call and its answer (OA-7, OA-8, OA-9).

use msg_core::{Arguments, ToolCall};
use msg_json::TextState;

use super::emit::{Cx, Given};
use super::*;
use crate::turn::{ToolPart, ToolStatus};

const NOT_EXECUTED: &str = "[Tool call was not executed]";

/// What a profile does with a tool part in some state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// Neither call nor answer.
    Leave,
    /// The call alone.
    Unanswered,
    /// The output, or this text in its place.
    Output(&'static str),
    /// The output so far, and this text on a line after it.
    CutShort(&'static str),
    /// The output, or a sentence, of an unknown state.
    Unknown,
}

/// The table of OA-7.
fn plan(status: &ToolStatus, options: &LowerOptions) -> Plan {
    use LowerRules::{Doc, Shipped, Strict};
    const FAILED: Plan = Plan::Output("Tool execution failed");
    const COMPLETED: Plan = Plan::Output("Tool completed");
    let tells_failure = options.failed_tools == FailedTools::IncludeError;
    match (status, options.profile) {
        (ToolStatus::Pending | ToolStatus::Running, Doc) => Plan::Unanswered,
        (ToolStatus::Pending | ToolStatus::Running, Shipped) => Plan::Leave,
        (ToolStatus::Pending, Strict) => Plan::CutShort(NOT_EXECUTED),
        (ToolStatus::Running, Strict) => Plan::CutShort("[Tool execution interrupted]"),
        (ToolStatus::Completed, _) => COMPLETED,
        (ToolStatus::Failed, Doc) if tells_failure => FAILED,
        (ToolStatus::Failed, Strict) => FAILED,
        (ToolStatus::Failed, Doc | Shipped) | (_, Doc) => Plan::Leave,
        (ToolStatus::Error, _) => FAILED,
        (ToolStatus::Partial, _) => COMPLETED,
        (ToolStatus::Interrupted, _) => Plan::Output("[Tool execution interrupted by user]"),
        (ToolStatus::Other(_), Strict) => Plan::Unknown,
        (ToolStatus::Other(_), Shipped) => Plan::Leave,
    }
}

/// The call and, if it has one, its answer.
pub(crate) fn lower(
    tool: &ToolPart,
    at: usize,
    cx: &mut Cx<'_>,
) -> Option<(ToolCall, Option<String>)> {
    let plan = plan(&tool.status, cx.options);
    if plan == Plan::Leave {
        let text = format!("{} tool call is not sent", tool.status);
        cx.report(Some(at), "turn::filtered-call", text);
        return None;
    }
    let call = match cx.options.profile {
        LowerRules::Strict => strict_call(tool, at, cx),
        LowerRules::Doc => {
            ToolCall::new(doc_id(tool, at, cx), tool.tool.as_str(), argument_text(tool, cx.options))
        }
        LowerRules::Shipped => {
            ToolCall::new(tool.id.as_str(), tool.tool.as_str(), argument_text(tool, cx.options))
        }
    };
    Some((call, answer(tool, plan, at, cx)))
}

fn answer(tool: &ToolPart, plan: Plan, at: usize, cx: &mut Cx<'_>) -> Option<String> {
    let output = tool.output.as_str();
    Some(match plan {
        Plan::Leave | Plan::Unanswered => return None,
        Plan::Output(instead) => {
            if is_literal(tool, cx.options) || !output.is_empty() {
                return Some(output.to_owned());
            }
            let text = "placeholder text for the empty output";
            cx.report(Some(at), "turn::placeholder-output", text);
            instead.to_owned()
        }
        Plan::CutShort(note) => {
            let text = format!("placeholder result for a {} call", tool.status);
            cx.report(Some(at), "turn::synthesised-output", text);
            if output.is_empty() { note.to_owned() } else { format!("{output}\n{note}") }
        }
        Plan::Unknown => {
            let text = format!("unknown status `{}`", tool.status);
            cx.report(Some(at), "turn::unknown-status", text);
            if output.is_empty() { NOT_EXECUTED } else { output }.to_owned()
        }
    })
}

/// Whether an empty output goes out as it is. A failure that is to be told of is not an empty text.
fn is_literal(tool: &ToolPart, options: &LowerOptions) -> bool {
    match options.empty_tool_output {
        EmptyOutput::Literal => true,
        EmptyOutput::Placeholder => false,
        EmptyOutput::ByProfile => {
            options.profile == LowerRules::Doc && tool.status != ToolStatus::Failed
        }
    }
}

/// The id of a call that is sent as the document says: the part's own, whatever others have, or a new one,
/// since the document shows calls of parts without an id sent with one (OA-7).
fn doc_id(tool: &ToolPart, at: usize, cx: &mut Cx<'_>) -> String {
    if !tool.id.is_empty() {
        cx.ids.keep(&tool.id);
        return tool.id.clone();
    }
    let id = cx.ids.generate();
    report_generated(id, at, cx)
}

fn report_generated(id: String, at: usize, cx: &mut Cx<'_>) -> String {
    let text = format!("call without an id, sent as `{id}`");
    cx.report(Some(at), "turn::generated-id", text);
    id
}

/// The call with an id and a name that providers accept.
fn strict_call(tool: &ToolPart, at: usize, cx: &mut Cx<'_>) -> ToolCall {
    let id = match cx.ids.give(&tool.id) {
        Given::Kept => tool.id.clone(),
        Given::Generated(id) => report_generated(id, at, cx),
        Given::Renamed(id) => {
            let text = format!("duplicate call id `{}`, sent as `{id}`", tool.id);
            cx.report(Some(at), "turn::renamed-id", text);
            id
        }
    };
    let name = if tool.tool.is_empty() {
        cx.report(Some(at), "turn::empty-tool-name", "call without a tool name");
        "unknown_tool"
    } else {
        &tool.tool
    };
    ToolCall::new(id, name, strict_arguments(tool, at, cx))
}

fn strict_arguments(tool: &ToolPart, at: usize, cx: &mut Cx<'_>) -> Arguments {
    let text = argument_text(tool, cx.options);
    if text.trim().is_empty() {
        return Arguments::from("{}");
    }
    let arguments = Arguments::from(text);
    match state(tool, &arguments) {
        TextState::Object => arguments,
        TextState::Value => {
            cx.report(Some(at), "turn::non-object-arguments", "arguments are not an object");
            arguments
        }
        TextState::Incomplete | TextState::Invalid => {
            cx.report(Some(at), "turn::invalid-arguments", "arguments are not valid JSON");
            match cx.options.invalid_arguments {
                InvalidArguments::Keep if !is_cut_short(tool) => arguments,
                InvalidArguments::Keep | InvalidArguments::Wrap => {
                    wrap(arguments.text(), cx.options.arguments)
                }
            }
        }
    }
}

/// Whether a call ended before it was run to its end: its arguments are what had come of them.
fn is_cut_short(tool: &ToolPart) -> bool {
    use ToolStatus::{Interrupted, Pending, Running};
    matches!(tool.status, Pending | Running | Interrupted)
}

/// `input` is known to be JSON, so that its first character tells.
fn state(tool: &ToolPart, arguments: &Arguments) -> TextState {
    if tool.input_text.is_some() {
        return arguments.state();
    }
    if arguments.text().starts_with('{') { TextState::Object } else { TextState::Value }
}

fn argument_text(tool: &ToolPart, options: &LowerOptions) -> String {
    if let Some(text) = &tool.input_text {
        return text.clone();
    }
    let mut out = Vec::new();
    match options.arguments {
        ArgumentSpelling::Spaced => msg_json::write_spaced(&mut out, tool.input.text()),
        ArgumentSpelling::Compact => msg_json::write_compact(&mut out, tool.input.text()),
    }
    String::from_utf8(out).expect("tokens of UTF-8 text are UTF-8")
}

fn wrap(text: &str, spelling: ArgumentSpelling) -> Arguments {
    let mut out = match spelling {
        ArgumentSpelling::Spaced => b"{\"_raw\": ".to_vec(),
        ArgumentSpelling::Compact => b"{\"_raw\":".to_vec(),
    };
    msg_json::write_str(&mut out, text);
    out.push(b'}');
    Arguments::from(String::from_utf8(out).expect("an escaped text is UTF-8"))
}
