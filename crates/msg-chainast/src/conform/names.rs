//! Steps 3 to 5: the names of tools, of results, of messages.

use std::collections::{HashMap, HashSet};

use msg_core::{Diagnostic, Part};

use super::state::{Conform, error, mended_if, warning};
use crate::{
    constants::SUMMARIZATION_TOOL_NAME,
    profile::{CharClass, Profile},
};

impl Conform<'_, '_> {
    pub(super) fn tool_names(&mut self) {
        let profile = self.profile;
        let mut names = self.items.iter().flat_map(|it| &it.message.parts).filter_map(tool_name);
        if names.all(|it| accepts_name(profile, it)) {
            return;
        }
        let mut renames = self.renames();
        // The names that calls had, by id; of the same id the last one.
        let mut had: HashMap<String, String> = HashMap::new();
        for at in 0..self.items.len() {
            for part in 0..self.items[at].message.parts.len() {
                let it = &self.items[at].message.parts[part];
                let Some(old) = tool_name(it).map(str::to_owned) else { continue };
                let of_call = it.as_tool_result().and_then(|it| had.get(&it.call_id));
                // The next step gives it the name of its call.
                if of_call.is_some_and(|it| profile.results_named && *it != old) {
                    continue;
                }
                let follows = of_call == Some(&old);
                if let Part::ToolCall(it) = it {
                    had.insert(it.id.clone(), old.clone());
                }
                if accepts_name(profile, &old) {
                    continue;
                }
                let new = renames.of(profile, &old);
                if !follows {
                    self.at_part(at, part, mended_if(new.is_some(), bad_name(&old)));
                }
                if let Some(new) = new {
                    set_tool_name(&mut self.items[at].message.to_mut().parts[part], new);
                }
            }
        }
    }

    /// New names beside those in use that stay as they are. Those of results do not where the next step gives these
    /// the names of their calls.
    fn renames(&self) -> Renames {
        let parts = || self.items.iter().flat_map(|it| &it.message.parts);
        let calls = parts().filter_map(Part::as_tool_call).map(|it| it.id.as_str());
        let called: HashSet<&str> = calls.filter(|_| self.profile.results_named).collect();
        let holds =
            |it: &&Part| it.as_tool_result().is_none_or(|it| !called.contains(&*it.call_id));
        let names = parts().filter(holds).filter_map(tool_name);
        let mut used = HashSet::from([SUMMARIZATION_TOOL_NAME.to_owned()]);
        used.extend(names.filter(|it| accepts_name(self.profile, it)).map(str::to_owned));
        Renames { used, new: HashMap::new(), numbers: HashMap::new() }
    }

    pub(super) fn result_names(&mut self) {
        if !self.profile.results_named {
            return;
        }
        // The names of calls by id; of the same id the last one before a result.
        let mut names: HashMap<String, String> = HashMap::new();
        let judge = |part: &Part| {
            if let Part::ToolCall(it) = part {
                names.insert(it.id.clone(), it.name.clone());
            }
            let result = part.as_tool_result()?;
            let name = names.get(&result.call_id).filter(|it| result.name.as_ref() != Some(it))?;
            let sentence = "a result must carry the name of its call";
            let it = error("profile::result-name", sentence, "set to the name of the call");
            Some((it, Some(name.clone())))
        };
        self.mend_parts(judge, set_tool_name);
    }

    pub(super) fn message_names(&mut self) {
        for at in 0..self.items.len() {
            let Some(name) = &self.items[at].message.name else { continue };
            let class = &self.profile.message_name;
            let (it, new) = match class.is_none() {
                true => {
                    let sentence = format!("the name `{name}`, where messages have none");
                    self.at_message(at, warning("profile::message-name", sentence, "removed"));
                    if self.all {
                        self.items[at].message.to_mut().name = None;
                    }
                    continue;
                }
                false => {
                    let max = limit(self.profile.message_name_max);
                    if !name.is_empty() && class.accepts(name) && name.len() <= max {
                        continue;
                    }
                    let new = cut(&replaced(name, class), max).to_owned();
                    let sentence = format!("the message name `{name}` is not accepted");
                    let new = Some(new).filter(|it| !it.is_empty());
                    let fix = if new.is_some() { "renamed" } else { "removed" };
                    (error("profile::message-name", sentence, fix), new)
                }
            };
            self.at_message(at, it);
            self.items[at].message.to_mut().name = new;
        }
    }
}

/// New names of tools: the same for the same old one, and none that is in use.
struct Renames {
    used: HashSet<String>,
    new: HashMap<String, Option<String>>,
    /// The number that was last appended to a name.
    numbers: HashMap<String, usize>,
}

impl Renames {
    /// The new name for an old one; none if the profile's rules leave no way to make one.
    fn of(&mut self, profile: &Profile, old: &str) -> Option<String> {
        if let Some(known) = self.new.get(old) {
            return known.clone();
        }
        let new = self.make(profile, old);
        self.new.insert(old.to_owned(), new.clone());
        new
    }

    fn make(&mut self, profile: &Profile, old: &str) -> Option<String> {
        let max = limit(profile.name_max);
        let mut base = replaced(old, &profile.name_class);
        if !base.chars().next().is_some_and(|it| profile.name_first.contains(it)) {
            base.insert(0, '_');
        }
        let base = cut(&base, max).to_owned();
        let mut name = base.clone();
        while self.used.contains(&name) {
            let number = self.numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            let suffix = format!("_{number}");
            if suffix.len() >= max {
                return None;
            }
            name = format!("{}{suffix}", cut(&base, max - suffix.len()));
        }
        if !accepts_name(profile, &name) {
            return None;
        }
        self.used.insert(name.clone());
        Some(name)
    }
}

/// The name of a tool that a call or a result bears.
fn tool_name(part: &Part) -> Option<&str> {
    match part {
        Part::ToolCall(it) => Some(&it.name),
        Part::ToolResult(it) => it.name.as_deref().filter(|it| !it.is_empty()),
        _ => None,
    }
}

fn set_tool_name(part: &mut Part, name: String) {
    match part {
        Part::ToolCall(it) => it.name = name,
        Part::ToolResult(it) => it.name = Some(name),
        _ => {}
    }
}

fn bad_name(name: &str) -> Diagnostic {
    error("profile::tool-name", format!("the tool name `{name}` is not accepted"), "renamed")
}

fn accepts_name(profile: &Profile, name: &str) -> bool {
    name.len() <= limit(profile.name_max)
        && profile.name_class.accepts(name)
        && name.chars().next().is_some_and(|it| profile.name_first.contains(it))
}

/// Other characters become `_`; where that is not accepted either, they go.
fn replaced(name: &str, class: &CharClass) -> String {
    name.chars()
        .map(|it| if class.contains(it) { it } else { '_' })
        .filter(|it| class.contains(*it))
        .collect()
}

/// The beginning of a name that has at most so many bytes.
pub(super) fn cut(name: &str, max: usize) -> &str {
    let mut end = name.len().min(max);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// A greatest length, of which 0 is none.
pub(super) fn limit(max: usize) -> usize {
    if max == 0 { usize::MAX } else { max }
}
