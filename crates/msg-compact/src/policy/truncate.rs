//! `truncate-tool-output` (CP-33): head and tail of long outputs.

use std::collections::BTreeMap;

use msg_core::{Part, ToolResult};
use serde::{Deserialize, Serialize};

use super::{Policy, Progress};
use crate::{
    outcome::EditKind,
    state::{ChainState, Replacement, ToolOutput},
    text::{MIN_CAP, truncate_output},
};

/// Cuts long tool outputs to their head and tail (CP-33).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TruncateToolOutput {
    /// Bytes that an output may have, 64 at least; none: only the tools named below are cut.
    pub max_bytes: Option<u64>,
    /// Share of the room that the head gets.
    pub head_percent: u64,
    /// Bytes for the outputs of single tools; `*` for all others.
    pub tools: BTreeMap<String, u64>,
    /// Whether the last pair may be cut too.
    pub include_last: bool,
}

impl Default for TruncateToolOutput {
    fn default() -> Self {
        Self {
            max_bytes: Some(8192),
            head_percent: 50,
            tools: BTreeMap::new(),
            include_last: false,
        }
    }
}

impl Policy for TruncateToolOutput {
    fn name(&self) -> &'static str {
        "truncate-tool-output"
    }

    fn config(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn step(&self, _at: u32, chain: &mut ChainState<'_>) -> Progress {
        let outputs = chain.outputs();
        for group in outputs.chunk_by(ToolOutput::same_message) {
            let texts: Vec<_> = group
                .iter()
                .filter_map(|it| self.shortened(chain, it).map(|text| (it.part, text)))
                .map(|(part, text)| (part, chain.replacement(text)))
                .collect();
            if !texts.is_empty() {
                self.cut(chain, &group[0], &texts);
            }
        }
        Progress::Done
    }

    fn lowers_floor(&self) -> bool {
        self.include_last
    }
}

impl TruncateToolOutput {
    fn cut(&self, chain: &mut ChainState<'_>, at: &ToolOutput, texts: &[(usize, Replacement)]) {
        let texts: Vec<_> = texts.iter().map(|(part, text)| (*part, text)).collect();
        if chain.set_outputs(at, &texts, self.include_last) {
            let tool = chain.tool_of(at).into();
            chain.note(chain.input_of(at), EditKind::Truncated { tool });
        }
    }

    fn shortened(&self, chain: &ChainState<'_>, at: &ToolOutput) -> Option<String> {
        let cap = self.cap(chain.tool_of(at))?;
        let text = match chain.output_text(at) {
            Some(text) => text,
            None => only_text(chain.output(at)?)?,
        };
        (text.len() > cap)
            .then(|| truncate_output(&text, cap, usize::try_from(self.head_percent).unwrap_or(100)))
    }

    fn cap(&self, tool: &str) -> Option<usize> {
        let named = self.tools.get(tool).or_else(|| self.tools.get("*")).copied();
        let cap = named.or(self.max_bytes)?;
        Some(usize::try_from(cap).unwrap_or(usize::MAX).max(MIN_CAP))
    }
}

/// The joined text of a result that has nothing but text.
fn only_text(result: &ToolResult) -> Option<std::borrow::Cow<'_, str>> {
    let all_text = result.content.parts().iter().all(|it| matches!(it, Part::Text(_)));
    all_text.then(|| result.content.text())
}
