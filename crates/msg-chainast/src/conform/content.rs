//! Steps 6, 10 and 11: arguments, messages without content, empty texts.

use msg_core::{ArgumentsState, CallKind, Message, Part, Role, ToolCall, with_article};

use super::{Breach, Conform};
use crate::{
    arguments::sanitized,
    constants::{EMPTY_CONTENT, FALLBACK_REQUEST_ARGS},
    mend::Item,
    profile::{Acceptance, ArgumentsRule, EmptyIs},
};

impl Conform<'_> {
    pub(super) fn arguments(&mut self) {
        let rule = self.profile.arguments;
        if rule == ArgumentsRule::Any {
            return;
        }
        for at in 0..self.items.len() {
            for part in self.calls(at) {
                let Some(Part::ToolCall(call)) = self.items[at].message.parts.get(part) else {
                    continue;
                };
                let Some(new) = accepted_arguments(call, rule) else { continue };
                let sentence = match rule {
                    ArgumentsRule::Object => "arguments must be a JSON object",
                    _ => "arguments must be JSON",
                };
                let fix =
                    if new == FALLBACK_REQUEST_ARGS { "set to {}" } else { "made valid JSON" };
                self.at_part(at, part, Breach::error("profile::arguments", sentence, fix));
                if let Some(Part::ToolCall(call)) = self.items[at].message.parts.get_mut(part) {
                    call.arguments = new.into();
                }
            }
        }
    }

    pub(super) fn empty_messages(&mut self) {
        if self.profile.empty.is_empty() {
            return;
        }
        let blank = self.profile.blank;
        for at in 0..self.items.len() {
            if !self.is_filled(&self.items[at].message) {
                continue;
            }
            let fix = "inserted a placeholder text";
            self.at_message(at, empty_message(&self.items[at].message.role, fix));
            let item = &mut self.items[at];
            item.retain_parts(|_, it| !is_empty_text(it, blank));
            let place = (item.origin.message, 0);
            item.push_part(Part::text(EMPTY_CONTENT), place);
        }
    }

    /// Takes system messages away that are refused as empty. It comes before all that asks who follows whom.
    pub(super) fn empty_systems(&mut self) {
        let goes = |it: &Item| it.message.role.is_system() && self.is_filled(&it.message);
        if !self.items.iter().any(goes) {
            return;
        }
        let mut removed_before = false;
        let mut kept: Vec<Item> = Vec::with_capacity(self.items.len());
        for item in std::mem::take(&mut self.items) {
            if item.message.role.is_system() && self.is_filled(&item.message) {
                let breach = empty_message(&item.message.role, "removed");
                self.report.push(breach.diagnostic().at_message(item.origin.message));
                removed_before = true;
                continue;
            }
            let joins = std::mem::take(&mut removed_before)
                && self.enforced.consecutive_user
                && item.message.role == Role::User;
            match kept.last_mut().filter(|it| joins && it.message.role == Role::User) {
                Some(last) => {
                    let sentence = "two user messages in a row, once the system message is removed";
                    let fix = "merged into the one before";
                    let breach = Breach::error("chain::consecutive-user", sentence, fix);
                    self.report.push(breach.diagnostic().at_message(item.origin.message));
                    last.merge(item);
                }
                None => kept.push(item),
            }
        }
        self.items = kept;
        self.lead_again();
    }

    /// A strict chain that began with an assistant message, once the system message is gone, would be none.
    fn lead_again(&mut self) {
        let assistant_first = |it: &Item| it.message.role == Role::Assistant;
        if self.enforced.first_role && self.items.first().is_some_and(assistant_first) {
            let sentence = "an assistant message first, once the system message is removed";
            let fix = "inserted a user message";
            self.at_message(0, Breach::error("profile::user-message", sentence, fix));
            self.insert_first_user();
        }
    }

    /// Whether a message is refused as empty: it gets a text, or goes if it is a system message.
    pub(super) fn is_filled(&self, message: &Message) -> bool {
        let role = &message.role;
        let lists = |it: &Role| it == role || role.is_system() && it.is_system();
        self.profile.empty.iter().any(lists)
            && match self.profile.empty_is {
                EmptyIs::Part => message.parts.iter().all(|it| it.as_reasoning().is_some()),
                EmptyIs::Text => !has_content(&message.parts, self.profile.blank),
            }
    }

    pub(super) fn empty_texts(&mut self) {
        if self.profile.empty_text == Acceptance::Accept {
            return;
        }
        let blank = self.profile.blank;
        for at in 0..self.items.len() {
            let parts = &self.items[at].message.parts;
            if !self.drops_empty_texts(parts) {
                continue;
            }
            let empty = |it: &usize| is_empty_text(&parts[*it], blank);
            let mut from: Vec<usize> =
                (0..parts.len()).filter(empty).map(|it| self.items[at].place(it).0).collect();
            from.dedup();
            for message in from {
                let breach = Breach::error("profile::empty-text", "an empty text part", "removed");
                self.report.push(breach.diagnostic().at_message(message));
            }
            self.items[at].retain_parts(|_, it| !is_empty_text(it, blank));
        }
    }

    /// Whether empty texts among these parts are refused: beside other content. Reasoning is none, and a
    /// message of nothing else is written with an empty text again.
    pub(super) fn drops_empty_texts(&self, parts: &[Part]) -> bool {
        let blank = self.profile.blank;
        let is_content = |it: &Part| it.as_reasoning().is_none() && !is_empty_text(it, blank);
        self.profile.empty_text == Acceptance::Reject
            && parts.iter().any(|it| is_empty_text(it, blank))
            && parts.iter().any(is_content)
    }
}

/// What the arguments of a call are replaced by, if the rule refuses them.
fn accepted_arguments(call: &ToolCall, rule: ArgumentsRule) -> Option<String> {
    if !matches!(call.kind, CallKind::Function | CallKind::Unspecified) {
        return None;
    }
    let accepts = |state: ArgumentsState| match rule {
        ArgumentsRule::Any => true,
        ArgumentsRule::Json => {
            matches!(state, ArgumentsState::Object | ArgumentsState::NotObject)
        }
        ArgumentsRule::Object => state == ArgumentsState::Object,
    };
    if accepts(call.arguments.state()) {
        return None;
    }
    let new = sanitized(call.arguments.text()).map(msg_core::Arguments::from);
    let fits = new.filter(|it| accepts(it.state()));
    Some(fits.map_or_else(|| FALLBACK_REQUEST_ARGS.to_owned(), msg_core::Arguments::into_text))
}

/// Whether there is a call, a result, media, or text that is not empty.
fn has_content(parts: &[Part], blank: bool) -> bool {
    parts.iter().any(|it| match it {
        Part::Reasoning(_) => false,
        Part::Text(it) | Part::Refusal(it) => !is_empty(&it.text, blank),
        _ => true,
    })
}

pub(super) fn is_empty_text(part: &Part, blank: bool) -> bool {
    matches!(part, Part::Text(it) if is_empty(&it.text, blank))
}

fn is_empty(text: &str, blank: bool) -> bool {
    if blank { text.trim().is_empty() } else { text.is_empty() }
}

fn empty_message(role: &Role, fix: &'static str) -> Breach {
    let sentence = format!("{} message without content", with_article(role.as_str()));
    Breach::error("profile::empty-message", sentence, fix)
}
