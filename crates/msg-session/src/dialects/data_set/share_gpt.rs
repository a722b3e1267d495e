//! A ShareGPT conversation (SE-70).

use msg_core::{Message, Part, Role, ToolCall};

use super::Faults;
use crate::json::{Object, Value};
use crate::view::{Draft, Origin, View};

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    System,
    Human,
    Observation,
    Gpt,
    FunctionCall,
}

impl From {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "system" => From::System,
            "human" | "user" => From::Human,
            "observation" | "tool" | "function_response" | "tool_response" => From::Observation,
            "gpt" | "assistant" | "chatgpt" | "model" => From::Gpt,
            "function_call" | "tool_call" => From::FunctionCall,
            _ => return None,
        })
    }

    fn is_answer(self) -> bool {
        matches!(self, From::Gpt | From::FunctionCall)
    }
}

pub(super) fn check(line: &Object<'_>) -> Faults {
    let mut faults = Faults::default();
    let turns = line.list("conversations");
    let turns: Option<Vec<_>> = turns.iter().map(|it| turn(*it)).collect();
    let Some(turns) = turns.filter(|it| !it.is_empty()) else {
        faults.add("session::bad-shape", "the line has no list of turns of from and value");
        return faults;
    };
    let known: Option<Vec<_>> =
        turns.iter().map(|it| Some((From::of(&it.0)?, it.1.as_str()))).collect();
    let Some(turns) = known else {
        faults.add("session::unknown-role", "a turn is of somebody whom the data set has not");
        return faults;
    };
    turns.iter().for_each(|it| content(it, &mut faults));
    order(&turns, &mut faults);
    faults
}

fn turn(value: Value<'_>) -> Option<(String, String)> {
    let object = value.object()?;
    Some((object.text("from")?.into_owned(), object.text("value")?.into_owned()))
}

fn content((from, value): &(From, &str), faults: &mut Faults) {
    if value.is_empty() {
        faults.add("session::empty-message", "a turn has no text");
    } else if *from == From::FunctionCall && calls(value).is_none() {
        faults.add("session::bad-arguments", "a call is no JSON object");
    }
}

fn order(turns: &[(From, &str)], faults: &mut Faults) {
    if turns.iter().skip(1).any(|it| it.0 == From::System) {
        faults.add("session::misplaced-system", "a system text is not the first turn");
    }
    let turns: Vec<_> = turns.iter().map(|it| it.0).filter(|it| *it != From::System).collect();
    let expected = turns.iter().enumerate().all(|(at, it)| it.is_answer() == (at % 2 == 1));
    if !expected {
        faults.add("session::alternation", "human and gpt do not take turns");
    }
    for pair in turns.windows(2) {
        if pair[0] == From::FunctionCall && pair[1] != From::Observation {
            faults.add("session::unanswered-call", "no observation stands behind a call");
        }
        if pair[0] != From::FunctionCall && pair[1] == From::Observation {
            faults.add("session::orphan-result", "an observation stands behind no call");
        }
    }
    if turns.first() == Some(&From::Observation) {
        faults.add("session::orphan-result", "an observation stands behind no call");
    }
    if !turns.iter().any(|it| it.is_answer()) {
        faults.add("session::no-assistant", "the line has no answer");
    } else if !turns.last().is_some_and(|it| it.is_answer()) {
        faults.add("session::last-not-assistant", "the line does not end with an answer");
    }
}

pub(super) fn view(line: &Object<'_>, at: usize) -> View {
    let mut res = Reading { record: at, ..Reading::default() };
    if let Some(system) = line.text("system").filter(|it| !it.is_empty()) {
        res.text(Role::System, &system, None);
    }
    let turns = line.list("conversations");
    for (n, value) in turns.iter().enumerate() {
        if let Some((from, text)) = turn(*value) {
            res.turn(From::of(&from).ok_or(from), &text, n);
        }
    }
    res.view
}

#[derive(Default)]
struct Reading {
    view: View,
    record: usize,
    calls: usize,
    /// Calls that wait for their observation, in order.
    open: std::collections::VecDeque<String>,
}

impl Reading {
    fn turn(&mut self, from: Result<From, String>, text: &str, n: usize) {
        match from {
            Ok(From::System) => self.text(Role::System, text, Some(n)),
            Ok(From::Human) => self.text(Role::User, text, Some(n)),
            Ok(From::Gpt) => self.text(Role::Assistant, text, Some(n)),
            Ok(From::FunctionCall) => self.call(text, n),
            Ok(From::Observation) => {
                let id = self.open.pop_front().unwrap_or_default();
                let mut result = Message::tool_result(id, text);
                let mut draft = Draft::new(Role::Tool);
                draft.push(result.parts.remove(0), Origin::block(self.record, n));
                self.view.push(draft);
            }
            Err(word) => self.text(Role::from(word.as_str()), text, Some(n)),
        }
    }

    fn text(&mut self, role: Role, text: &str, n: Option<usize>) {
        let mut draft = Draft::new(role);
        let origin = match n {
            Some(n) => Origin::block(self.record, n),
            None => Origin::record(self.record),
        };
        if !text.is_empty() {
            draft.push(Part::text(text), origin);
        }
        self.view.push(draft);
    }

    fn call(&mut self, text: &str, n: usize) {
        let mut draft = Draft::new(Role::Assistant);
        let found = calls(text).unwrap_or_else(|| vec![(String::new(), text.to_owned())]);
        self.open.clear();
        for (name, arguments) in found {
            self.calls += 1;
            let id = format!("call_{}", self.calls);
            self.open.push_back(id.clone());
            let call = Part::ToolCall(ToolCall::new(id, name, arguments));
            draft.push(call, Origin::block(self.record, n));
        }
        self.view.push(draft);
    }
}

/// Name and arguments of the calls in the value of a turn, which is one object, or a list of them.
fn calls(value: &str) -> Option<Vec<(String, String)>> {
    let value = Value::whole(value, 0)?;
    let list = value.array().unwrap_or_else(|| vec![value]);
    list.into_iter()
        .map(|it| {
            let call = it.object()?;
            let arguments = call.get("arguments").map(|it| match it.text() {
                Some(text) => text.into_owned(),
                None => it.source.to_owned(),
            });
            Some((crate::parts::text(&call, "name"), arguments.unwrap_or_default()))
        })
        .collect()
}
