//! Making a valid chain one that a provider accepts (CA-71, CA-72): fourteen steps, each over the whole
//! chain, in the order of the rules.
//!
//! Steps are given a valid chain and leave one; what cannot be mended is reported without a fix.

mod content;
mod files;
mod foreign;
mod ids;
mod items;
mod media;
mod members;
mod names;
mod opaque;
mod reasoning;
mod roles;
mod split;
mod unmendable;

use std::{borrow::Cow, ops::Range};

use hashbrown::{HashMap, HashSet};
use msg_core::{Code, Diagnostic, IdSource, Part, Role, Severity, with_article};

pub(crate) use content::CACHE_MARKER;
use content::is_empty_text;
pub(crate) use items::{ITEM, has_item_id};
pub(crate) use opaque::Facts;
pub(crate) use reasoning::{remove_twins, twins};
pub(crate) use unmendable::unmendable;

use crate::{
    mend::Item,
    profile::{LastMessage, Profile},
    tree::ChainAst,
    walk::Enforced,
};

impl ChainAst {
    /// Makes a valid chain one that this provider accepts, and says what was changed, in the order of the
    /// chain (CA-72). Linear.
    ///
    /// ```
    /// use msg_chainast::{ChainAst, CheckOptions, Message, Profile, SeededIds};
    ///
    /// let bedrock = Profile::named("bedrock").ok_or("no such profile")?;
    /// let mut chain = ChainAst::parse(vec![Message::user("Hi"), Message::assistant(" ").with_text(" ")])?;
    /// let edits = chain.conform(bedrock, &mut SeededIds::new(1));
    /// assert_eq!(edits[0].code, "profile::empty-message");
    /// assert!(chain.check(bedrock, &CheckOptions::new()).is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conform(&mut self, profile: &Profile, ids: &mut dyn IdSource) -> Vec<Diagnostic> {
        let span = tracing::debug_span!(
            "chain_conform",
            messages = self.sizes.messages,
            sections = tracing::field::Empty,
            edits = tracing::field::Empty,
        );
        let _entered = span.enter();
        let messages = std::mem::take(self).into_messages();
        let items = messages.into_iter().enumerate().map(|(at, it)| Item::whole(it, at)).collect();
        let (items, mut report) = conform(items, profile, Enforced::STRICT, ids, &HashMap::new());
        report.sort_by_key(position);
        *self = ChainAst::build(items);
        span.record("sections", self.sections().len());
        span.record("edits", report.iter().filter(|it| it.fix.is_some()).count());
        report
    }
}

/// Runs all steps. `ids_in_input` holds the ids that were others in the input, by place.
pub(crate) fn conform(
    items: Vec<Item>,
    profile: &Profile,
    enforced: Enforced,
    ids: &mut dyn IdSource,
    ids_in_input: &HashMap<(usize, usize), String>,
) -> (Vec<Item>, Vec<Diagnostic>) {
    let mut it =
        Conform { profile, enforced, items, ids_in_input, report: Vec::new(), emptied: Vec::new() };
    it.developer_role();
    it.empty_systems();
    it.system_role();
    it.user_message();
    it.tool_names();
    it.result_names();
    it.message_names();
    it.arguments();
    // Before all that asks where a turn begins, as a user message may come of it.
    it.media_places();
    it.empty_results();
    it.file_names();
    it.file_texts();
    it.foreign_reasoning();
    it.reasoning_kept();
    it.lone_reasoning();
    it.reasoning_required();
    it.server_tools();
    it.untyped_parts();
    it.unknown_members();
    it.consecutive_assistants();
    it.empty_messages();
    it.empty_texts();
    it.cache_markers();
    it.user_after_tool();
    it.surplus_calls();
    it.call_ids(ids);
    it.emptied_messages();
    (it.items, it.report)
}

/// White space that a request may not end with (PM-8).
pub(crate) fn trim_last(items: &mut [Item], profile: &Profile) -> Option<Diagnostic> {
    let last = items.last_mut().filter(|it| it.message.role == Role::Assistant)?;
    let part = last.message.parts.len().checked_sub(1)?;
    let place = last.place(part);
    let Part::Text(it) = &mut last.message.parts[part] else { return None };
    let end = it.text.trim_end().len();
    if !profile.last_trim || end == it.text.len() || end == 0 {
        return None;
    }
    it.text.truncate(end);
    let sentence = "the last text of the assistant ends in white space";
    let code = Code::new("profile::trailing-white-space");
    let it = Diagnostic::error(code, sentence).with_fix("trimmed");
    Some(it.at_part(place.0, place.1))
}

/// What a request may not end with; never mended.
pub(crate) fn last_message(items: &[Item], profile: &Profile) -> Option<Diagnostic> {
    let last = items.last()?;
    (profile.last == LastMessage::User && last.message.role == Role::Assistant).then(|| {
        let sentence = "a request may not end with an assistant message";
        Diagnostic::error(Code::new("profile::last-message"), sentence)
            .at_message(last.origin.message)
    })
}

/// The order of the input.
pub(crate) fn position(it: &Diagnostic) -> (Option<usize>, Option<usize>) {
    (it.at.message, it.at.part)
}

struct Conform<'a> {
    profile: &'a Profile,
    /// The rules of the chain that hold besides: a tree is always of a strict chain.
    enforced: Enforced,
    items: Vec<Item>,
    ids_in_input: &'a HashMap<(usize, usize), String>,
    report: Vec<Diagnostic>,
    /// The messages that had nothing left once reasoning was removed, as in the input.
    emptied: Vec<usize>,
}

/// A rule of a profile that a message or part breaks.
struct Breach {
    code: &'static str,
    severity: Severity,
    sentence: Cow<'static, str>,
    fix: Option<Cow<'static, str>>,
}

impl Breach {
    fn error(
        code: &'static str,
        sentence: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) -> Self {
        Breach { code, severity: Severity::Error, sentence: sentence.into(), fix: Some(fix.into()) }
    }

    fn warning(
        code: &'static str,
        sentence: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) -> Self {
        Breach { severity: Severity::Warning, ..Breach::error(code, sentence, fix) }
    }

    /// Says that nothing was done if that is so.
    fn mended_if(mut self, mended: bool) -> Self {
        self.fix = self.fix.filter(|_| mended);
        self
    }

    fn diagnostic(self) -> Diagnostic {
        let mut it = Diagnostic::new(self.severity, Code::new(self.code), self.sentence);
        it.fix = self.fix;
        it
    }
}

impl Conform<'_> {
    /// A breach of a field of which the profile is not certain is a warning.
    fn doubting(&self, field: &str, breach: Breach) -> Breach {
        match self.profile.doubt.iter().any(|it| it == field) {
            true => Breach { severity: Severity::Warning, ..breach },
            false => breach,
        }
    }

    /// Reports a breach at a message.
    fn at_message(&mut self, item: usize, breach: Breach) {
        let at = self.items[item].origin.message;
        self.report.push(breach.diagnostic().at_message(at));
    }

    /// Reports a breach at a part, with the id of its call in the input.
    fn at_part(&mut self, item: usize, part: usize, breach: Breach) {
        let place = self.items[item].place(part);
        let id = match self.items[item].message.parts.get(part) {
            Some(Part::ToolCall(it)) => Some(it.id.as_str()),
            Some(Part::ToolResult(it)) => Some(it.call_id.as_str()),
            _ => None,
        };
        let mut it = breach.diagnostic().at_part(place.0, place.1);
        it.at.tool_call_id = id
            .map(|id| self.ids_in_input.get(&place).map_or(id, String::as_str))
            .map(str::to_owned);
        self.report.push(it);
    }

    /// Removes parts of reasoning, and remembers a message that has nothing left.
    fn remove_reasoning(&mut self, item: usize, goes: impl Fn(usize) -> bool) {
        let item = &mut self.items[item];
        item.retain_parts(|part, _| !goes(part));
        if item.message.parts.iter().all(|it| is_empty_text(it, false)) {
            self.emptied.push(item.origin.message);
        }
    }

    /// Says of a message that was emptied what a later check would say of it (CA-11).
    fn emptied_messages(&mut self) {
        let emptied = std::mem::take(&mut self.emptied);
        let mut emptied = emptied.into_iter().collect::<HashSet<_>>();
        for item in &self.items {
            let message = &item.message;
            let empty = message.parts.iter().all(|it| is_empty_text(it, false));
            if empty && emptied.remove(&item.origin.message) {
                let sentence =
                    format!("{} message without content", with_article(message.role.as_str()));
                let it = Diagnostic::warning(Code::new("chain::empty-message"), sentence);
                self.report.push(it.at_message(item.origin.message));
            }
        }
    }

    /// The assistant messages with the tool messages directly behind each.
    fn pairs(&self) -> Vec<(usize, Range<usize>)> {
        let mut pairs: Vec<(usize, Range<usize>)> = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            match item.message.role {
                Role::Assistant => pairs.push((at, at + 1..at + 1)),
                Role::Tool => {
                    if let Some((_, tools)) = pairs.last_mut().filter(|it| it.1.end == at) {
                        tools.end = at + 1;
                    }
                }
                _ => {}
            }
        }
        pairs
    }

    /// The places of an item's calls.
    fn calls(&self, item: usize) -> Vec<usize> {
        let parts = self.items[item].message.parts.iter().enumerate();
        parts.filter(|it| it.1.as_tool_call().is_some()).map(|it| it.0).collect()
    }

    /// The results of some tool messages: (item, part).
    fn results(&self, tools: Range<usize>) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for item in tools {
            let parts = self.items[item].message.parts.iter().enumerate();
            let results = parts.filter(|it| it.1.as_tool_result().is_some());
            places.extend(results.map(|(part, _)| (item, part)));
        }
        places
    }
}
