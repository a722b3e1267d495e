//! Steps 3 to 5 and 14: the names of tools, results and messages, and the ids of calls.

use std::collections::{HashMap, HashSet};

use msg_core::{Code, Diagnostic, IdSource, OpenCalls, Part};

use super::{Conform, error, mended_if, warning};
use crate::{
    constants::SUMMARIZATION_TOOL_NAME,
    ids::{FreshIds, KeptIds},
    profile::{CharClass, Profile},
    repair::Place,
};

impl Conform<'_, '_> {
    /// The names of tools in calls and results.
    pub(super) fn tool_names(&mut self) {
        let profile = self.profile;
        let mut names = self.items.iter().flat_map(|it| &it.message.parts).filter_map(tool_name);
        let are_accepted = names.all(|it| accepts_name(profile, it));
        if are_accepted && !profile.results_named {
            return;
        }
        // Done while results still have their names, which may decide the match.
        let answered = self.answered_calls();
        if !are_accepted {
            self.rename_tools(&answered);
        }
        if profile.results_named {
            self.result_names(answered);
        }
    }

    fn rename_tools(&mut self, answered: &HashMap<Place, Place>) {
        let profile = self.profile;
        let mut renames = self.renames();
        // The names that calls had.
        let mut had: HashMap<Place, String> = HashMap::new();
        for at in 0..self.items.len() {
            for part in 0..self.items[at].message.parts.len() {
                let it = &self.items[at].message.parts[part];
                let Some(old) = tool_name(it).map(str::to_owned) else { continue };
                let of_call = answered.get(&(at, part)).and_then(|it| had.get(it));
                // The next step gives it the name of its call.
                if of_call.is_some_and(|it| profile.results_named && *it != old) {
                    continue;
                }
                let follows = of_call == Some(&old);
                if it.as_tool_call().is_some() {
                    had.insert((at, part), old.clone());
                }
                if accepts_name(profile, &old) {
                    continue;
                }
                let new = renames.of(profile, &old);
                if !follows {
                    self.at_part(at, part, mended_if(new.is_some(), bad_name(profile, &old)));
                }
                if let Some(new) = new {
                    set_tool_name(&mut self.items[at].message.to_mut().parts[part], new);
                }
            }
        }
    }

    /// New names that differ from all names in use. Names of results are not in use if the next step replaces them
    /// by the names of their calls.
    fn renames(&self) -> Renames {
        let parts = || self.items.iter().flat_map(|it| &it.message.parts);
        let calls = parts().filter_map(Part::as_tool_call).map(|it| it.id.as_str());
        let called: HashSet<&str> = calls.filter(|_| self.profile.results_named).collect();
        let holds =
            |it: &&Part| it.as_tool_result().is_none_or(|it| !called.contains(&*it.call_id));
        let names = parts().filter(holds).filter_map(tool_name);
        let mut used = HashSet::from([SUMMARIZATION_TOOL_NAME.to_owned()]);
        used.extend(names.filter(|it| accepts_name(self.profile, it)).map(str::to_owned));
        Renames { used, new: HashMap::new(), numbers: Numbers::default() }
    }

    fn result_names(&mut self, answered: HashMap<Place, Place>) {
        let mut answered: Vec<_> = answered.into_iter().collect();
        msg_core::sort_by_rank(&mut answered, |it| it.0);
        for ((at, part), call) in answered {
            let call = self.items[call.0].message.parts[call.1].as_tool_call();
            let result = self.items[at].message.parts[part].as_tool_result();
            let Some((call, result)) = call.zip(result) else { continue };
            if result.name.as_ref() != Some(&call.name) {
                let name = call.name.clone();
                let sentence = "a result must carry the name of its call";
                let it = error("profile::result-name", sentence, "set to the name of the call");
                self.at_part(at, part, it);
                set_tool_name(&mut self.items[at].message.to_mut().parts[part], name);
            }
        }
    }

    /// The call that each result answers, by place. Several results may answer the same call.
    fn answered_calls(&self) -> HashMap<Place, Place> {
        let (mut open, mut answered) = (OpenCalls::default(), HashMap::new());
        for (at, item) in self.items.iter().enumerate() {
            open.message(
                &item.message,
                |part, _| (at, part),
                |part, _, call| answered.extend(call.map(|call| ((at, part), call))),
            );
        }
        answered
    }

    pub(super) fn message_names(&mut self) {
        for at in 0..self.items.len() {
            let Some(name) = &self.items[at].message.name else { continue };
            let class = &self.profile.message_name;
            let (it, new) = match class.is_none() {
                true => {
                    let sentence = format!("message names are not accepted, found `{name}`");
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
                    let expected = expected(class, None, self.profile.message_name_max);
                    let sentence = format!("message name `{name}` is not accepted{expected}");
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
    numbers: Numbers,
}

impl Renames {
    /// The new name for an old one; `None` if the profile's rules allow no name.
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
        let base = cut(&base, max);
        let used = &self.used;
        let name = match used.contains(base) {
            false => base.to_owned(),
            true => self.numbers.name(base, '_', max, |it| !used.contains(it))?,
        };
        if !accepts_name(profile, &name) {
            return None;
        }
        self.used.insert(name.clone());
        Some(name)
    }
}

/// The next number to append to each name.
#[derive(Default)]
pub(super) struct Numbers(HashMap<String, usize>);

impl Numbers {
    /// The name with the first number that makes it unique; `None` if the number leaves no room for the name. All
    /// names together take linear time.
    pub(super) fn name(
        &mut self,
        name: &str,
        separator: char,
        max: usize,
        mut is_free: impl FnMut(&str) -> bool,
    ) -> Option<String> {
        let mut number = 2;
        loop {
            let suffix = format!("{separator}{number}");
            let stem = cut(name, max.checked_sub(suffix.len()).filter(|it| *it > 0)?).trim_end();
            let next = self.0.entry(stem.to_lowercase()).or_insert(2);
            // A longer number may leave less of the name.
            if *next > number {
                number = *next;
                continue;
            }
            number += 1;
            *next = number;
            let new = format!("{stem}{suffix}");
            if is_free(&new) {
                return Some(new);
            }
        }
    }
}

/// The name of a tool that a call or a result has.
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

fn bad_name(profile: &Profile, name: &str) -> Diagnostic {
    error("profile::tool-name", profile.refused_tool_name(name), "renamed")
}

/// The accepted names of a class, as the end of a sentence.
fn expected(class: &CharClass, first: Option<&CharClass>, max: usize) -> String {
    let mut res = format!(", expected {}", class.as_str());
    if let Some(first) = first {
        res += &format!(", first {}", first.as_str());
    }
    if max > 0 {
        res += &format!(", at most {max}");
    }
    res
}

impl Profile {
    /// Whether the provider accepts a tool with this name (CA-72).
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let profile = Profile::named("openai").expect("it is built in");
    /// assert!(profile.accepts_tool_name("get_weather") && !profile.accepts_tool_name("get weather!"));
    /// ```
    #[must_use]
    pub fn accepts_tool_name(&self, name: &str) -> bool {
        accepts_name(self, name)
    }

    /// The sentence about a tool name that the provider does not accept: what it takes instead (CA-72).
    ///
    /// ```
    /// use msg_chainast::Profile;
    ///
    /// let profile = Profile::named("openai").expect("it is built in");
    /// let sentence = "tool name `a b` is not accepted, expected [a-zA-Z0-9_-], at most 64";
    /// assert_eq!(profile.refused_tool_name("a b"), sentence);
    /// ```
    #[must_use]
    pub fn refused_tool_name(&self, name: &str) -> String {
        let first = Some(&self.name_first).filter(|it| **it != CharClass::any());
        let expected = expected(&self.name_class, first, self.name_max);
        format!("tool name `{name}` is not accepted{expected}")
    }
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

/// The longest beginning of a name within this number of bytes.
pub(super) fn cut(name: &str, max: usize) -> &str {
    let mut end = name.len().min(max);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// A maximum length, where 0 means no limit.
pub(super) fn limit(max: usize) -> usize {
    if max == 0 { usize::MAX } else { max }
}

// Step 14: the ids of calls.

const FRESH: &str = "given a fresh id";
/// The note for an exhausted pattern (CA-52).
const NUMBERED: &str =
    "given a fresh id, with a number appended because the id pattern gives no other";

impl Conform<'_, '_> {
    /// Gives fresh ids to calls whose id is not accepted, and to their results.
    pub(crate) fn call_ids(&mut self, ids: &mut dyn IdSource) {
        let mut wrong = self.wrong_ids();
        if wrong.is_empty() {
            return;
        }
        let profile = self.profile;
        let messages = self.items.iter().map(|it| &*it.message);
        let mut fresh = FreshIds::new(&profile.id_pattern, ids, messages);
        let answered = self.answered_calls();
        let mut new_ids: HashMap<Place, String> = HashMap::new();
        let mut n_calls = 0;
        for at in 0..self.items.len() {
            for part in 0..self.items[at].message.parts.len() {
                let new = match &self.items[at].message.parts[part] {
                    Part::ToolCall(call) => {
                        n_calls += 1;
                        let Some(it) = wrong.remove(&(at, part)) else { continue };
                        let new = fresh.next(&call.name, n_calls - 1);
                        // A user's own pattern may make ids that the profile refuses.
                        let gains = accepts_text(profile, &new.id);
                        let is_mended = gains && (self.all || it.is_error());
                        if is_mended {
                            new_ids.insert((at, part), new.id.clone());
                        }
                        let it = it.with_fix(if new.exhausted { NUMBERED } else { FRESH });
                        self.at_part(at, part, mended_if(gains, it));
                        is_mended.then_some(new.id)
                    }
                    Part::ToolResult(_) => {
                        answered.get(&(at, part)).and_then(|it| new_ids.get(it)).cloned()
                    }
                    _ => None,
                };
                if let Some(new) = new {
                    set_id(&mut self.items[at].message.to_mut().parts[part], new);
                }
            }
        }
    }

    /// The problems of call ids, by item and part.
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
                    let sentence = format!("tool call id `{}` is not accepted", call.id);
                    let code = Code::new("profile::tool-call-id");
                    let it = Diagnostic::new(profile.id_severity, code, sentence);
                    wrong.insert((at, part), it);
                } else if reused {
                    let sentence = format!("tool call id `{}` was used before", call.id);
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
