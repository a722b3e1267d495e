//! Implicit calls and results (OA-14, "Pairing") are represented by substitutes: during analysis and repair,
//! each is a call or a result of its family; afterwards the original is restored. The rules of the chain need
//! not know them.
//!
//! ```text
//! Other {"type":"shell_call","call_id":"c1",…}          <->  ToolCall   id "c1\0shell"  kind "\0shell_call"
//! Other {"type":"shell_call_output","call_id":"c1",…}   <->  ToolResult id "c1\0shell"  kind "\0…"
//! a placeholder for "c1\0shell"                          ->  the family's text result, or nothing
//! ```
//!
//! The family is a part of the id, so only a result of the same family answers. A NUL cannot occur in an id that a
//! provider accepts; a list with a NUL in the kind of a call is left alone. A reference to an item that the provider
//! stores is the call of the next result without another call.

use std::collections::{HashMap, HashSet, VecDeque};

use msg_core::{
    CallKind, Content, Diagnostic, Extra, Message, Origin, Other, PairSide, Pairing, Part, Place,
    RawJson, ToolCall, ToolResult,
};

const MARK: char = '\0';

/// The families whose calls a `function_call_output` may answer: clients send it for both.
const PLAINLY: [&str; 2] = ["tool_search", "local_shell"];

/// Whether a part needs a substitute: it is a request with an id, or an answer.
pub(crate) fn is_paired(part: &Part) -> bool {
    let wants = |it: Pairing| it.side == PairSide::Result || !it.id.is_empty();
    matches!(part, Part::Other(it) if it.pairing().is_some_and(wants))
}

/// Whether an assistant message may come without a user message before it, because of its first part.
pub(crate) fn may_come_first(message: &Message) -> bool {
    matches!(message.parts.first(), Some(Part::Other(it)) if it.may_lead())
}

/// Whether a result answers a raw item, for which no call can be invented.
pub(crate) fn is_stand_in(result: &ToolResult) -> bool {
    result.kind.as_str().starts_with(MARK)
}

/// The list with substitutes, if one is wanted.
pub(crate) fn stand_ins_of<'m>(
    messages: impl Iterator<Item = &'m Message> + Clone,
) -> Option<Vec<Message>> {
    if !wants_stand_ins(messages.clone()) {
        return None;
    }
    let mut res: Vec<_> = messages.cloned().collect();
    put(&mut res);
    Some(res)
}

/// Puts substitutes into a list; false if none is wanted.
pub(crate) fn put_into(messages: &mut [Message]) -> bool {
    let wanted = wants_stand_ins(messages.iter());
    if wanted {
        put(messages);
    }
    wanted
}

fn wants_stand_ins<'m>(mut messages: impl Iterator<Item = &'m Message> + Clone) -> bool {
    let wants = |it: &Part| is_paired(it) || matches!(it, Part::Other(it) if may_refer_to_call(it));
    messages.clone().any(|it| it.parts.iter().any(wants)) && !messages.any(is_marked)
}

/// Whether an item refers to one that the provider stores, which may be a call.
fn may_refer_to_call(it: &Other) -> bool {
    if it.format != Origin::Responses || it.place != Some(Place::Item) {
        return false;
    }
    let is_of_no_call = |id: &String| ["rs_", "msg_"].iter().any(|it| id.starts_with(it));
    let kind = it.value.member_text("type");
    kind.is_none_or(|it| it == "item_reference")
        && it.value.member("role").is_none()
        && it.value.member_text("id").is_some_and(|it| !is_of_no_call(&it))
}

fn put(messages: &mut [Message]) {
    let pairs = Pairs::of(messages);
    for (at, message) in messages.iter_mut().enumerate() {
        for (part, it) in message.parts.iter_mut().enumerate() {
            let Part::Other(other) = it else { continue };
            if let Some((pairing, id)) = pairs.asked((at, part), other) {
                let extra = std::mem::take(&mut other.extra);
                *it = stand_in(&pairing, id, other.value.text(), extra);
            }
        }
    }
}

/// The facts about the whole list that substitutes depend on.
#[derive(Default)]
struct Pairs {
    /// The numbers of calls and results that belong together without an id, by place.
    numbers: HashMap<(usize, usize), usize>,
    /// The ids of substitutes for results.
    results: HashSet<String>,
    /// The ids of calls that a plain result answers, as the API takes it.
    plainly_answered: HashSet<String>,
    /// The ids of the results of calls that are referred to, by the place of the reference.
    referred: HashMap<(usize, usize), String>,
}

impl Pairs {
    fn of(messages: &[Message]) -> Self {
        let mut res = Self::default();
        let mut open: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        let mut open_plain = HashSet::new();
        let (mut calls, mut references) = (HashSet::new(), VecDeque::new());
        for (at, message) in messages.iter().enumerate() {
            for (part, it) in message.parts.iter().enumerate() {
                match it {
                    Part::ToolCall(it) => {
                        calls.insert(it.id.as_str());
                    }
                    Part::ToolResult(it) if open_plain.remove(&it.call_id) => {
                        res.plainly_answered.insert(it.call_id.clone());
                    }
                    Part::ToolResult(it) if !calls.contains(it.call_id.as_str()) => {
                        if let Some(place) = references.pop_front() {
                            calls.insert(it.call_id.as_str());
                            res.referred.insert(place, it.call_id.clone());
                        }
                    }
                    Part::Other(it) if may_refer_to_call(it) => references.push_back((at, part)),
                    Part::Other(it) => {
                        let Some(it) = it.pairing() else { continue };
                        if it.id.is_empty() {
                            res.number(&mut open, it, (at, part));
                        } else if it.side == PairSide::Result {
                            open_plain.remove(&it.id);
                            res.results.insert(of_family(&it));
                        } else if PLAINLY.contains(&it.family.as_str()) {
                            open_plain.insert(it.id);
                        }
                    }
                    _ => {}
                }
            }
        }
        res
    }

    /// A result without an id answers the last open call of its family without one.
    fn number(
        &mut self,
        open: &mut HashMap<String, Vec<(usize, usize)>>,
        it: Pairing,
        place: (usize, usize),
    ) {
        let calls = open.entry(it.family).or_default();
        if it.side == PairSide::Call {
            return calls.push(place);
        }
        let number = self.numbers.len();
        if let Some(call) = calls.pop() {
            self.numbers.insert(call, number);
        }
        self.numbers.insert(place, number);
    }

    /// The substitute of a part, and its id.
    fn asked(&self, place: (usize, usize), it: &Other) -> Option<(Pairing, String)> {
        if let Some(id) = self.referred.get(&place) {
            let (side, family) = (PairSide::Call, "item_reference".to_owned());
            let pairing = Pairing { side, id: id.clone(), family, is_hosted: false };
            return Some((pairing, id.clone()));
        }
        let pairing = it.pairing()?;
        let id = self.id(place, &pairing)?;
        Some((pairing, id))
    }

    /// The id of a substitute; `None` for a call that needs no answer.
    fn id(&self, place: (usize, usize), it: &Pairing) -> Option<String> {
        let Pairing { id, family, .. } = it;
        if !id.is_empty() {
            let plain = PLAINLY.contains(&family.as_str()) && self.plainly_answered.contains(id);
            let own = if plain { id.clone() } else { of_family(it) };
            let may_lack = it.is_hosted && it.side == PairSide::Call && !plain;
            return Some(own).filter(|own| !may_lack || self.results.contains(own));
        }
        self.numbers.get(&place).map(|number| format!("{MARK}{family}{MARK}{number}"))
    }
}

/// Restores the parts that were substituted.
pub(crate) fn restore(messages: &mut [Message]) {
    messages.iter_mut().for_each(restore_in);
}

/// Restores the substituted parts of one message.
pub(crate) fn restore_in(message: &mut Message) {
    for part in &mut message.parts {
        if let Some(it) = original(part) {
            *part = it;
        }
    }
}

/// Whether a restored message is a placeholder of a family whose results are not text.
pub(crate) fn stays_unanswered(message: &Message) -> bool {
    let is_marked = |it: &Part| it.as_tool_result().is_some_and(|it| it.call_id.contains(MARK));
    message.parts.first().is_some_and(is_marked)
}

/// Completes diagnostics about the parts themselves: their ids, and that no answer can be invented for
/// results that are not text.
pub(crate) fn name_items(report: &mut [Diagnostic]) {
    for it in report {
        if it.message().contains(MARK) {
            it.set_message(without_marks(&it.message()));
        }
        let Some(id) = &mut it.at.tool_call_id else { continue };
        let Some((own, family)) = id.split_once(MARK) else { continue };
        let answerable = Pairing::text_result(family, own, "").is_some();
        *id = own.to_owned();
        if it.code == "chain::missing-tool-result" && !answerable {
            it.fix = None;
        }
    }
}

/// A sentence that names ids as they are.
fn without_marks(sentence: &str) -> String {
    let mut pieces = sentence.split(MARK);
    let mut res = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        res.push_str(piece.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || it == '_'));
    }
    res
}

/// A fresh id for a call with another one. The id of a substitute keeps its family.
pub(crate) fn fresh_like(old: &str, fresh: String) -> String {
    match old.find(MARK) {
        Some(at) => fresh + &old[at..],
        None => fresh,
    }
}

fn is_marked(message: &Message) -> bool {
    let is_marked = |kind: &CallKind| kind.as_str().starts_with(MARK);
    message.parts.iter().any(|it| match it {
        Part::ToolCall(it) => is_marked(&it.kind),
        Part::ToolResult(it) => is_marked(&it.kind),
        _ => false,
    })
}

/// The id of a substitute.
fn of_family(it: &Pairing) -> String {
    format!("{}{MARK}{}", it.id, it.family)
}

/// A call or result that holds the raw item as its text.
fn stand_in(pairing: &Pairing, id: String, json: &str, extra: Extra) -> Part {
    let kind = CallKind::Other(format!("{MARK}{}", pairing.family).into());
    match pairing.side {
        PairSide::Call => {
            let call = ToolCall::new(id, pairing.family.as_str(), json);
            Part::ToolCall(ToolCall { kind, extra, ..call })
        }
        PairSide::Result => {
            let result = ToolResult::new(id, Content::from(json));
            Part::ToolResult(ToolResult { kind, extra, ..result })
        }
    }
}

/// The part that a substitute replaces; `None` if the part is not a substitute.
fn original(part: &mut Part) -> Option<Part> {
    match part {
        Part::ToolCall(it) if it.kind.as_str().starts_with(MARK) => {
            Some(item(it.arguments.text(), &it.id, std::mem::take(&mut it.extra)))
        }
        Part::ToolResult(it) if it.kind.as_str().starts_with(MARK) => {
            let json = it.content.as_text().unwrap_or_default().to_owned();
            Some(item(&json, &it.call_id, std::mem::take(&mut it.extra)))
        }
        Part::ToolResult(it) => {
            let (id, family) = it.call_id.split_once(MARK)?;
            let text = it.content.as_text().unwrap_or_default();
            Pairing::text_result(family, id, text).map(Part::Other)
        }
        _ => None,
    }
}

/// The raw item, with the id that its substitute has now.
fn item(json: &str, id: &str, extra: Extra) -> Part {
    let value = RawJson::new(json).unwrap_or_else(|_| RawJson::string(json));
    let (own, family) = id.split_once(MARK).unwrap_or((id, ""));
    let origin = Other::origin_of_family(family);
    let is_item = origin == Origin::Responses;
    let place = Some(if is_item { Place::Item } else { Place::Content });
    let item = Other { place, extra, ..Other::new(origin, value) };
    Part::Other(match item.pairing() {
        Some(it) if it.id != own => item.with_pair_id(own),
        _ => item,
    })
}
