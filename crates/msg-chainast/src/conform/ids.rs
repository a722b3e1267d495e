//! Step 14: the ids of calls.

use hashbrown::{HashMap, HashSet};
use msg_core::{IdSource, Part};

use super::{Breach, Conform};
use crate::{
    ids::{FreshIds, ids_of, is_of_pattern},
    profile::{IdScope, Profile},
};

impl Conform<'_> {
    pub(super) fn call_ids(&mut self, ids: &mut dyn IdSource) {
        let chain_wide = self.profile.id_unique == IdScope::Chain;
        let messages = || self.items.iter().map(|it| &it.message);
        let in_use: HashSet<String> = match self.profile.id_shape {
            true => ids_of(messages()).map(str::to_owned).collect(),
            false => HashSet::new(),
        };
        let mut wrong: Vec<(usize, usize, usize, bool)> = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut index = 0;
        for (at, item) in self.items.iter().enumerate() {
            for (part, it) in item.message.parts.iter().enumerate() {
                let Part::ToolCall(call) = it else { continue };
                let accepted = accepts_id(self.profile, &call.id, &call.name, &in_use);
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
            FreshIds::new(&profile.id_pattern, ids, self.items.iter().map(|it| &it.message));
        let mut new_ids = Vec::with_capacity(wrong.len());
        for (at, part, index, _) in &wrong {
            let Some(Part::ToolCall(call)) = self.items[*at].message.parts.get(*part) else {
                continue;
            };
            let id = fresh.next(&call.name, *index).id;
            // A pattern of a user's own may give what the same profile refuses; then nothing is gained.
            new_ids.push(Some(id).filter(|it| accepts_fresh(profile, it, &call.name)));
        }
        let mut renamed: HashMap<usize, HashMap<String, String>> = HashMap::new();
        for ((at, part, _, reused), new) in wrong.into_iter().zip(new_ids) {
            let Some(Part::ToolCall(call)) = self.items[at].message.parts.get(part) else {
                continue;
            };
            let old = call.id.clone();
            self.at_part(at, part, self.bad_id(&old, reused).mended_if(new.is_some()));
            if let (Some(new), Some(Part::ToolCall(call))) =
                (new, self.items[at].message.parts.get_mut(part))
            {
                call.id.clone_from(&new);
                renamed.entry(at).or_default().insert(old, new);
            }
        }
        for (assistant, tools) in self.pairs() {
            let Some(renamed) = renamed.get(&assistant) else { continue };
            for (item, part) in self.results(tools) {
                if let Some(Part::ToolResult(it)) = self.items[item].message.parts.get_mut(part)
                    && let Some(new) = renamed.get(&it.call_id)
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

fn accepts_id(profile: &Profile, id: &str, name: &str, in_use: &HashSet<String>) -> bool {
    accepts_text(profile, id)
        && (!profile.id_shape
            || is_of_pattern(&profile.id_pattern, id, name, |it| in_use.contains(it)))
}

/// Whether an id that was drawn would be accepted; its number, if one was appended, counts as drawn.
fn accepts_fresh(profile: &Profile, id: &str, name: &str) -> bool {
    accepts_text(profile, id)
        && (!profile.id_shape || is_of_pattern(&profile.id_pattern, id, name, |_| true))
}

fn accepts_text(profile: &Profile, id: &str) -> bool {
    id.len() >= profile.id_min
        && (profile.id_max == 0 || id.len() <= profile.id_max)
        && profile.id_class.accepts(id)
}
