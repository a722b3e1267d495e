//! Making a valid chain one that a provider accepts (CA-71, CA-72): steps, each over the whole chain, in the
//! order of the rules.
//!
//! Steps are given a valid chain and leave one; what cannot be mended is reported without a fix.
//!
//! ```text
//! valid chain ─▶ roles ─▶ names ─▶ arguments ─▶ media, results ─▶ reasoning ─▶ members ─▶ neighbours, empty messages ─▶ accepted
//!                   each finding is a Diagnostic, with the provider's own words where they are known
//! ```

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
mod state;
mod unmendable;

use std::collections::HashMap;

use msg_core::{Code, Diagnostic, IdSource, Part, Role};

pub(crate) use reasoning::remove_twins;
use state::Conform;
pub(crate) use unmendable::unmendable;

use crate::{
    analyze::{Enforced, Scope},
    profile::Profile,
    repair::{Item, messages_of},
    tree::ChainAst,
};

impl ChainAst {
    /// Makes a valid chain one that this provider accepts without a warning, and says what was changed, in the
    /// order of the chain (CA-72). Linear.
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
        let _span = tracing::debug_span!("chain_conform", messages = self.sizes.messages).entered();
        let messages = std::mem::take(self).into_messages();
        let items = messages.into_iter().enumerate().map(|(at, it)| Item::whole(it, at)).collect();
        let scope = Scope { enforced: Enforced::STRICT, all: true };
        let (items, mut report) = conform(items, profile, scope, ids, &HashMap::new());
        report.sort_by_key(position);
        *self = ChainAst::build(messages_of(items));
        tracing::debug!(sections = self.sections().len(), found = report.len());
        report
    }
}

/// Runs all steps. `ids_in_input` holds the ids that were others in the input, by place.
pub(crate) fn conform<'m>(
    items: Vec<Item<'m>>,
    profile: &Profile,
    Scope { enforced, all }: Scope,
    ids: &mut dyn IdSource,
    ids_in_input: &HashMap<(usize, usize), String>,
) -> (Vec<Item<'m>>, Vec<Diagnostic>) {
    let mut it = Conform {
        profile,
        enforced,
        all,
        items,
        ids_in_input,
        report: Vec::new(),
        emptied: Vec::new(),
    };
    it.developer_role();
    it.empty_systems();
    it.system_role();
    it.user_message();
    it.tool_names();
    it.result_names();
    it.split_results();
    it.message_names();
    it.arguments();
    // Before all that asks where a turn begins, as a user message may come of it.
    it.media_places();
    it.empty_results();
    it.file_names();
    it.file_texts();
    it.item_ids();
    it.foreign_reasoning();
    it.reasoning_kept();
    it.lone_reasoning();
    it.reasoning_required();
    it.server_tools();
    it.untyped_parts();
    it.unknown_members();
    it.consecutive_assistants();
    it.null_contents();
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
pub(crate) fn trim_last(items: &mut [Item<'_>], profile: &Profile) -> Option<Diagnostic> {
    let last = items.last_mut().filter(|it| it.message.role == Role::Assistant)?;
    let part = last.message.parts.len().checked_sub(1)?;
    let place = last.place(part);
    let Part::Text(it) = &last.message.parts[part] else { return None };
    let end = it.text.trim_end().len();
    if !profile.last_trim || end == it.text.len() || end == 0 {
        return None;
    }
    if let Part::Text(it) = &mut last.message.to_mut().parts[part] {
        it.text.truncate(end);
    }
    let sentence = "the last text of the assistant ends in white space";
    let code = Code::new("profile::trailing-white-space");
    let it = Diagnostic::error(code, sentence).with_fix("trimmed");
    Some(it.at_part(place.0, place.1))
}

/// What a request may not end with; never mended.
pub(crate) fn last_message(items: &[Item<'_>], profile: &Profile) -> Option<Diagnostic> {
    let last = items.last()?;
    // Where the provider has a member for it, an answer may be begun for the model.
    let begins = |name: &str| !name.is_empty() && name == profile.prefill;
    let is_begun = last.message.extra.all().any(|it| begins(it.1) && it.2.text() == "true");
    (profile.user_last && last.message.role == Role::Assistant && !is_begun).then(|| {
        let sentence = "a request may not end with an assistant message";
        Diagnostic::error(Code::new("profile::last-message"), sentence)
            .at_message(last.origin.message)
    })
}

/// The answer that results were given to begins with a thought, where thinking is on (PM-18). Nobody can make one
/// up, so it is never mended.
pub(crate) fn missing_thinking(items: &[Item<'_>], profile: &Profile) -> Option<Diagnostic> {
    let is = |it: &Item<'_>, role: Role| it.message.role == role;
    let n_results = items.iter().rev().take_while(|it| is(it, Role::Tool)).count();
    let before = &items[..items.len() - n_results];
    // Answers in a row are one.
    let n_answers = before.iter().rev().take_while(|it| is(it, Role::Assistant)).count();
    let answer = &before[before.len() - n_answers..];
    let first = answer.iter().find_map(|it| it.message.parts.first().map(|part| (it, part)));
    let (item, part) = first.filter(|_| profile.reasoning_first && n_results > 0)?;
    let sentence = "an answer with calls that does not begin with thinking, where thinking is on";
    part.as_reasoning().is_none().then(|| {
        Diagnostic::error(Code::new("profile::thinking-missing"), sentence)
            .at_message(item.origin.message)
    })
}

/// The order of the input.
pub(crate) fn position(it: &Diagnostic) -> (Option<usize>, Option<usize>) {
    (it.at.message, it.at.part)
}
