//! The operations of `msg ast --ops` (CA-93): edits of the tree, from JSON.

use std::fmt::Write as _;

use msg_chainast::{BodyPair, ChainAst, ChainSection, IdPattern};
use msg_core::{Code, Diagnostic, Message, ToolResult};
use msg_document::Refusal;
use serde::{Deserialize, Serialize};

use crate::render::plural;

/// One operation of a document's `ops`.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Op {
    AddToolResult {
        id: String,
        #[serde(default)]
        name: String,
        content: String,
    },
    AppendUser {
        content: String,
    },
    Find {
        id: String,
    },
    NormalizeIds {
        pattern: String,
    },
    ClearReasoning {},
    SanitizeArguments {},
}

/// What an operation did.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    op: &'static str,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Found>>,
}

#[derive(Debug, Serialize)]
struct Found {
    tool_call_id: String,
    name: String,
    content: String,
}

/// The document's operations; its other members are the conversation's.
#[derive(Deserialize)]
struct Ops {
    #[serde(default)]
    ops: Vec<Op>,
}

/// Reads the `ops` of a document.
pub(super) fn read(json: &[u8]) -> Result<Vec<Op>, Refusal> {
    let ops = match json.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice::<Ops>(json).map(|it| it.ops),
        _ => Err(serde::de::Error::custom("expected an object with messages and ops")),
    };
    ops.map_err(|error| {
        let text = format!("not a document with ops: {error}");
        let code = Code::new("cli::bad-ops");
        Diagnostic::error(code, text).at_line(error.line().max(1), error.column().max(1)).into()
    })
}

/// Applies the operations in order; one that fails changes nothing.
pub(super) fn apply(chain: &mut ChainAst, ops: &[Op]) -> Vec<Step> {
    // One source for all steps, so that no two of them mint the same id.
    let mut ids = msg_document::Document::ids();
    let mut one = |op: &Op| {
        let (mut error, mut results) = (None, None);
        let name = match op {
            Op::AddToolResult { id, name, content } => {
                let added = chain.add_tool_result(id, name, content.as_str());
                error = added.err().map(|it| it.to_string());
                "add_tool_result"
            }
            Op::AppendUser { content } => {
                chain.append_user(content.as_str());
                "append_user"
            }
            Op::Find { id } => {
                results = Some(chain.find_tool_results(id).map(found).collect());
                "find"
            }
            Op::NormalizeIds { pattern } => {
                match pattern.parse::<IdPattern>() {
                    Ok(pattern) => drop(chain.normalize_tool_call_ids(&pattern, &mut ids)),
                    Err(it) => error = Some(it.to_string()),
                }
                "normalize_ids"
            }
            Op::ClearReasoning {} => {
                chain.clear_reasoning();
                "clear_reasoning"
            }
            Op::SanitizeArguments {} => {
                chain.sanitize_arguments();
                "sanitize_arguments"
            }
        };
        Step { op: name, size: chain.size(), error, results }
    };
    ops.iter().map(&mut one).collect()
}

fn found(it: &ToolResult) -> Found {
    Found {
        tool_call_id: it.call_id.clone(),
        name: it.name.clone().unwrap_or_default(),
        content: it.content.said().into_owned(),
    }
}

// The tree for people: a line a header message and a body pair.

/// How many characters of a message are shown.
const WIDTH: usize = 60;

/// The drawing, with a head line.
pub(super) fn draw(chain: &ChainAst, leading: usize, name: &str) -> String {
    let (messages, sections) = (chain.messages().len(), chain.sections().len());
    let mut res = format!(
        "{name}: {}, {}, {} bytes\n",
        plural(messages, "message"),
        plural(sections, "section"),
        chain.size()
    );
    if leading > 0 {
        let _ = writeln!(res, "before the sections: {}", plural(leading, "message"));
    }
    for (number, it) in chain.sections().iter().enumerate() {
        section(number, it, &mut res);
    }
    res
}

fn section(number: usize, it: &ChainSection, res: &mut String) {
    let _ = writeln!(res, "section {number}  {} bytes", it.size());
    let header = it.header().messages().map(header_line);
    let lines: Vec<_> = header.chain(it.body().iter().map(pair_line)).collect();
    for (n, line) in lines.iter().enumerate() {
        let branch = if n + 1 == lines.len() { "└─" } else { "├─" };
        let _ = writeln!(res, "{branch} {line}");
    }
}

fn header_line(it: &Message) -> String {
    format!("{:<18}{:>8}  {}", it.role.to_string(), it.size(), it.preview(WIDTH))
}

fn pair_line(it: &BodyPair) -> String {
    let mut res =
        format!("{:<18}{:>8}  {}", it.kind().to_string(), it.size(), it.assistant().preview(WIDTH));
    let info = it.tool_calls_info();
    if !info.pending.is_empty() {
        let _ = write!(res, "  [{} unanswered]", plural(info.pending.len(), "call"));
    }
    res
}
