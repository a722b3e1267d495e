//! Thinking that goes on request: what a provider's message refuses, or all of it (SE-45). Signatures
//! cannot be checked here.

use crate::finding::Finding;
use crate::link::{BlockKind, Plan};
use crate::options::RepairOptions;
use crate::provider_error::ProviderError;

pub(super) fn check(plan: &mut Plan<'_>, options: &RepairOptions) {
    if options.drop_thinking {
        let message = "thinking block, to be removed on request";
        for at in 0..plan.messages.len() {
            drop(plan, at, "session::dropped-thinking", message);
        }
    }
    let refused = options.error.as_deref().map(ProviderError::read);
    let refused = refused.filter(|it| it.is_about_thinking).and_then(|it| it.message);
    let numbers = refused.map(|it| (it, plan.numbers()));
    for (at, _) in numbers
        .iter()
        .flat_map(|(wanted, numbers)| numbers.iter().enumerate().filter(move |it| it.1 == wanted))
    {
        let message = "the provider refuses this thought; it may then ask for thinking in the last \
                       message: resume once with thinking off";
        drop(plan, at, "session::refused-thinking", message);
    }
}

fn drop(plan: &mut Plan<'_>, message: usize, code: &'static str, text: &'static str) {
    for sent in plan.messages[message].clone() {
        for block in 0..plan.sent[sent].blocks().len() {
            let kind = &plan.sent[sent].blocks()[block].kind;
            if plan.is_dropped((sent, block)) || !matches!(kind, BlockKind::Thinking { .. }) {
                continue;
            }
            plan.drop_block((sent, block));
            let place = plan.sent[sent].place.with_block(block);
            let finding = Finding::error(code, place, text);
            plan.findings.push(finding.mended("remove the thinking block", true));
        }
    }
}
