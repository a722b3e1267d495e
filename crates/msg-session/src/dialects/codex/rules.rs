//! The rules between the items of a Codex session (SE-30 to SE-35, SE-52 to SE-54). Codex mends some of it
//! itself at each request, so an unanswered call is a warning here.

use std::collections::{HashMap, HashSet};

use crate::dialects::codex::Path;
use crate::dialects::codex::{Family, Item, Kind};
use crate::edit::Edit;
use crate::finding::Finding;
use crate::json::{Kind as JsonKind, quoted};
use crate::options::SessionOptions;

/// What is to be done with the items.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) findings: Vec<Finding>,
    /// New ids.
    pub(super) edits: Vec<Edit>,
    /// Items that go, by index.
    pub(super) dropped: Vec<bool>,
    /// Calls that get an output after them, with its JSON.
    pub(super) outputs: Vec<(usize, String)>,
}

pub(super) fn check(path: &Path<'_>, options: &SessionOptions) -> Plan {
    let mut plan = Plan { dropped: vec![false; path.items.len()], ..Plan::default() };
    if options.drop_encrypted {
        encrypted(path, &mut plan);
    }
    let mut links = Links::of(path);
    for at in 0..path.items.len() {
        if !plan.dropped[at] {
            links.item(&path.items[at], at, &mut plan);
        }
    }
    links.unanswered(path, options.all, &mut plan);
    reasoning(path, &mut plan);
    reasoning_content(path, &mut plan);
    plan
}

fn encrypted(path: &Path<'_>, plan: &mut Plan) {
    for (at, item) in path.items.iter().enumerate().filter(|it| it.1.is_encrypted()) {
        let message = "an item that only its own account can decrypt";
        plan.drop(item, at, "session::foreign-encrypted", message);
    }
}

impl Plan {
    fn drop(
        &mut self,
        item: &Item<'_>,
        at: usize,
        code: &'static str,
        message: impl Into<std::borrow::Cow<'static, str>>,
    ) {
        self.dropped[at] = true;
        let finding = Finding::error(code, item.place, message);
        self.findings.push(finding.mended("remove the item", false));
    }
}

/// A call that came.
struct Call {
    at: usize,
    /// The id that it has by now.
    id: String,
    family: Family,
    is_answered: bool,
}

struct Links {
    calls: Vec<Call>,
    /// The last call of each id that is in the file.
    by_id: HashMap<String, usize>,
    used: HashSet<String>,
    numbers: HashMap<String, usize>,
}

impl Links {
    fn of(path: &Path<'_>) -> Self {
        let used = path.items.iter().filter_map(|it| it.call_id()).map(|it| it.1.into_owned());
        Self {
            calls: Vec::new(),
            by_id: HashMap::new(),
            used: used.collect(),
            numbers: HashMap::new(),
        }
    }

    fn item(&mut self, item: &Item<'_>, at: usize, plan: &mut Plan) {
        match item.kind {
            Kind::Call(family) => self.call(item, at, family, plan),
            Kind::Output(family) => self.output(item, at, family, plan),
            _ => {}
        }
    }

    fn call(&mut self, item: &Item<'_>, at: usize, family: Family, plan: &mut Plan) {
        let Some((value, id)) = item.call_id() else { return };
        let mut now = id.clone().into_owned();
        if let Some(before) = self.by_id.get(&*id) {
            if !self.calls[*before].is_answered {
                let message = format!("duplicate call `{id}` before its output");
                return plan.drop(item, at, "session::duplicate-call", message);
            }
            now = self.free(&id);
            plan.edits.push(Edit::replace(value.span(), quoted(&now)));
            let message = format!("call id `{id}` is already used by an earlier call");
            let finding = Finding::error("session::reused-call-id", item.place, message);
            let fix = format!("rename this call and its output to `{now}`");
            plan.findings.push(finding.mended(fix, false));
        }
        self.by_id.insert(id.into_owned(), self.calls.len());
        self.calls.push(Call { at, id: now, family, is_answered: false });
    }

    fn output(&mut self, item: &Item<'_>, at: usize, family: Family, plan: &mut Plan) {
        let Some((value, id)) = item.call_id() else { return };
        let call = self.by_id.get(&*id).map(|it| &mut self.calls[*it]);
        let Some(call) = call.filter(|it| it.family == family) else {
            let message = format!("output `{id}` matches no earlier call");
            return plan.drop(item, at, "session::orphan-result", message);
        };
        if call.is_answered {
            let message = format!("second output of call `{id}`");
            return plan.drop(item, at, "session::duplicate-result", message);
        }
        call.is_answered = true;
        if call.id != *id {
            plan.edits.push(Edit::replace(value.span(), quoted(&call.id)));
        }
    }

    fn free(&mut self, id: &str) -> String {
        let number = self.numbers.entry(id.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let res = format!("{id}_{number}");
            if self.used.insert(res.clone()) {
                return res;
            }
        }
    }

    fn unanswered(&self, path: &Path<'_>, all: bool, plan: &mut Plan) {
        for call in self.calls.iter().filter(|it| !it.is_answered) {
            let message = format!("call `{}` has no output", call.id);
            let place = path.items[call.at].place;
            let finding = Finding::warning("session::unanswered-call", place, message);
            plan.findings
                .push(finding.mended("insert an output that says the call was aborted", all));
            if all {
                let (kind, id) = (call.family.output(), quoted(&call.id));
                let json = format!(r#"{{"type":"{kind}","call_id":{id},"output":"aborted"}}"#);
                plan.outputs.push((call.at, json));
            }
        }
    }
}

/// Reasoning that another provider wrote out is refused (SE-132).
fn reasoning_content(path: &Path<'_>, plan: &mut Plan) {
    for (at, item) in path.items.iter().enumerate() {
        if item.kind != Kind::Reasoning || plan.dropped[at] {
            continue;
        }
        let content = item.object.get("content").filter(|it| it.kind() == JsonKind::Array);
        let Some(content) = content.filter(|it| it.array().is_some_and(|it| !it.is_empty())) else {
            continue;
        };
        let message = "reasoning in plain text, which the API refuses";
        let finding = Finding::error("session::reasoning-content", item.place, message);
        plan.findings.push(finding.mended("remove the content", false));
        plan.edits.push(Edit::replace(content.span(), "null"));
    }
}

/// Reasoning must be followed by what was thought about (SE-53): an answer or a call before the next user
/// message or output.
fn reasoning(path: &Path<'_>, plan: &mut Plan) {
    let mut is_followed = false;
    for at in (0..path.items.len()).rev() {
        if plan.dropped[at] {
            continue;
        }
        match path.items[at].kind {
            Kind::AssistantMessage | Kind::Call(_) | Kind::ServerCall => is_followed = true,
            Kind::UserMessage | Kind::Context | Kind::Summary | Kind::Output(_) => {
                is_followed = false;
            }
            Kind::Reasoning if !is_followed => {
                let message = "reasoning without the item that must follow it";
                plan.drop(&path.items[at], at, "session::orphan-reasoning", message);
            }
            _ => {}
        }
    }
}
