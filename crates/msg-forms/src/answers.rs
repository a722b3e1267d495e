//! Results in the order of their calls: what formats without ids go by. No result is added, changed or removed.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use msg_core::{Diagnostic, Message, Part, Role};

/// Where a part is: its message, and its place in it.
type Position = (usize, usize);

/// Results in other places than they had.
///
/// ```
/// use msg_core::{Message, Part, Role, ToolCall, ToolResult};
/// use msg_forms::OrderedResults;
///
/// let call = |id: &str| Part::ToolCall(ToolCall::new(id, "weather", "{}"));
/// let result = |id: &str| {
///     Message::new(Role::Tool).with_part(Part::ToolResult(ToolResult::new(id, id)))
/// };
/// let mut chat = [Message::new(Role::Assistant).with_part(call("a")).with_part(call("b")), result("b"), result("a")];
/// let ordered = OrderedResults::of(&mut chat);
/// assert!(ordered.answer_by_place());
/// assert_eq!(chat[1].tool_results().next().map(|it| &*it.call_id), Some("a"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct OrderedResults {
    /// Of each result that moved, where it was.
    moved: HashMap<Position, Position>,
    by_place: bool,
    /// Whether a call before has no result in its turn.
    has_open: bool,
}

impl OrderedResults {
    /// Puts the results after each turn of the assistant in the order of the calls that they answer, each in a place
    /// where one was: a format without ids gives the first result to the first call. Linear, but for the sorting.
    pub fn of(messages: &mut [Message]) -> Self {
        let mut res = Self { by_place: true, ..Self::default() };
        let mut at = 0;
        while at < messages.len() {
            let is_turn = |it: &Message| it.role == Role::Assistant;
            let length = |from: usize, wanted: bool| {
                messages[from..].iter().take_while(|it| is_turn(it) == wanted).count()
            };
            let answers = at + length(at, true);
            let end = answers + length(answers, false);
            res.turn(messages, at..answers, answers..end);
            at = end;
        }
        res
    }

    /// Whether each result is after the turn with its call and answers the first call there that has no answer yet, and
    /// results of no call are where none is open.
    pub fn answer_by_place(&self) -> bool {
        self.by_place
    }

    /// What was found in the messages as they are now, with the places that the results had.
    pub fn placed_as_before(&self, found: &mut [Diagnostic]) {
        for it in found.iter_mut().filter(|_| !self.moved.is_empty()) {
            let place = it.at.message.map(|at| (at, it.at.part.unwrap_or(0)));
            if let Some((message, part)) = place.and_then(|it| self.moved.get(&it)) {
                it.at.message = Some(*message);
                it.at.part = it.at.part.map(|_| *part);
            }
        }
    }

    fn turn(&mut self, messages: &mut [Message], calls: Range<usize>, answers: Range<usize>) {
        let mut open: HashMap<&str, VecDeque<usize>> = HashMap::new();
        // Results that are not of this turn: those of earlier calls, those of none, and what the assistant says itself.
        let mut has_others =
            messages[calls.clone()].iter().any(|it| it.tool_results().next().is_some());
        let mut n_calls = 0;
        for it in messages[calls].iter().flat_map(Message::tool_calls) {
            open.entry(&it.id).or_default().push_back(n_calls);
            n_calls += 1;
        }
        // The places of results, and the number of the call that each of them answers.
        let (mut places, mut numbers) = (Vec::new(), Vec::new());
        for at in answers {
            for (n, part) in messages[at].parts.iter().enumerate() {
                let Part::ToolResult(it) = part else { continue };
                match open.get_mut(&*it.call_id).and_then(VecDeque::pop_front) {
                    Some(number) => {
                        places.push((at, n));
                        numbers.push((number, (at, n)));
                    }
                    None => has_others = true,
                }
            }
        }
        numbers.sort_unstable();
        self.by_place &= numbers.iter().enumerate().all(|(n, it)| it.0 == n);
        // Where no call is open they answer none in the new document either.
        self.by_place &= !has_others || n_calls == 0 && !self.has_open;
        self.has_open |= numbers.len() < n_calls;
        let moves = places.iter().zip(&numbers).filter(|(to, from)| **to != from.1);
        let moves: Vec<_> = moves.map(|(to, from)| (*to, from.1)).collect();
        let parts: Vec<Part> =
            moves.iter().map(|it| messages[it.1.0].parts[it.1.1].clone()).collect();
        for ((to, from), part) in moves.into_iter().zip(parts) {
            messages[to.0].parts[to.1] = part;
            self.moved.insert(to, from);
        }
    }
}
