//! Results whose calls may be in parts that were not understood. They may not be orphans, so a repair keeps them
//! (RG-12).
//!
//! ```text
//! assistant  text · {"type":"super_call","ref":"c1"}     a part that is not read, and that names the result
//! tool       c1: 22                                      the call of the result `c1` is not understood
//! ```
//!
//! Only for results without a call in the chain. Linear in the parts that were not understood.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use memchr::{memchr2, memmem};
use msg_core::{Code, Diagnostic, Extra, Message, Origin, Other, PairSide, Part, RawJson, Role};
use msg_xml::{Dialects, ParseOptions, parse};
use serde_json::Value;

use super::foreign_parts::NOT_UNDERSTOOD;

/// The place of a message, or of a part in it.
type Spot = (usize, Option<usize>);

/// A result that the chain rules report as an orphan, or as the second one of its call.
struct Orphan<'m> {
    message: usize,
    part: Option<usize>,
    id: &'m str,
    /// The message with the other result of the call.
    other: Option<usize>,
}

impl Orphan<'_> {
    /// Whether the content at `at` may be its call. Of two results with one id, the call of the second must be between
    /// them.
    fn is_near(&self, at: &Spot) -> bool {
        self.other.is_none_or(|it| (self.message.min(it)..self.message.max(it)).contains(&at.0))
    }
}

/// Whether a finding says that a result has no call of its own.
pub(crate) fn is_orphan(it: &Diagnostic) -> bool {
    const CODES: [&str; 2] = ["chain::duplicate-tool-result", "chain::orphan-tool-result"];
    it.is_error() && CODES.contains(&it.code.as_str())
}

/// Whether there may be a result without a call of its own. Quick for most documents, which have none.
pub(crate) fn may_have_orphans(messages: &[Message]) -> bool {
    !are_answered_in_turn(messages) && has_more_results(messages)
}

/// Whether each result follows its call without another assistant message between them, as in nearly all documents.
fn are_answered_in_turn(messages: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    messages.iter().all(|message| {
        if message.role == Role::Assistant {
            open.clear();
        }
        message.parts.iter().all(|part| match part {
            Part::ToolCall(it) if message.role == Role::Assistant => {
                open.push(&it.id);
                open.len() <= FEW
            }
            Part::ToolResult(it) => {
                let call = open.iter().position(|id| *id == it.call_id);
                call.map(|it| open.swap_remove(it)).is_some()
            }
            _ => true,
        })
    })
}

/// Up to this many open calls are searched linearly.
const FEW: usize = 8;

/// Whether some id has a result before its call, or more results than calls.
fn has_more_results(messages: &[Message]) -> bool {
    let mut open: HashMap<&str, usize> = HashMap::new();
    messages.iter().flat_map(|it| it.parts.iter().map(move |part| (&it.role, part))).any(
        |(role, part)| match part {
            Part::ToolCall(it) => {
                if *role == Role::Assistant {
                    *open.entry(&it.id).or_default() += 1;
                }
                false
            }
            Part::ToolResult(it) => match open.get_mut(it.call_id.as_str()) {
                Some(n @ 1..) => {
                    *n -= 1;
                    false
                }
                _ => true,
            },
            _ => false,
        },
    )
}

/// Whether a message of another role than the assistant has calls, or the model wrote one into a text.
pub(crate) fn has_other_calls(messages: &[Message]) -> bool {
    messages.iter().any(|it| match &it.role {
        Role::Assistant => it.parts.iter().filter_map(Part::as_text).any(has_text_call),
        role => is_of_another(role) && it.tool_calls().next().is_some(),
    })
}

/// Whether a role is known and not the assistant. Messages of unknown roles are not kept, nor are their calls (CA-14).
fn is_of_another(role: &Role) -> bool {
    !matches!(role, Role::Assistant | Role::Other(_))
}

/// Findings for results whose calls are, or may be, in unread content. `found` are the findings of the chain rules,
/// `unread` those about unread parts. Calls in a wrong place of the native form are read and reported elsewhere
/// (MS-18).
pub(crate) fn unread_calls(
    (messages, is_native): (&[Message], bool),
    unread: &[Diagnostic],
    found: &[Diagnostic],
) -> Vec<Diagnostic> {
    let orphans: Vec<_> = found.iter().filter_map(|it| orphan(messages, it)).collect();
    if orphans.is_empty() {
        return Vec::new();
    }
    let seen = Unread::of(messages, unread, &orphans);
    let part = |at: &Spot| messages.get(at.0)?.parts.get(at.1?);
    let said = |orphan: &Orphan<'_>| {
        let named =
            seen.named.get(orphan.id).and_then(|it| it.iter().find(|it| orphan.is_near(it)));
        let at = named.or_else(|| seen.before(orphan))?;
        if is_native && matches!(part(at), Some(Part::ToolCall(_))) {
            return None;
        }
        let place = match (named, part(at)) {
            (Some(_), _) => "is not understood in",
            (None, Some(Part::Text(_))) => "may be in a text of",
            (None, _) => "may be in what is not read of",
        };
        let result = match orphan.id {
            "" => "a result".to_owned(),
            id => format!("the result `{id}`"),
        };
        let text = format!("the call of {result} {place} message {}", at.0);
        let mut res = Diagnostic::error(Code::new(NOT_UNDERSTOOD), text).at_message(orphan.message);
        (res.at.part, res.at.tool_call_id) = (orphan.part, Some(orphan.id.to_owned()));
        res.at.other_message = Some(at.0);
        Some(res)
    };
    orphans.iter().filter_map(said).collect()
}

/// Removes the orphan findings of results for which `unread` says that their calls were not understood.
pub(crate) fn remove_orphans(found: &mut Vec<Diagnostic>, unread: &[Diagnostic]) {
    let of = |it: &Diagnostic| (it.at.message, it.at.tool_call_id.clone());
    let results: HashSet<_> = unread.iter().map(of).collect();
    found.retain(|it| !is_orphan(it) || !results.contains(&of(it)));
}

fn orphan<'m>(messages: &'m [Message], it: &Diagnostic) -> Option<Orphan<'m>> {
    let message = it.at.message.filter(|_| is_orphan(it))?;
    let Part::ToolResult(result) = messages.get(message)?.parts.get(it.at.part?)? else {
        return None;
    };
    Some(Orphan { message, part: it.at.part, id: &result.call_id, other: it.at.other_message })
}

/// The unread content of a document.
#[derive(Default)]
struct Unread<'m> {
    /// The places that contain the id of an orphan, by id, in order.
    named: HashMap<&'m str, Vec<Spot>>,
    /// The places that may hold a call of any orphan, in order.
    loose: Vec<Spot>,
    /// For each message, the last user message before it.
    turns: Vec<Option<usize>>,
    /// The first item that contains earlier messages in encrypted form.
    sealed: Option<Spot>,
}

impl<'m> Unread<'m> {
    fn of(messages: &'m [Message], unread: &[Diagnostic], orphans: &[Orphan<'m>]) -> Self {
        const UNREAD: [&str; 3] =
            ["message::foreign-part", NOT_UNDERSTOOD, "message::unknown-part"];
        // User content is not a call unless it contains the id.
        let is_of_user = |at: usize| messages.get(at).is_some_and(|it| it.role == Role::User);
        let told = unread.iter().filter(|it| UNREAD.contains(&it.code.as_str()));
        let loose = told.filter_map(|it| Some((it.at.message?, it.at.part)));
        let loose = loose.filter(|it| !is_of_user(it.0)).collect();
        let mut res = Unread { loose, ..Unread::default() };
        let wanted: HashSet<&str> =
            orphans.iter().map(|it| it.id).filter(|it| !it.is_empty()).collect();
        let mut turn = None;
        for (at, message) in messages.iter().enumerate() {
            res.turns.push(turn);
            turn = if message.role == Role::User { Some(at) } else { turn };
            let own: HashSet<&str> = message.tool_results().map(|it| &*it.call_id).collect();
            for (_, name, value) in message.extra.all() {
                if is_of_calls(name, value) {
                    res.loose.push((at, None));
                }
                res.name((at, None), value, &wanted, &own);
            }
            for (n, part) in message.parts.iter().enumerate() {
                res.part((at, Some(n)), part, &message.role, &wanted);
            }
        }
        res.loose.sort_unstable();
        res
    }

    fn part(&mut self, at: Spot, part: &'m Part, role: &Role, wanted: &HashSet<&'m str>) {
        let none = HashSet::new();
        match part {
            Part::ToolCall(it) if is_of_another(role) => {
                match wanted.get(it.id.as_str()).copied() {
                    Some(id) => self.add(id, at),
                    None if it.id.is_empty() => self.loose.push(at),
                    None => {}
                };
            }
            Part::Text(it) if *role == Role::Assistant && has_text_call(&it.text) => {
                self.loose.push(at);
            }
            Part::Other(it) if it.format != Origin::Json && !is_result(it) => {
                self.other(at, it, wanted, &none);
            }
            Part::ToolResult(result) => {
                let own = HashSet::from([&*result.call_id]);
                for inner in result.content.parts() {
                    match inner {
                        Part::Other(it) if it.format != Origin::Json => {
                            self.name(at, &it.value, wanted, &own);
                        }
                        Part::ToolCall(it) => {
                            wanted
                                .get(it.id.as_str())
                                .copied()
                                .into_iter()
                                .for_each(|it| self.add(it, at));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        if !matches!(part, Part::ToolResult(_)) {
            self.extra(at, part.extra(), wanted, &none);
        }
    }

    fn other(&mut self, at: Spot, it: &Other, wanted: &HashSet<&'m str>, own: &HashSet<&str>) {
        self.name(at, &it.value, wanted, own);
        let members = it.value.members().unwrap_or_default();
        let kind = members.iter().find(|it| it.0 == "type").map(|it| it.1.text().trim_matches('"'));
        if it.format == Origin::Responses && kind.is_some_and(|it| SEALED.contains(&it)) {
            self.sealed.get_or_insert(at);
        }
        let is_call = |it: &str| CALLS.contains(&it);
        if kind.map_or_else(|| members.iter().any(|it| is_call(&it.0)), is_call) {
            self.loose.push(at);
        }
    }

    fn extra(&mut self, at: Spot, extra: &Extra, wanted: &HashSet<&'m str>, own: &HashSet<&str>) {
        extra.all().for_each(|it| self.name(at, it.2, wanted, own));
    }

    fn add(&mut self, id: &'m str, at: Spot) {
        self.named.entry(id).or_default().push(at);
    }

    /// Notes the ids of orphans in a value, at any depth, except the ids of results in the same message (`own`).
    fn name(&mut self, at: Spot, value: &RawJson, wanted: &HashSet<&'m str>, own: &HashSet<&str>) {
        let mut add = |said: &str| {
            if let Some(id) = wanted.get(said).copied().filter(|it| !own.contains(it)) {
                self.add(id, at);
            }
        };
        let mut open: Vec<Value> = match wanted.is_empty() {
            true => Vec::new(),
            false => value.parse().into_iter().collect(),
        };
        while let Some(it) = open.pop() {
            match it {
                Value::Array(list) => open.extend(list),
                Value::Object(members) => {
                    for (name, it) in members {
                        add(&name);
                        open.push(it);
                    }
                }
                Value::String(said) => add(&said),
                Value::Number(said) => add(&said.to_string()),
                _ => {}
            }
        }
    }

    /// The last unread content before a result in its turn, or else the first encrypted item before it.
    fn before(&self, orphan: &Orphan<'_>) -> Option<&Spot> {
        let turn = self.turns[orphan.message];
        let is_before =
            |it: &&Spot| it.0 < orphan.message || it.0 == orphan.message && it.1 < orphan.part;
        let end = self.loose.partition_point(|it| is_before(&it));
        let last = self.loose[..end].last().filter(|it| turn.is_none_or(|turn| it.0 >= turn));
        last.or_else(|| self.sealed.as_ref().filter(is_before)).filter(|it| orphan.is_near(it))
    }
}

/// Whether a text may have a call that [`has_text_call`] finds. The text may be escaped as in JSON.
pub(crate) fn may_have_text_call(text: &str) -> bool {
    let text = text.as_bytes();
    let has = |sign: &[u8]| memmem::find(text, sign).is_some();
    memchr2(b'<', b'[', text).is_some() || has(ACTION.as_bytes()) || has(br"\u00")
}

/// Whether a text contains a call, in a form that cannot be anything else.
fn has_text_call(text: &str) -> bool {
    static OPTIONS: LazyLock<ParseOptions> = LazyLock::new(|| {
        // Ordinary answers also contain bracketed lists and code blocks.
        let is_sure = |it: &&str| !matches!(*it, "pythonic" | "fenced");
        let names = Dialects::NAMES.into_iter().filter(is_sure);
        ParseOptions::new().with_dialects(Dialects::by_names(names).unwrap_or_default())
    });
    may_have_text_call(text)
        && (has_calls(text, &OPTIONS) || is_list_of_calls(text) || has_action(text))
}

/// The beginning of the lines of a ReAct call: `Action: f` and `Action Input: {}`, or `Action: f[x]`.
const ACTION: &str = "Action";

/// Whether a text contains a ReAct call.
fn has_action(text: &str) -> bool {
    let mut lines = text.lines().filter_map(after_action);
    let Some((_, action)) = lines.find(|it| !it.0) else { return false };
    action.ends_with(']') && action.contains('[') || lines.any(|it| it.0)
}

/// The text of a line after `Action:` or `Action Input:`, and whether it was the latter. Steps may be numbered:
/// `Action 1:`.
fn after_action(line: &str) -> Option<(bool, &str)> {
    let rest = line.trim().trim_start_matches('*').strip_prefix(ACTION)?;
    let (label, said) = rest.split_once(':')?;
    let label = label.trim_matches(|it: char| it.is_ascii_digit() || it == ' ' || it == '*');
    (label.is_empty() || label == "Input").then(|| (label == "Input", said.trim()))
}

/// Whether the whole text is a list of calls in Python syntax, as in data sets: `[f(a=1), g()]`.
fn is_list_of_calls(text: &str) -> bool {
    static OPTIONS: LazyLock<ParseOptions> = LazyLock::new(|| {
        ParseOptions::new().with_dialects(Dialects::by_names(["pythonic"]).unwrap_or_default())
    });
    let text = text.trim();
    text.starts_with('[') && text.ends_with(")]") && has_calls(text, &OPTIONS)
}

fn has_calls(text: &str, options: &ParseOptions) -> bool {
    parse(text.as_bytes(), None, options).calls().next().is_some()
}

/// Whether an item is the result of a call.
fn is_result(it: &Other) -> bool {
    it.pairing().is_some_and(|it| it.side == PairSide::Result)
}

/// Types or members of parts that are calls in some format.
const CALLS: [&str; 7] = [
    "custom_tool_call",
    "function_call",
    "functionCall",
    "tool-call",
    "tool_call",
    "tool_use",
    "toolUse",
];

/// Items of Responses that contain messages in encrypted form.
const SEALED: [&str; 3] = ["compaction", "compaction_summary", "context_compaction"];

/// Whether an unread member of a message holds calls, judged by its name.
pub(crate) fn is_of_calls(name: &str, value: &RawJson) -> bool {
    is_name_of_calls(name)
        && matches!(value.text().as_bytes(), [b'[' | b'{', rest @ ..] if rest.contains(&b'{'))
}

/// Whether some format keeps calls in a member of this name.
pub(crate) fn is_name_of_calls(name: &str) -> bool {
    const ENDS: [&str; 6] = ["call", "calls", "tool_use", "tool_uses", "tooluse", "tooluses"];
    let ends = |end: &&str| {
        let start = name.len().checked_sub(end.len());
        start.is_some_and(|it| name.as_bytes()[it..].eq_ignore_ascii_case(end.as_bytes()))
    };
    ENDS.iter().any(ends)
}
