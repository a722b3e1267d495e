//! The part of a history that would come next if there were more room: why a budget is not used up (CP-17).

use msg_core::Role;

use super::Compactor;
use crate::state::Item;

/// The newest part of the input that is not in the result, and the room that is left for it.
///
/// A part is a reduced message, or an assistant message with its results, with its user message where that is not in
/// the result either; several of them where one alone cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Withheld {
    /// The first input message of the part.
    pub message: usize,
    /// How many messages it has.
    pub messages: usize,
    /// How much more the result would cost with it, in the budget's unit.
    pub cost: u64,
    /// How much more it may cost.
    pub room: u64,
}

impl Compactor<'_> {
    /// The part that is withheld; none without a budget. Looks at the result from its end to the part.
    pub(super) fn withheld(&self) -> Option<Withheld> {
        let chain = &self.chain;
        let room = chain.target()?.checked_sub(chain.total())?;
        let items: Vec<&Item> = chain.items().collect();
        let mut end = chain.input.messages.len();
        let mut kept = items.len();
        for (at, item) in items.iter().enumerate().rev() {
            if item.input as usize + 1 != end || chain.change(item).is_some() {
                break;
            }
            (end, kept) = (end - 1, at);
        }
        let newest = end.checked_sub(1)?;
        let last = items.get(kept.wrapping_sub(1));
        let reduced = last.filter(|it| it.input as usize == newest && self.is_reduced(it));
        let (message, cost) = match reduced {
            Some(it) => {
                (newest, self.input_cost(newest).saturating_sub(chain.measure.unit.of(it.cost)))
            }
            None => self.missing(newest, &items[..kept], room),
        };
        let messages = newest + 1 - message;
        let message = chain
            .input
            .origins
            .map_or(message, |it| it.get(message).map_or(message, |it| it.message));
        Some(Withheld { message, messages, cost, room })
    }

    /// Whether an item is its input message without a part of it, not a message that replaces others.
    fn is_reduced(&self, item: &Item) -> bool {
        let input = self.chain.input.messages[item.input as usize];
        let now = self.chain.message(item);
        now.role == input.role && now.parts.len() == input.parts.len()
            || matches!(self.chain.change(item), Some(it) if !it.is_new())
    }

    /// From where the messages up to this one would have to be added, and what they cost: pair by pair, until they
    /// are more than there is room for.
    fn missing(&self, newest: usize, older: &[&Item], room: u64) -> (usize, u64) {
        let messages = &self.chain.input.messages;
        let mut is_kept = vec![false; messages.len()];
        let unchanged = older.iter().filter(|it| self.chain.change(it).is_none());
        unchanged.for_each(|it| is_kept[it.input as usize] = true);
        let (mut first, mut cost) = (newest, self.input_cost(newest));
        let mut has_pair = messages[first].role == Role::Assistant;
        while first > 0 && (cost <= room || !has_pair) && !is_kept[first - 1] {
            first -= 1;
            cost += self.input_cost(first);
            has_pair |= messages[first].role == Role::Assistant;
        }
        (first, cost)
    }

    fn input_cost(&self, message: usize) -> u64 {
        let cost = self.chain.input.index.message(message);
        cost.map_or(0, |it| self.chain.measure.unit.of(it))
    }
}
