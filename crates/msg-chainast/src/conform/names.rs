//! Steps 3 to 5: the names of tools, of results, of messages.

use std::collections::{HashMap, HashSet};

use msg_core::Part;

use super::state::{Breach, Conform};
use crate::{
    constants::SUMMARIZATION_TOOL_NAME,
    profile::{CharClass, Profile},
};

impl Conform<'_, '_> {
    pub(super) fn tool_names(&mut self) {
        let mut renames: Option<Renames> = None;
        // The names that calls had, by id, where one is not accepted; of the same id the last one.
        let mut had: HashMap<String, String> = HashMap::new();
        for at in 0..self.items.len() {
            for part in self.calls(at) {
                self.call_name(at, part, &mut had, &mut renames);
            }
            for (item, part) in self.results(at..at + 1) {
                self.result_name(item, part, &had, &mut renames);
            }
        }
    }

    fn call_name(
        &mut self,
        item: usize,
        part: usize,
        had: &mut HashMap<String, String>,
        renames: &mut Option<Renames>,
    ) {
        let profile = self.profile;
        let Some(call) = self.call(item, part) else { return };
        if accepts_name(profile, &call.name) {
            had.remove(&call.id);
            return;
        }
        let (id, old) = (call.id.clone(), call.name.clone());
        let new = renames.get_or_insert_with(|| self.renames()).of(profile, &old);
        self.at_part(item, part, bad_name(&old).mended_if(new.is_some()));
        if let Some((new, call)) = new.zip(self.call_mut(item, part)) {
            call.name = new;
        }
        had.insert(id, old);
    }

    /// A result follows its call; another bad name is judged on its own.
    fn result_name(
        &mut self,
        item: usize,
        part: usize,
        had: &HashMap<String, String>,
        renames: &mut Option<Renames>,
    ) {
        let profile = self.profile;
        let Some(result) = self.result(item, part) else { return };
        let Some(old) = result.name.clone().filter(|it| !it.is_empty()) else { return };
        let follows = had.get(&result.call_id) == Some(&old);
        if accepts_name(profile, &old) {
            return;
        }
        let renames = renames.get_or_insert_with(|| self.renames());
        let new = match follows || renames.results_hold {
            true => renames.of(profile, &old),
            false => None,
        };
        if !follows {
            let mended = new.is_some() || !renames.results_hold;
            self.at_part(item, part, bad_name(&old).mended_if(mended));
        }
        if let Some((new, result)) = new.zip(self.result_mut(item, part)) {
            result.name = Some(new);
        }
    }

    /// Whether the names of results hold none back from calls, as they must not where one of all bad names
    /// finds no new one because of them: the next step replaces the names of results, so that the clash
    /// would be one no more when the chain is judged again.
    fn lets_results_go(&self) -> bool {
        if !self.profile.results_named {
            return false;
        }
        let mut renames = self.renames_beside(true);
        let parts = self.items.iter().flat_map(|it| &it.message.parts);
        let mut bad = parts.filter_map(tool_name).filter(|it| !accepts_name(self.profile, it));
        bad.any(|it| renames.of(self.profile, it).is_none())
    }

    fn renames(&self) -> Renames {
        self.renames_beside(!self.lets_results_go())
    }

    /// New names beside those in use that stay as they are; of results where they hold theirs.
    fn renames_beside(&self, results_hold: bool) -> Renames {
        let mut used = HashSet::from([SUMMARIZATION_TOOL_NAME.to_owned()]);
        let parts = self.items.iter().flat_map(|it| &it.message.parts);
        let holders = parts.filter(|it| results_hold || it.as_tool_call().is_some());
        let names = holders.filter_map(tool_name).filter(|it| accepts_name(self.profile, it));
        used.extend(names.map(str::to_owned));
        Renames { used, results_hold, new: HashMap::new(), numbers: HashMap::new() }
    }

    pub(super) fn result_names(&mut self) {
        if !self.profile.results_named {
            return;
        }
        // The names of calls by id; of the same id the last one before a result.
        let mut names: HashMap<String, String> = HashMap::new();
        for at in 0..self.items.len() {
            let calls = self.items[at].message.tool_calls();
            names.extend(calls.map(|it| (it.id.clone(), it.name.clone())));
            for (item, part) in self.results(at..at + 1) {
                let Some(it) = self.result(item, part) else { continue };
                let Some(name) = names.get(&it.call_id) else { continue };
                if it.name.as_ref() == Some(name) {
                    continue;
                }
                let sentence = "a result must carry the name of its call";
                let fix = "set to the name of the call";
                self.at_part(item, part, Breach::error("profile::result-name", sentence, fix));
                if let Some(it) = self.result_mut(item, part) {
                    it.name = Some(name.clone());
                }
            }
        }
    }

    pub(super) fn message_names(&mut self) {
        for at in 0..self.items.len() {
            let Some(name) = &self.items[at].message.name else { continue };
            let class = &self.profile.message_name;
            let (breach, new) = match class.is_none() {
                true => {
                    let sentence = format!("the name `{name}`, where messages have none");
                    (Breach::warning("profile::message-name", sentence, "removed"), None)
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
                    (Breach::error("profile::message-name", sentence, fix), new)
                }
            };
            self.at_message(at, breach);
            self.items[at].message.to_mut().name = new;
        }
    }
}

/// New names of tools: the same for the same old one, and none that is in use.
struct Renames {
    used: HashSet<String>,
    /// Whether those of results are among them.
    results_hold: bool,
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

fn bad_name(name: &str) -> Breach {
    Breach::error(
        "profile::tool-name",
        format!("the tool name `{name}` is not accepted"),
        "renamed",
    )
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
fn cut(name: &str, max: usize) -> &str {
    let mut end = name.len().min(max);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

fn limit(max: usize) -> usize {
    if max == 0 { usize::MAX } else { max }
}
