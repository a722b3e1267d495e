//! Tools that the provider's server runs itself (SE-141): call and result are in one answer, and one without the other
//! is refused.

use std::collections::HashMap;

use super::model::{BlockKind, Sender};
use super::plan::Plan;
use crate::finding::Finding;
use crate::json::Value;

pub(super) fn check(plan: &mut Plan<'_>) {
    for message in 0..plan.messages.len() {
        if plan.sender(message) == Sender::User {
            continue;
        }
        // The calls of the answer that have no result yet.
        let mut open: HashMap<String, (usize, usize)> = HashMap::new();
        let mut halves = Vec::new();
        for sent in plan.messages[message].clone() {
            for (block, it) in plan.sent[sent].blocks().iter().enumerate() {
                match &it.kind {
                    BlockKind::ServerCall(it) => {
                        let id = id_of(*it);
                        halves.extend(open.insert(id, (sent, block)));
                    }
                    BlockKind::ServerResult(it) => {
                        let call = open.remove(&id_of(*it));
                        halves.extend(call.is_none().then_some((sent, block)));
                    }
                    _ => {}
                }
            }
        }
        halves.extend(open.into_values());
        halves.sort_unstable();
        for at in halves {
            let is_call = matches!(plan.sent[at.0].blocks()[at.1].kind, BlockKind::ServerCall(_));
            let message = match is_call {
                true => "a call of a server's tool has no result in its answer",
                false => "a result of a server's tool has no call in its answer",
            };
            plan.drop_block(at);
            let place = plan.sent[at.0].place.with_block(at.1);
            let finding = Finding::error("session::server-tool", place, message);
            plan.findings.push(finding.mended("remove the block", plan.rules.all));
        }
    }
}

fn id_of(id: Option<Value<'_>>) -> String {
    id.and_then(|it| it.text()).unwrap_or_default().into_owned()
}
