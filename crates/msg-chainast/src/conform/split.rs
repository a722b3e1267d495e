//! Step 13: messages with more calls than a provider takes.

use msg_core::Role;

use super::{
    reasoning::put_fallback,
    state::{Conform, error, mended_if},
};
use crate::{
    profile::ReasoningRequired,
    reasoning::has_reasoning,
    repair::{Item, Split, is_answered, pairs, put_behind},
};

impl Conform<'_, '_> {
    pub(super) fn surplus_calls(&mut self) {
        let max = self.profile.max_calls;
        let surplus = |it: &Item<'_>| it.message.tool_calls().nth(max).is_some();
        if max == 0 || !self.items.iter().any(surplus) {
            return;
        }
        let of_turn = self.profile.reasoning_require == ReasoningRequired::CallSignature;
        let requires_from = if of_turn { self.current_turn() } else { 0 };
        let puts_all = of_turn || self.all;
        let mut splits = Vec::new();
        for (assistant, tools) in pairs(&self.items) {
            let calls = self.calls(assistant);
            let Some(first) = calls.get(max) else { continue };
            // A pending call may stand in the last pair only, so such a pair stays whole.
            let mended = is_answered(&self.items, assistant, tools.clone());
            let sentence = format!("{} calls in one message, {max} are accepted", calls.len());
            let fix = "split into several messages";
            let it = error("profile::too-many-tool-calls", sentence, fix);
            self.at_part(assistant, *first, mended_if(mended, it));
            if !mended {
                continue;
            }
            let gets_fallback = puts_all || has_reasoning(&self.items[assistant].message);
            let mut split = Split::of(&mut self.items, assistant, tools, max);
            // A message of a split carries what the provider requires of every message with calls.
            let asking = split.iter_mut().flat_map(|it| &mut it.behind);
            for item in asking.filter(|it| it.message.role == Role::Assistant) {
                if assistant >= requires_from && gets_fallback {
                    put_fallback(self.profile, item);
                }
            }
            splits.extend(split);
        }
        put_behind(&mut self.items, splits);
    }
}
