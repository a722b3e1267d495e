//! Claude Code: JSON lines that form a tree (SE-43 to SE-47, SE-123 to SE-129).
//!
//! ```text
//! {"uuid":"u1","parentUuid":null,"type":"user","message":{"role":"user","content":"list"},…}
//! {"uuid":"u2","parentUuid":"u1","type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use",…}]},…}
//! {"type":"summary","summary":"…","leafUuid":"u2"}
//! ```
//!
//! One record a block: records of one `message.id` are one message.

mod mend;
mod node;
mod path;
mod tree;
mod usage;

use super::{Format, LineRules, Mends};
use crate::Error;
use crate::edit::{Edit, set_member};
use crate::excerpt::spelled;
use crate::finding::Finding;
use crate::frame::Lines;
use crate::link::{Plan, Rules, limits};
use crate::options::RepairOptions;
use crate::parts::anthropic;
use crate::surrogate::{self, Halves};
use crate::view::{View, maker, messages};

use mend::Mend;
use node::Nodes;

/// The dialect.
pub(crate) struct ClaudeCode;

impl Format for ClaudeCode {
    fn line_rules(&self, _: &str, _: &[u8]) -> Option<&dyn LineRules> {
        Some(self)
    }
}

impl LineRules for ClaudeCode {
    fn view_lines(&self, lines: &Lines<'_>, options: &RepairOptions) -> Result<View, Error> {
        view(&Nodes::of(lines), options)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        _: &str,
        options: &RepairOptions,
    ) -> Result<Mends, Error> {
        let nodes = Nodes::of(lines);
        let tree = tree::read(&nodes, options.all);
        let leaf = super::checked_leaf(options, tree.leaf(&nodes, options.leaf.as_deref()))?;
        let path = path::read(&nodes, &tree, leaf);
        let rules = Rules { has_marks: lines.has_marks(), ..rules(options) };
        let mut plan = crate::link::check(&path.sent, &rules);
        tree::check(&mut plan, options);
        crate::link::check_content(&mut plan);
        Ok(finish(&nodes, &tree, &path, plan, options))
    }
}

fn view(nodes: &Nodes<'_>, options: &RepairOptions) -> Result<View, Error> {
    let mut tree = tree::read(nodes, false);
    let leaf = super::checked_leaf(options, tree.leaf(nodes, options.leaf.as_deref()))?;
    let path = path::read(nodes, &tree, leaf);
    let mut view = View { usage: usage::of(nodes), ..View::default() };
    messages(&mut view, &path.sent, true, anthropic::part);
    view.note_makers(|at| maker(nodes.message(at).and_then(|it| it.text("model")), None));
    view.branches = tree::of(nodes, &tree, &path.records);
    view.findings.clone_from(&nodes.lines.findings);
    view.findings.append(&mut tree.findings);
    Ok(view)
}

fn rules(options: &RepairOptions) -> Rules {
    Rules {
        joins_answers: true,
        results_first: false,
        finds_late: true,
        starts_with_user: true,
        blank_is_refused: true,
        renamed: '-',
        all: options.all,
        has_marks: false,
        limits: limits::of(None),
        placeholder: anthropic::placeholder,
        media: anthropic::media,
    }
}

fn finish(
    nodes: &Nodes<'_>,
    tree: &tree::Tree<'_>,
    path: &path::Path<'_>,
    mut plan: Plan<'_>,
    options: &RepairOptions,
) -> Mends {
    let chains = mend::chains_gathered(&plan, path, options.all);
    // There may be as many as records, so that these are taken and the others added.
    let mut findings = std::mem::take(&mut plan.findings);
    if mend::start_of(&plan, path, nodes).is_none() {
        let starts = findings.iter_mut().filter(|it| it.code == "session::first-not-user");
        starts.for_each(|it| (it.fix, it.done) = (None, false));
    }
    findings.extend_from_slice(&nodes.lines.findings);
    findings.extend_from_slice(&tree.findings);
    findings.extend(tree::unknown_records(nodes));
    findings.extend(split_results(nodes, path, chains));
    findings.extend(path.lost_replies.iter().map(|it| lost_reply(nodes, it)));
    findings.extend(node::check(nodes, tree, &path.records));
    let time = missing_time(nodes, path);
    findings.extend(time.as_ref().map(|it| it.0.clone()));
    let mut edits = plan.take_edits();
    for it in plan.sent {
        let found = surrogates(nodes, it.record);
        findings.extend(super::lone_surrogates(it.place, found.count));
        edits.extend(found.edits);
    }
    if options.all {
        edits.extend(tree.duplicates.iter().map(|it| nodes.lines.remove(*it as usize)));
        edits.extend(tree.lost_logical.iter().filter_map(|it| {
            let value = nodes.logical_parent(it.0 as usize)?;
            Some(Edit::replace(value.span(), nodes.uuid(it.1 as usize)?))
        }));
    }
    let mut mend = Mend::new(nodes);
    mend.links_of(tree, options.all);
    mend.plan(&mut plan, path, chains);
    mend.write(tree, &mut edits);
    edits.extend(node::mend(nodes, tree, &path.records, |it| mend.removes(it)));
    edits.extend(time.and_then(|it| it.1));
    let left = mend.records_left();
    Mends::new(nodes.list.len(), left, findings, edits)
}

fn surrogates(nodes: &Nodes<'_>, record: usize) -> Halves {
    let has_marks = nodes.lines.has_marks();
    let found = nodes.said(record).map(|it| surrogate::mend(it, has_marks));
    found.unwrap_or_default()
}

fn lost_reply(nodes: &Nodes<'_>, reply: &path::LostReply) -> Finding {
    let message = "an answer that Claude Code does not send: a note of the program follows its question instead";
    let finding = Finding::error("session::lost-reply", nodes.lines.place(reply.first), message);
    finding.mended("link the note to the answer", false)
}

/// A last record without a time, and the edit that gives it that of a record before it.
fn missing_time(nodes: &Nodes<'_>, path: &path::Path<'_>) -> Option<(Finding, Option<Edit>)> {
    let leaf = *path.records.last()?;
    if nodes.time(leaf).is_some() {
        return None;
    }
    let message =
        "the last message has no timestamp, without which Claude Code does not find the session";
    let finding = Finding::error("session::missing-time", nodes.lines.place(leaf), message);
    let before = (0..leaf).rev().find_map(|it| nodes.time(it));
    Some(match (before, nodes.lines.object(leaf)) {
        (Some(time), Some(record)) => (
            finding.mended("set the time of the record before it", false),
            Some(set_member(&record, "timestamp", spelled(time.source))),
        ),
        _ => (finding, None),
    })
}

fn split_results(nodes: &Nodes<'_>, path: &path::Path<'_>, chains: bool) -> Vec<Finding> {
    let message = "result of a parallel call is beside the path of the session";
    path.gathered
        .iter()
        .map(|(record, _)| {
            let place = nodes.lines.place(*record);
            Finding::warning("session::split-results", place, message)
                .mended("link it into the path", chains)
        })
        .collect()
}
