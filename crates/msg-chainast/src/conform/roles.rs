//! Steps 1, 2, 9, 12 and 13: roles, the required user message, the order of roles, and messages with more calls than a
//! provider accepts.

use msg_core::{Diagnostic, Message, Origin, Part, Role};

use super::{Conform, error, mended_if, reasoning::put_fallback};
use crate::{
    constants::{BRIDGE_CONTENT, FIRST_USER_CONTENT},
    profile::{Acceptance, ReasoningRequired, SystemPlace, UserMessage},
    reasoning::{has_reasoning, has_tool_calls},
    repair::{Dropped, Item, Split, is_answered, pairs, put_after, without_members},
};

fn system_refused(item: &Item<'_>, mended: bool) -> Diagnostic {
    let members: Vec<String> = item.message.extra.all().map(|it| it.1.to_owned()).collect();
    let name = item.message.name.as_ref().map(|it| format!(", without the name `{it}`"));
    let lost = format!("{}{}", name.unwrap_or_default(), without_members(&members));
    let fix = format!("put before the user's text{lost}");
    let it = error("profile::system-role", "role `system` is not accepted", fix);
    mended_if(mended, it).at_message(item.origin.message)
}

/// The edit of a merge, with what it drops.
pub(super) fn merge_told(fix: &str, dropped: Option<Dropped>) -> String {
    format!("{fix}{}", dropped.map_or_else(String::new, |it| it.text()))
}

impl Conform<'_, '_> {
    pub(super) fn developer_role(&mut self) {
        if !self.profile.developer_as_system {
            return;
        }
        for at in 0..self.items.len() {
            if self.items[at].message.role == Role::Developer {
                let sentence = "role `developer` is not accepted";
                let fix = "renamed to `system`";
                self.at_message(at, error("profile::developer-role", sentence, fix));
                self.items[at].message.to_mut().role = Role::System;
            }
        }
    }

    /// A provider that knows no system message is told before the user's first text, or not at all (PM-172).
    pub(super) fn system_role(&mut self) {
        let known = matches!(self.profile.system, SystemPlace::Message | SystemPlace::Field);
        if known || !self.items.iter().any(|it| it.message.role.is_system()) {
            return;
        }
        let mended = self.profile.system == SystemPlace::User;
        let mut said: Vec<(Part, (usize, usize))> = Vec::new();
        let mut kept: Vec<Item<'_>> = Vec::with_capacity(self.items.len());
        for mut item in std::mem::take(&mut self.items) {
            if item.message.role.is_system() {
                self.report.push(system_refused(&item, mended));
                if mended {
                    let (parts, places) = item.split_parts(0);
                    said.extend(parts.into_iter().zip(places));
                    continue;
                }
            } else if !said.is_empty() && item.message.role == Role::User {
                item.prepend(std::mem::take(&mut said));
            }
            kept.push(item);
        }
        if let Some(place) = said.first().map(|it| it.1) {
            let mut item = Item::whole(Message::new(Role::User), place.0);
            item.prepend(said);
            kept.insert(0, item);
        }
        self.items = kept;
        self.lead_again();
    }

    pub(super) fn user_message(&mut self) {
        if !self.enforced.user_message {
            return;
        }
        let begin = self.after_system();
        let is_user = |it: &Item<'_>| it.message.role == Role::User;
        let fulfilled = match self.profile.user {
            UserMessage::Any => true,
            // Where the prompt is a field, results are sent as the user's.
            UserMessage::Some if self.profile.system == SystemPlace::Field => {
                self.items.iter().any(|it| is_user(it) || it.message.role == Role::Tool)
            }
            UserMessage::Some => self.items.iter().any(is_user),
            UserMessage::First => self.items.get(begin).is_some_and(is_user),
        };
        if fulfilled || self.items.is_empty() {
            return;
        }
        let (sentence, fix) = ("expected a user message first", "inserted a user message");
        let it = error("profile::user-message", sentence, fix);
        if begin < self.items.len() {
            self.at_message(begin, it);
        } else {
            self.report.push(it);
        }
        self.insert_first_user();
    }

    /// Inserts a user message after the system message.
    pub(super) fn insert_first_user(&mut self) {
        let begin = self.after_system();
        let at = self.items.get(begin).map_or(0, |it| it.origin.message);
        let first = Item::whole(Message::user(FIRST_USER_CONTENT), at);
        self.items.insert(begin, first.inserted());
    }

    fn after_system(&self) -> usize {
        self.items.iter().take_while(|it| it.message.role.is_system()).count()
    }

    pub(super) fn consecutive_assistants(&mut self) {
        if !self.profile.alternate {
            return;
        }
        let is_assistant = |it: &Item<'_>| it.message.role == Role::Assistant;
        let mut merged: Vec<Item<'_>> = Vec::with_capacity(self.items.len());
        // Of the last one merged. It is asked of each item alone, as what many are merged into grows.
        let mut is_completion = false;
        for item in std::mem::take(&mut self.items) {
            let joins = is_completion && is_assistant(&item);
            is_completion = is_assistant(&item) && !has_tool_calls(&item.message);
            match merged.last_mut() {
                Some(last) if joins => {
                    let at = item.origin.message;
                    let sentence = "two assistant messages in a row";
                    let fix = merge_told("merged with the one before", last.merge(item));
                    let it = error("profile::consecutive-assistant", sentence, fix);
                    self.at_input(at, it);
                }
                _ => merged.push(item),
            }
        }
        self.items = merged;
    }

    /// The results of a pair are in one content (PM-40). Only a message that a content was read into says
    /// that it was separate, in its layout; without one it is written into the content before it.
    pub(super) fn split_results(&mut self) {
        if self.profile.split_results == Acceptance::Accept {
            return;
        }
        for at in pairs(&self.items).into_iter().flat_map(|it| it.1.skip(1)) {
            if self.items[at].message.extra.layout(&Origin::Gemini).is_some() {
                let sentence = "the results of a pair are split over several contents";
                let fix = "joined with those before";
                self.at_message(at, error("profile::split-results", sentence, fix));
                self.items[at].message.to_mut().extra.clear_layout();
            }
        }
    }

    pub(super) fn user_after_tool(&mut self) {
        if !self.profile.assistant_after_tool {
            return;
        }
        let mut after_tool = false;
        let mut bridged = Vec::with_capacity(self.items.len());
        for item in std::mem::take(&mut self.items) {
            if after_tool && item.message.role == Role::User {
                let sentence = "a user message directly after tool results";
                let fix = "inserted an assistant message between";
                let at = item.origin.message;
                self.at_input(at, error("profile::user-after-tool", sentence, fix));
                let bridge = Item::whole(Message::assistant(BRIDGE_CONTENT), at);
                bridged.push(bridge.inserted());
            }
            after_tool = item.message.role == Role::Tool;
            bridged.push(item);
        }
        self.items = bridged;
    }
}

// Step 13: messages with more calls than a provider takes.

impl Conform<'_, '_> {
    pub(crate) fn surplus_calls(&mut self) {
        let max = self.profile.max_calls;
        let surplus = |it: &Item<'_>| it.message.tool_calls().nth(max).is_some();
        if max == 0 || !self.items.iter().any(surplus) {
            return;
        }
        let of_turn = self.profile.reasoning_require == ReasoningRequired::CallSignature;
        let requires_from = if of_turn { self.current_turn() } else { 0 };
        let puts_all = of_turn || self.all;
        let mut splits = Vec::new();
        for (assistant, tools) in pairs(&self.items) {
            let calls = self.calls(assistant);
            let Some(first) = calls.get(max) else { continue };
            // A pending call may be in the last pair only, so such a pair stays whole.
            let mended = is_answered(&self.items, assistant, tools.clone());
            let sentence = format!("{} tool calls in one message, the limit is {max}", calls.len());
            let fix = "split into several messages";
            let it = error("profile::too-many-tool-calls", sentence, fix);
            self.at_part(assistant, *first, mended_if(mended, it));
            if !mended {
                continue;
            }
            let gets_fallback = puts_all || has_reasoning(&self.items[assistant].message);
            let mut split = Split::of(&mut self.items, assistant, tools, max);
            // A message of a split carries what the provider requires of every message with calls.
            let asking = split.iter_mut().flat_map(|it| &mut it.after);
            for item in asking.filter(|it| it.message.role == Role::Assistant) {
                if assistant >= requires_from && gets_fallback {
                    put_fallback(self.profile, item);
                }
            }
            splits.extend(split);
        }
        put_after(&mut self.items, splits);
    }
}
