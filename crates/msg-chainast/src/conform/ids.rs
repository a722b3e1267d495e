//! Step 14: the ids of calls.

use std::collections::{HashMap, HashSet};

use msg_core::{Code, Diagnostic, IdSource, Part};

use super::state::{Conform, mended_if};
use crate::{
    ids::{FreshIds, KeptIds},
    profile::Profile,
    repair::Place,
};

const FRESH: &str = "given a fresh id";
/// What is said where the pattern was exhausted (CA-52).
const NUMBERED: &str =
    "given a fresh id, with a number appended because the id pattern gives no other";

impl Conform<'_, '_> {
    /// Gives calls whose id is not accepted a fresh one, and results those of their calls.
    pub(super) fn call_ids(&mut self, ids: &mut dyn IdSource) {
        let mut wrong = self.wrong_ids();
        if wrong.is_empty() {
            return;
        }
        let profile = self.profile;
        let messages = self.items.iter().map(|it| &*it.message);
        let mut fresh = FreshIds::new(&profile.id_pattern, ids, messages);
        // By the old ids; of the same id that of the last call before a result.
        let mut new_ids: HashMap<String, String> = HashMap::new();
        let mut n_calls = 0;
        for at in 0..self.items.len() {
            for part in 0..self.items[at].message.parts.len() {
                let new = match &self.items[at].message.parts[part] {
                    Part::ToolCall(call) => {
                        n_calls += 1;
                        // A call that keeps an id which was another's takes the results behind it.
                        new_ids.remove(&call.id);
                        let Some(it) = wrong.remove(&(at, part)) else { continue };
                        let new = fresh.next(&call.name, n_calls - 1);
                        // A pattern of a user's own may give what the same profile refuses.
                        let gains = accepts_text(profile, &new.id);
                        let is_mended = gains && (self.all || it.is_error());
                        if is_mended {
                            new_ids.insert(call.id.clone(), new.id.clone());
                        }
                        let it = it.with_fix(if new.exhausted { NUMBERED } else { FRESH });
                        self.at_part(at, part, mended_if(gains, it));
                        is_mended.then_some(new.id)
                    }
                    Part::ToolResult(it) => new_ids.get(&it.call_id).cloned(),
                    _ => None,
                };
                if let Some(new) = new {
                    set_id(&mut self.items[at].message.to_mut().parts[part], new);
                }
            }
        }
    }

    /// What is wrong with ids of calls, by item and part.
    fn wrong_ids(&self) -> HashMap<Place, Diagnostic> {
        let profile = self.profile;
        let messages = || self.items.iter().map(|it| &*it.message);
        let kept = profile.id_shape.then(|| KeptIds::new(&profile.id_pattern, messages()));
        let mut wrong = HashMap::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for (at, message) in messages().enumerate() {
            for (part, it) in message.parts.iter().enumerate() {
                let Part::ToolCall(call) = it else { continue };
                let of_shape = kept.as_ref().is_none_or(|it| it.stays(&call.id, &call.name));
                let reused = profile.ids_unique_in_chain && !seen.insert(&call.id);
                if !of_shape || !accepts_text(profile, &call.id) {
                    let sentence = format!("the id `{}` is not accepted", call.id);
                    let code = Code::new("profile::tool-call-id");
                    let it = Diagnostic::new(profile.id_severity, code, sentence);
                    wrong.insert((at, part), it);
                } else if reused {
                    let sentence = format!("the id `{}` was used before", call.id);
                    let code = Code::new("profile::reused-tool-call-id");
                    wrong.insert((at, part), Diagnostic::error(code, sentence));
                }
            }
        }
        wrong
    }
}

fn accepts_text(profile: &Profile, id: &str) -> bool {
    id.len() >= profile.id_min
        && (profile.id_max == 0 || id.len() <= profile.id_max)
        && profile.id_class.accepts(id)
}

fn set_id(part: &mut Part, id: String) {
    match part {
        Part::ToolCall(it) => it.id = id,
        Part::ToolResult(it) => it.call_id = id,
        _ => {}
    }
}
