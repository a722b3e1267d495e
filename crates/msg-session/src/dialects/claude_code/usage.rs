//! What the responses of a Claude Code session cost: each counted once (SE-40). A response is there
//! as several records, and the largest count of output is the true one.

use std::collections::BTreeMap;

use msg_core::Usage;

use super::node::{Kind, Nodes};

pub(super) fn of(nodes: &Nodes<'_>) -> Usage {
    let mut responses: BTreeMap<(String, String), Usage> = BTreeMap::new();
    for (at, node) in nodes.list.iter().enumerate() {
        if node.kind != Kind::Assistant || node.is_api_error {
            continue;
        }
        let Some((key, usage)) = response(nodes, at) else { continue };
        let known = responses.entry(key).or_default();
        if usage.output >= known.output {
            *known = usage;
        }
    }
    responses.into_values().fold(Usage::default(), super::super::add_usage)
}

fn response(nodes: &Nodes<'_>, at: usize) -> Option<((String, String), Usage)> {
    let message = nodes.message(at)?;
    let usage = Usage::from_raw(message.get("usage")?.raw_json());
    let id = message.text("id").map(Into::into).unwrap_or_else(|| format!("record {at}"));
    let request = nodes.lines.object(at)?.text("requestId").map(Into::into).unwrap_or_default();
    Some(((id, request), usage))
}
