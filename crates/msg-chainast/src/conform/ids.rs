//! Step 14: the ids of calls.

use std::collections::{HashMap, HashSet};

use msg_core::{IdSource, Part};

use super::state::{Breach, Conform};
use crate::{
    ids::{FreshIds, KeptIds},
    profile::Profile,
};

/// What is said where the pattern was exhausted (CA-52).
const NUMBERED: &str =
    "given a fresh id, with a number appended because the id pattern gives no other";

impl Conform<'_, '_> {
    pub(super) fn call_ids(&mut self, ids: &mut dyn IdSource) {
        let chain_wide = self.profile.ids_unique_in_chain;
        let messages = || self.items.iter().map(|it| &*it.message);
        let pattern = &self.profile.id_pattern;
        let kept = self.profile.id_shape.then(|| KeptIds::new(pattern, messages()));
        let mut wrong: Vec<(usize, usize, usize, bool)> = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut index = 0;
        for (at, item) in self.items.iter().enumerate() {
            for (part, it) in item.message.parts.iter().enumerate() {
                let Part::ToolCall(call) = it else { continue };
                let of_shape = kept.as_ref().is_none_or(|it| it.stays(&call.id, &call.name));
                let accepted = of_shape && accepts_text(self.profile, &call.id);
                let reused = chain_wide && !seen.insert(&call.id);
                if !accepted || reused {
                    wrong.push((at, part, index, accepted));
                }
                index += 1;
            }
        }
        drop(seen);
        if !wrong.is_empty() {
            self.replace_ids(wrong, ids);
        }
    }

    /// Gives these calls fresh ids: (item, part, index among all calls, whether it was only reused).
    fn replace_ids(&mut self, wrong: Vec<(usize, usize, usize, bool)>, ids: &mut dyn IdSource) {
        let profile = self.profile;
        let mut fresh =
            FreshIds::new(&profile.id_pattern, ids, self.items.iter().map(|it| &*it.message));
        let mut new_ids = Vec::with_capacity(wrong.len());
        for (at, part, index, _) in &wrong {
            let name = self.items[*at].message.parts[*part].as_tool_call().map(|it| &it.name);
            let it = fresh.next(name.map_or("", String::as_str), *index);
            // A pattern of a user's own may give what the same profile refuses; then nothing is gained.
            new_ids.push(Some(it).filter(|it| accepts_text(profile, &it.id)));
        }
        let mut renamed: HashMap<usize, HashMap<String, String>> = HashMap::new();
        for ((at, part, _, reused), new) in wrong.into_iter().zip(new_ids) {
            let Some(old) = self.call(at, part).map(|it| it.id.clone()) else { continue };
            let mut breach = self.bad_id(&old, reused);
            breach.fix = new.as_ref().map(|it| match it.exhausted {
                false => "given a fresh id".into(),
                true => NUMBERED.into(),
            });
            self.at_part(at, part, breach);
            if let Some((new, call)) = new.zip(self.call_mut(at, part)) {
                call.id.clone_from(&new.id);
                renamed.entry(at).or_default().insert(old, new.id);
            }
        }
        self.let_results_follow(&mut renamed);
    }

    /// Gives results the new ids of the calls that they answer: of the same id the last one before them.
    fn let_results_follow(&mut self, renamed: &mut HashMap<usize, HashMap<String, String>>) {
        let mut new_ids: HashMap<String, String> = HashMap::new();
        for (at, item) in self.items.iter_mut().enumerate() {
            // A call that keeps an id which was another's takes the results behind it.
            for call in item.message.tool_calls() {
                new_ids.remove(&call.id);
            }
            new_ids.extend(renamed.remove(&at).into_iter().flatten());
            if !item.message.tool_results().any(|it| new_ids.contains_key(&it.call_id)) {
                continue;
            }
            for part in &mut item.message.to_mut().parts {
                if let Part::ToolResult(it) = part
                    && let Some(new) = new_ids.get(&it.call_id)
                {
                    it.call_id.clone_from(new);
                }
            }
        }
    }

    fn bad_id(&self, id: &str, reused: bool) -> Breach {
        let fix = "given a fresh id";
        if reused {
            let sentence = format!("the id `{id}` was used before");
            return Breach::error("profile::reused-tool-call-id", sentence, fix);
        }
        let sentence = format!("the id `{id}` is not accepted");
        let severity = self.profile.id_severity;
        Breach { severity, ..Breach::error("profile::tool-call-id", sentence, fix) }
    }
}

fn accepts_text(profile: &Profile, id: &str) -> bool {
    id.len() >= profile.id_min
        && (profile.id_max == 0 || id.len() <= profile.id_max)
        && profile.id_class.accepts(id)
}
