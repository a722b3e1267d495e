//! Steps 6, 10 and 11: arguments, messages without content, empty texts.

use msg_core::{ArgumentsState, CallKind, Message, Part, Role, ToolCall};

use super::{Breach, Conform};
use crate::{
    arguments::sanitized,
    constants::{EMPTY_CONTENT, FALLBACK_REQUEST_ARGS},
    profile::{ArgumentsRule, EmptyText},
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
        let mut system_removed = false;
        for at in 0..self.items.len() {
            if !self.is_filled(&self.items[at].message) {
                continue;
            }
            let role = &self.items[at].message.role;
            let sentence = format!("{} message without content", capital_free(role));
            if role.is_system() {
                self.at_message(at, Breach::error("profile::empty-message", sentence, "removed"));
                system_removed = true;
                continue;
            }
            let fix = "inserted a placeholder text";
            self.at_message(at, Breach::error("profile::empty-message", sentence, fix));
            let item = &mut self.items[at];
            item.retain_parts(|_, it| !is_empty_text(it, blank));
            let place = (item.origin.message, 0);
            item.push_part(Part::text(EMPTY_CONTENT), place);
        }
        if system_removed {
            self.remove_system();
        }
    }

    /// Whether a message is refused as empty: it gets a text, or goes if it is a system message.
    pub(super) fn is_filled(&self, message: &Message) -> bool {
        let role = &message.role;
        let lists = |it: &Role| it == role || role.is_system() && it.is_system();
        self.profile.empty.iter().any(lists) && !has_content(&message.parts, self.profile.blank)
    }

    /// Takes the system message away; a chain that then began with an assistant message would be none.
    fn remove_system(&mut self) {
        self.items.remove(0);
        if self.items.first().is_some_and(|it| it.message.role == Role::Assistant) {
            let sentence = "an assistant message first, once the system message is removed";
            let fix = "inserted a user message";
            self.at_message(0, Breach::error("profile::user-message", sentence, fix));
            self.insert_first_user();
        }
    }

    pub(super) fn empty_texts(&mut self) {
        if self.profile.empty_text == EmptyText::Accept {
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
        self.profile.empty_text == EmptyText::Reject
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

fn capital_free(role: &Role) -> String {
    let article = if *role == Role::Assistant { "an" } else { "a" };
    format!("{article} {role}")
}
