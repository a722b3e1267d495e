//! A plan on the turns of an application (CP-63): what it does to the messages that they lower to, it
//! does to the turns themselves.

use std::ops::Range;

use msg_core::{Message, Role};
use msg_forms::{
    ToolPart, Turn,
    turns::{self, LowerCache, LowerOptions},
};
use serde_json::json;

use super::{Plan, PlanEdit};
use crate::{TokenCounter, count::Script, error::Error};

impl Plan {
    /// Makes the edits on turns whose lowering ([`LowerOptions::strict`], no prompt) the plan was
    /// made for; turns that follow are kept.
    ///
    /// A tool part whose output was reduced gets `metadata` `pruned` and `original_output_tokens` (by
    /// the `script` count), and `pruned_at` if `now` is given; turns that became a summary are one
    /// turn with `metadata.compaction`. Linear in the turns.
    ///
    /// # Errors
    /// The turns do not lower to what the plan was made for, or an edit replaces a part of what one
    /// turn lowers to.
    pub fn apply_turns(&self, turns: Vec<Turn>, now: Option<f64>) -> Result<Vec<Turn>, Error> {
        let (messages, ranges) = lowered(&turns);
        if let Some(message) = self.before.first_difference(&messages) {
            return Err(Error::PlanMismatch { message });
        }
        let mut editor =
            Editor { messages, turns, ranges, now, drop: Vec::new(), insert: Vec::new() };
        for (number, edit) in self.edits.iter().enumerate() {
            editor.edit(number, edit)?;
        }
        Ok(editor.finish())
    }
}

/// The messages of turns, and which of them each turn has.
fn lowered(turns: &[Turn]) -> (Vec<Message>, Vec<Range<usize>>) {
    let mut cache = LowerCache::new(LowerOptions::strict());
    let mut ranges = Vec::with_capacity(turns.len());
    let mut end = 0;
    for n in 1..=turns.len() {
        let start = end;
        end = cache.lower(&turns[..n], n - 1).len();
        ranges.push(start..end);
    }
    (cache.messages().to_vec(), ranges)
}

struct Editor {
    messages: Vec<Message>,
    turns: Vec<Turn>,
    ranges: Vec<Range<usize>>,
    now: Option<f64>,
    /// Turns that go.
    drop: Vec<Range<usize>>,
    /// Turns that come before the turn of this number, in order.
    insert: Vec<(usize, Vec<Turn>)>,
}

impl Editor {
    fn edit(&mut self, number: usize, edit: &PlanEdit) -> Result<(), Error> {
        let old = edit.start..edit.end;
        let same = |a: &Message, b: &Message| is_reduction(a, b);
        let head = self.messages[old.clone()]
            .iter()
            .zip(&edit.insert)
            .take_while(|(a, b)| same(a, b))
            .count();
        let (old_rest, new_rest) = (old.start + head..old.end, &edit.insert[head..]);
        let tail = self.messages[old_rest.clone()].iter().rev().zip(new_rest.iter().rev());
        let tail = tail.take_while(|(a, b)| same(a, b)).count();
        for (at, new) in (old.start..).zip(&edit.insert[..head]) {
            self.reduce(at, new);
        }
        let (middle, rest) = new_rest.split_at(new_rest.len() - tail);
        for (at, new) in (old.end - tail..).zip(rest) {
            self.reduce(at, new);
        }
        self.replace(number, old_rest.start..old.end - tail, middle)
    }

    /// Brings a turn to what one of its messages was reduced to.
    fn reduce(&mut self, at: usize, new: &Message) {
        let turn = self.ranges.partition_point(|it| it.end <= at);
        let now = self.now;
        let place = at - self.ranges[turn].start;
        let turn = &mut self.turns[turn];
        match new.tool_results().next() {
            Some(result) => {
                // The strict lowering answers every call, in order, behind the assistant message.
                if let Some(part) = turn.tools_mut().nth(place.saturating_sub(1)) {
                    prune(part, result.content.text().into_owned(), now);
                }
            }
            None => {
                if new.reasoning().next().is_none() {
                    turn.reasoning_content.clear();
                }
                for (part, call) in turn.tools_mut().zip(new.tool_calls()) {
                    if call.arguments.text() == "{}" && part.arguments() != "{}" {
                        part.set_arguments("{}");
                    }
                }
            }
        }
    }

    /// Puts the turns of new messages in the place of those of a range.
    fn replace(&mut self, number: usize, old: Range<usize>, new: &[Message]) -> Result<(), Error> {
        if old.is_empty() && new.is_empty() {
            return Ok(());
        }
        let first = self.ranges.partition_point(|it| it.end <= old.start);
        let last = self.ranges.partition_point(|it| it.start < old.end);
        let covers =
            |it: &Range<usize>| it.is_empty() || old.start <= it.start && it.end <= old.end;
        if let Some(turn) = (first..last).find(|it| !covers(&self.ranges[*it])) {
            return Err(Error::SplitsTurn { turn });
        }
        let gone = (first..last).filter(|it| !self.ranges[*it].is_empty());
        let ids: Vec<String> = gone.map(|it| self.turns[it].id.clone()).collect();
        let (mut turns, _) = turns::from_messages(new.to_vec());
        for (place, turn) in turns.iter_mut().enumerate() {
            turn.id = format!("compaction_{number}_{place}");
            turn.timestamp = self.now.unwrap_or(0.0);
            let compaction = json!({
                "is_summary": turn.role.as_str() == "assistant",
                "record_id": format!("compaction_{number}"),
                "compacted_message_ids": ids,
                "created_at": self.now,
            });
            turn.metadata.insert("compaction", compaction.into());
        }
        self.drop.push(first..last);
        self.insert.push((first, turns));
        Ok(())
    }

    fn finish(self) -> Vec<Turn> {
        let Self { turns, ranges, drop, insert, .. } = self;
        let mut result = Vec::with_capacity(turns.len());
        let (mut drop, mut insert) = (drop.into_iter().peekable(), insert.into_iter().peekable());
        for (number, (turn, range)) in turns.into_iter().zip(ranges).enumerate() {
            while let Some((_, new)) = insert.next_if(|it| it.0 <= number) {
                result.extend(new);
            }
            while drop.next_if(|it| it.end <= number).is_some() {}
            let goes = drop.peek().is_some_and(|it| it.contains(&number)) && !range.is_empty();
            if !goes {
                result.push(turn);
            }
        }
        result.extend(insert.flat_map(|it| it.1));
        result
    }
}

/// Whether a message is another one with less in it: the same calls, or a result for the same call.
fn is_reduction(old: &Message, new: &Message) -> bool {
    let calls = |it: &Message| it.tool_calls().map(|it| it.id.clone()).collect::<Vec<_>>();
    let results = |it: &Message| it.tool_results().map(|it| it.call_id.clone()).collect::<Vec<_>>();
    old.role == new.role
        && match old.role {
            Role::Tool => results(old) == results(new),
            Role::Assistant => calls(old) == calls(new) && old.text() == new.text(),
            _ => old == new,
        }
}

fn prune(part: &mut ToolPart, output: String, now: Option<f64>) {
    let tokens = Script::new().text(&part.output);
    part.output = output;
    part.metadata.insert("pruned", json!(true).into());
    part.metadata.insert("original_output_tokens", json!(tokens).into());
    if let Some(now) = now {
        part.metadata.insert("pruned_at", json!(now).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_with_another_text_is_no_reduction() {
        assert!(!is_reduction(&Message::assistant("a"), &Message::assistant("b")));
        assert!(is_reduction(
            &Message::tool_result("c", "long"),
            &Message::tool_result("c", "cut")
        ));
    }
}
