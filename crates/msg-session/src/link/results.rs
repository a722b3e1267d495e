//! The link rules for the content of messages: unmatched or misplaced results, calls without a result (SE-32 to SE-37),
//! images that are too large (SE-39), contents of the wrong type (SE-38).

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use msg_core::Part;
use serde::Deserialize;

use super::plan::Plan;
use crate::edit::{Kind, Value};
use crate::error::{Finding, SessionPlace};
use crate::link::plan::{BlockKind, Content, Sender};

type Position = (usize, usize);

/// A call and what is known of its result.
struct Call {
    at: Position,
    message: usize,
    /// The result, and whether it must move.
    result: Option<(Position, bool)>,
}

pub(super) fn check(plan: &mut Plan<'_>) {
    let mut calls = Calls::of(plan);
    calls.answer(plan);
    calls.complete(plan);
}

struct Calls {
    list: Vec<(String, Call)>,
    by_id: HashMap<String, usize>,
    first_others: Vec<Option<Position>>,
}

impl Calls {
    /// The remaining calls, by their current ids.
    fn of(plan: &Plan<'_>) -> Self {
        let mut res =
            Self { list: Vec::new(), by_id: HashMap::new(), first_others: first_others(plan) };
        for (sent, it) in plan.sent.iter().enumerate() {
            if it.sender == Sender::User {
                continue;
            }
            let message = plan.message_of(sent);
            for (block, it) in it.blocks().iter().enumerate() {
                if plan.is_dropped((sent, block)) {
                    continue;
                }
                let Some((value, id)) = it.call_id() else { continue };
                let id = plan.id_now(value, &id);
                res.by_id.insert(id.clone(), res.list.len());
                res.list.push((id, Call { at: (sent, block), message, result: None }));
            }
        }
        res
    }

    /// Assigns each result to its call; other results are removed.
    fn answer(&mut self, plan: &mut Plan<'_>) {
        for sent in 0..plan.sent.len() {
            for block in 0..plan.sent[sent].blocks().len() {
                let Some((value, id)) = plan.sent[sent].blocks()[block].result_id() else {
                    continue;
                };
                let id = plan.id_now(value, &id);
                self.take_result(plan, (sent, block), &id);
            }
        }
    }

    fn take_result(&mut self, plan: &mut Plan<'_>, at: Position, id: &str) {
        let after_others = self.is_after_others(plan, at);
        let call = self.by_id.get(id).map(|it| &mut self.list[*it].1);
        let in_answer = plan.sent[at.0].sender == Sender::Assistant;
        let Some(call) = call.filter(|it| !in_answer && it.at < at) else {
            let message = match in_answer {
                true => format!("tool result `{id}` in an answer of the model"),
                false => format!("tool result `{id}` matches no earlier call"),
            };
            return drop(plan, at, "session::orphan-result", message);
        };
        if call.result.is_some() {
            let message = format!("second result of call `{id}`");
            return drop(plan, at, "session::duplicate-result", message);
        }
        let is_after = plan.message_of(at.0) == call.message + 1;
        let is_late =
            plan.rules.finds_late && !is_after || plan.rules.results_first && after_others;
        call.result = Some((at, is_late));
    }

    /// Whether a result comes after other content in its message.
    fn is_after_others(&self, plan: &Plan<'_>, at: Position) -> bool {
        self.first_others[plan.message_of(at.0)].is_some_and(|it| it < at)
    }

    /// Moves late results and inserts an error for each missing one; calls in order.
    fn complete(&self, plan: &mut Plan<'_>) {
        let went_on = plan
            .sent
            .iter()
            .rposition(|it| it.sender == Sender::Assistant || it.says_more_than_results());
        let went_on = went_on.map(|it| plan.message_of(it));
        for (id, call) in &self.list {
            match call.result {
                Some((_, false)) => {}
                Some((at, true)) => late(plan, call, id, at),
                None if went_on > Some(call.message) => unanswered(plan, call, id),
                None => open(plan, call, id),
            }
        }
    }
}

fn drop(plan: &mut Plan<'_>, at: Position, code: &'static str, message: String) {
    plan.drop_block(at);
    let place = plan.sent[at.0].place.with_block(at.1);
    let finding = Finding::error(code, place, message);
    plan.findings.push(finding.mended("remove the result", plan.rules.all));
}

/// The position of the first block of each message that is not a result.
fn first_others(plan: &Plan<'_>) -> Vec<Option<Position>> {
    let first = |message: &Range<usize>| {
        message.clone().find_map(|sent| match &plan.sent[sent].content {
            Content::Text(_) => Some((sent, 0)),
            Content::Blocks(_, it) => {
                it.iter().position(|it| !it.is_result()).map(|block| (sent, block))
            }
            Content::Other(..) | Content::Null(_) | Content::None => None,
        })
    };
    plan.messages.iter().map(first).collect()
}

/// The message about a result after other content or in a later message.
pub(crate) fn late_result(id: &str) -> String {
    format!("the result of call `{id}` is not in the next message")
}

fn late(plan: &mut Plan<'_>, call: &Call, id: &str, at: Position) {
    let block = plan.result_text(at);
    plan.drop_block(at);
    plan.put_result(call.message, block);
    let place = plan.sent[at.0].place.with_block(at.1);
    let finding = Finding::error("session::late-result", place, late_result(id));
    plan.findings
        .push(finding.mended("move the result to the message after its call", plan.rules.all));
}

fn unanswered(plan: &mut Plan<'_>, call: &Call, id: &str) {
    let message = format!("call `{id}` has no result");
    let place = plan.sent[call.at.0].place.with_block(call.at.1);
    let finding = Finding::error("session::unanswered-call", place, message);
    plan.findings.push(finding.mended(INTERRUPTED, plan.rules.all));
    placeholder(plan, call, id);
}

fn open(plan: &mut Plan<'_>, call: &Call, id: &str) {
    let message = format!("the session ends with call `{id}`, which has no result yet");
    let place = plan.sent[call.at.0].place.with_block(call.at.1);
    let finding = Finding::warning("session::open-call", place, message);
    plan.findings.push(finding.mended(INTERRUPTED, plan.rules.all));
    if plan.rules.all {
        placeholder(plan, call, id);
    }
}

const INTERRUPTED: &str = "insert an error result that says the call was interrupted";

fn placeholder(plan: &mut Plan<'_>, call: &Call, id: &str) {
    let value = plan.sent[call.at.0].blocks()[call.at.1].value;
    let block = (plan.rules.placeholder)(&crate::edit::quoted(id), value);
    plan.put_result(call.message, block);
}

// Tools run by the provider's server (SE-141): call and result are in one answer; one without the other is rejected.

pub(super) fn check_server(plan: &mut Plan<'_>) {
    for message in 0..plan.messages.len() {
        if plan.sender(message) == Sender::User {
            continue;
        }
        // The unanswered calls of the answer.
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

// The image limits of providers (SE-39), from `limits.json`, which gives the source of each number.
//
// ```text
// {"providers": ["anthropic"], "side": 8000, "base64": 5242880, "many": 20, "many_side": 2000, "sources": {…}}
// ```

/// The limits of a provider; `None` where no limit is known.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Limits {
    /// Its names, as written by agents.
    providers: Vec<String>,
    /// Maximum pixels per side.
    pub(super) side: Option<u32>,
    /// Maximum bytes of base64.
    pub(super) base64: Option<usize>,
    /// How many images a request may have before the limit for many images applies, and that limit in pixels per side.
    pub(super) many: Option<usize>,
    pub(super) many_side: Option<u32>,
}

static ALL: LazyLock<Vec<Limits>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("limits.json")).expect("because a test reads it")
});

/// The limits of a provider. If it is missing or unknown, those of the first one, which are the strictest.
pub(crate) fn of(provider: Option<&str>) -> &'static Limits {
    let is_meant = |it: &&Limits| it.providers.iter().any(|it| Some(it.as_str()) == provider);
    ALL.iter().find(is_meant).unwrap_or(&ALL[0])
}

// Contents and blocks of a type that the provider does not accept: their values are read, and written in its form
// (SE-38, MS-29).
//
// ```text
// "content":{"type":"text","text":"a"}      ─▶  "content":[{"type":"text","text":"a"}]
// "content":7                               ─▶  "content":"7"
// "content":["a"]                           ─▶  "content":[{"type":"text","text":"a"}]
// ```

/// The type of an unusual content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Odd {
    /// A block where a list of blocks is expected.
    Block,
    /// A number or literal.
    Scalar,
    /// An object that is not a block, or a value in place of the whole message.
    Unknown,
}

/// The part for a value: a block known to `part`, otherwise its text or JSON; `None` for null.
pub(crate) fn read(value: Value<'_>, part: fn(Value<'_>) -> Option<Part>) -> Option<Part> {
    let known = part(value).filter(|it| !matches!(it, Part::Other(_)));
    known.or_else(|| (!value.is_null()).then(|| Part::text(value.plain())))
}

/// [`read`] for an element of a list of blocks: an object of an unknown type is kept unchanged.
pub(crate) fn read_block(value: Value<'_>, part: fn(Value<'_>) -> Option<Part>) -> Option<Part> {
    if value.kind() == Kind::Object { part(value) } else { read(value, part) }
}

/// Checks the types of contents and blocks. Returns whether a content is repaired; its calls and results are checked
/// later, once they are blocks.
pub(super) fn check_shapes(plan: &mut Plan<'_>) -> bool {
    let mut is_mended = false;
    for sent in plan.sent {
        match &sent.content {
            Content::Other(value, odd) => {
                let mend = match odd {
                    Odd::Block => Some(("make it a list of one block", ("[", "]"))),
                    Odd::Scalar => Some(("write it as a text", ("\"", "\""))),
                    Odd::Unknown => None,
                };
                is_mended |= mend.is_some();
                let text = "the content of a message is neither a text nor a list of blocks";
                found(plan, sent.place, *value, text, mend);
            }
            Content::Blocks(_, blocks) => {
                let [of_text, of_scalar] = plan.rules.text_blocks;
                for (n, it) in blocks.iter().enumerate() {
                    let mend = match it.value.kind() {
                        Kind::Object => continue,
                        Kind::String => Some(of_text),
                        Kind::Number | Kind::Bool => Some(of_scalar),
                        _ => None,
                    };
                    let mend = mend.map(|it| ("write it as a text block", it));
                    let text = "an element of a content is not a block";
                    found(plan, sent.place.with_block(n), it.value, text, mend);
                }
            }
            Content::Text(_) | Content::Null(_) | Content::None => {}
        }
    }
    is_mended
}

/// The text before and after a value.
pub(crate) type Around = (&'static str, &'static str);

/// The text that makes a string, and a number or literal, a block in most dialects.
pub(crate) const TEXT_BLOCKS: [Around; 2] =
    [(r#"{"type":"text","text":"#, "}"), (r#"{"type":"text","text":""#, r#""}"#)];

fn found(
    plan: &mut Plan<'_>,
    place: SessionPlace,
    value: Value<'_>,
    text: &'static str,
    mend: Option<(&'static str, Around)>,
) {
    let finding = Finding::error("session::content-type", place, text);
    let Some((fix, around)) = mend else {
        plan.findings.push(finding);
        return;
    };
    plan.findings.push(finding.mended(fix, plan.rules.all));
    plan.surround(value, around);
}
