//! Messages that say nothing, and a conversation without its start (SE-38, SE-39).

use super::model::{BlockKind, Content, Sender};
use super::plan::Plan;
use crate::finding::{Case, Finding};
use crate::json::Value;

const NO_CONTENT: &str = "(no content)";

pub(super) fn check(plan: &mut Plan<'_>) {
    for sent in 0..plan.sent.len() {
        match &plan.sent[sent].content {
            Content::Text(value) => check_text(plan, sent, *value),
            Content::Blocks(list, blocks) if blocks.is_empty() => empty_message(plan, sent, *list),
            Content::Blocks(_, blocks) => {
                for (block, it) in blocks.iter().enumerate() {
                    match it.kind {
                        BlockKind::Text(text) => check_block(plan, (sent, block), text),
                        BlockKind::Thinking { emptied: true } => emptied(plan, (sent, block)),
                        _ => {}
                    }
                }
            }
            Content::Null(value) => no_content(plan, sent, *value),
            Content::None => {}
        }
    }
}

fn check_text(plan: &mut Plan<'_>, sent: usize, value: Value<'_>) {
    let Some(finding) = finding(plan, sent, None, value) else { return };
    if finding.done {
        plan.replace(value.span(), format!("\"{NO_CONTENT}\""));
    }
    plan.findings.push(finding);
}

fn check_block(plan: &mut Plan<'_>, at: (usize, usize), text: Value<'_>) {
    if plan.is_dropped(at) {
        return;
    }
    let Some(finding) = finding(plan, at.0, Some(at.1), text) else { return };
    if finding.done {
        if plan.len_now(at.0) > 1 {
            plan.drop_block(at);
        } else {
            plan.replace(text.span(), format!("\"{NO_CONTENT}\""));
        }
    }
    plan.findings.push(finding);
}

fn finding(plan: &Plan<'_>, sent: usize, block: Option<usize>, text: Value<'_>) -> Option<Finding> {
    let text = text.text()?;
    if !text.trim().is_empty() {
        return None;
    }
    let mut place = plan.sent[sent].place;
    if let Some(block) = block {
        place = place.with_block(block);
    }
    let is_of_user = plan.sent[sent].sender == Sender::User;
    let finding = match text.is_empty() {
        true => Finding::error("session::empty-text", place, "a text is empty"),
        false if is_of_user && plan.rules.blank_is_refused => {
            let message = "a text of the user is white space only";
            Finding::error("session::blank-text", place, message)
        }
        false => Finding::warning("session::blank-text", place, "a text is white space only"),
    };
    let finding = finding.in_case(match (is_of_user, plan.len_now(sent) > 1) {
        (true, _) => Case::OfUser,
        (false, true) => Case::BesideOthers,
        (false, false) => Case::Alone,
    });
    let fix = "remove the text, or write `(no content)` if nothing else is left";
    Some(finding.mended(fix, plan.rules.all))
}

fn empty_message(plan: &mut Plan<'_>, sent: usize, list: Value<'_>) {
    if plan.len_now(sent) == 0 {
        no_content(plan, sent, list);
    }
}

/// Content that is an empty list, or none.
fn no_content(plan: &mut Plan<'_>, sent: usize, list: Value<'_>) {
    let case = if list.is_null() { Case::Null } else { Case::Alone };
    plan.replace(list.span(), format!(r#"[{{"type":"text","text":"{NO_CONTENT}"}}]"#));
    let place = plan.sent[sent].place;
    let finding = Finding::error("session::empty-message", place, "a message has no content");
    let finding = finding.in_case(case);
    plan.findings.push(finding.mended("insert the text `(no content)`", plan.rules.all));
}

fn emptied(plan: &mut Plan<'_>, at: (usize, usize)) {
    let place = plan.sent[at.0].place.with_block(at.1);
    let message = "a thought has a signature and no text; if the provider refuses it, give its message with --error";
    plan.findings.push(Finding::info("session::emptied-thinking", place, message));
}

/// The path must begin with a user (SE-39); checked on what is left.
pub(super) fn check_first(plan: &mut Plan<'_>) {
    if !plan.rules.starts_with_user {
        return;
    }
    let first = (0..plan.sent.len()).find(|it| !plan.is_gone(*it));
    let Some(first) = first.filter(|it| plan.sent[*it].sender == Sender::Assistant) else { return };
    plan.missing_start = Some(first);
    let message = "the conversation begins with an answer of the model";
    let place = plan.sent[first].place;
    let finding = Finding::error("session::first-not-user", place, message);
    plan.findings.push(finding.mended("insert a text of the user before it", plan.rules.all));
}
