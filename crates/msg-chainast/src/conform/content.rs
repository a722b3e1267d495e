//! The steps over messages: arguments, messages without content, empty texts (steps 6, 10 and 11); and, in steps 1, 2,
//! 9, 12 and 13, roles, the required user message, the order of roles, and messages with more calls than a
//! provider accepts.

use std::borrow::Cow;

use msg_core::{CallKind, Diagnostic, Extra, Message, Origin, Part, Role, ToolCall, with_article};
use msg_json::TextState;

use super::reasoning::put_fallback;
use super::{Conform, error, is_empty, is_empty_text, mended_if};
use crate::constants::{BRIDGE_CONTENT, EMPTY_CONTENT, FALLBACK_REQUEST_ARGS, FIRST_USER_CONTENT};
use crate::ids::{mended, sanitized};
use crate::options::BadArguments;
use crate::pairing::may_come_first;
use crate::profile::{Acceptance, ArgumentsRule, ReasoningRequired, SystemPlace, UserMessage};
use crate::repair::{Dropped, Item, Split, is_answered, pairs, put_after, without_members};
use crate::tree::{has_reasoning, has_tool_calls};

/// The member that asks to cache everything up to it.
pub(crate) const CACHE_MARKER: &str = "cache_control";

/// The member of a text that the provider wrote with its sources.
const CITATIONS: &str = "citations";

impl Conform<'_, '_> {
    pub(super) fn arguments(&mut self) {
        let rule = self.profile.arguments;
        if rule == ArgumentsRule::Any {
            return;
        }
        let sentence = match rule {
            ArgumentsRule::Object => "arguments must be a JSON object",
            _ => "arguments must be JSON",
        };
        let judge = |part: &Part| {
            let (new, fix) = accepted_arguments(part.as_tool_call()?, rule)?;
            Some((error("profile::arguments", sentence, fix), Some(new)))
        };
        self.mend_parts(judge, |part, new| {
            if let Part::ToolCall(it) = part {
                it.arguments = new.into();
            }
        });
    }

    /// A message without content, which a request in the provider's own format has as `null` (PM-80). Writers of
    /// other forms write an empty text.
    pub(super) fn null_contents(&mut self) {
        for at in 0..if self.enforced.null_content { self.items.len() } else { 0 } {
            let message = &self.items[at].message;
            let has_none = message.parts.iter().all(|it| it.as_reasoning().is_some());
            if has_none && message.role != Role::Tool {
                let place = (self.items[at].origin.message, message.parts.len());
                self.at_message(at, empty_message(&message.role, "set to an empty text"));
                self.items[at].push_part(Part::text(""), place);
            }
        }
    }

    pub(super) fn empty_messages(&mut self) {
        if self.profile.empty.is_empty() {
            return;
        }
        for at in 0..self.items.len() {
            if !self.is_filled(&self.items[at].message) {
                continue;
            }
            let origin = self.items[at].origin.message;
            let mut fix = "inserted a placeholder text".to_owned();
            for (message, lost) in self.take_empty_texts(at) {
                if message == origin {
                    fix.push_str(&lost);
                } else {
                    self.tell_empty_text(message, format!("removed{lost}"));
                }
            }
            self.at_message(at, empty_message(&self.items[at].message.role, fix));
            self.items[at].push_part(Part::text(EMPTY_CONTENT), (origin, 0));
        }
    }

    /// Adds a text to an answer that ends with reasoning (PM-208). Consecutive answers are one.
    pub(super) fn last_reasoning(&mut self) {
        let n_items =
            if self.profile.reasoning_last == Acceptance::Reject { self.items.len() } else { 0 };
        for at in 0..n_items {
            let message = &self.items[at].message;
            let next = self.items.get(at + 1).map(|it| &it.message.role);
            let is_last = |it: &&Part| it.as_reasoning().is_some();
            if message.role != Role::Assistant
                || next == Some(&Role::Assistant)
                || message.parts.last().filter(is_last).is_none()
            {
                continue;
            }
            let part = message.parts.len() - 1;
            let sentence = "an answer that ends with reasoning";
            let it =
                error("profile::reasoning-last", sentence, "inserted a placeholder text after it");
            self.at_part(at, part, it);
            let origin = self.items[at].origin.message;
            self.items[at].push_part(Part::text(EMPTY_CONTENT), (origin, 0));
        }
    }

    /// Keeps a strict chain valid that begins with an assistant message after its system message was
    /// removed.
    pub(super) fn lead_again(&mut self) {
        let assistant_first = |it: &Item<'_>| it.message.role == Role::Assistant;
        if self.enforced.first_role && self.items.first().is_some_and(assistant_first) {
            let sentence = "an assistant message first, once the system message is removed";
            let fix = "inserted a user message";
            self.at_message(0, error("profile::user-message", sentence, fix));
            self.insert_first_user();
        }
    }

    /// Whether a message is refused as empty. It then gets a text, or is removed if it is a system message.
    pub(super) fn is_filled(&self, message: &Message) -> bool {
        let role = &message.role;
        let lists = |it: &Role| it == role || role.is_system() && it.is_system();
        self.profile.empty.iter().any(lists)
            && !message.is_setting()
            && match self.profile.empty_texts_count {
                true => message.parts.iter().all(|it| it.as_reasoning().is_some()),
                false => !has_content(&message.parts, self.profile.blank),
            }
    }

    pub(super) fn empty_texts(&mut self) {
        if self.profile.empty_text == Acceptance::Accept {
            return;
        }
        self.empty_texts_of_results();
        for at in 0..self.items.len() {
            if !self.drops_empty_texts(&self.items[at].message.parts) {
                continue;
            }
            let only_refusals = !self.has_content_beside(at);
            let filled = if only_refusals { ", a placeholder text in its place" } else { "" };
            let taken = self.take_empty_texts(at);
            let first = taken.first().map(|it| it.0);
            for (message, lost) in taken {
                self.tell_empty_text(message, format!("removed{filled}{lost}"));
            }
            if let Some(message) = first.filter(|_| only_refusals) {
                self.items[at].prepend(vec![(Part::text(EMPTY_CONTENT), (message, 0))]);
            }
        }
    }

    /// Empty texts next to other parts of a result.
    fn empty_texts_of_results(&mut self) {
        let judge = |part: &Part| {
            let parts = part.as_tool_result()?.content.parts();
            let (empty, full): (Vec<&Part>, Vec<&Part>) =
                parts.iter().partition(|it| is_empty_text(it, false));
            if empty.is_empty() || full.is_empty() {
                return None;
            }
            let mut gone = Gone::default();
            empty.iter().for_each(|it| gone.take(it.extra(), None));
            let fix = format!("removed{}", gone.text());
            let content: Vec<Part> = full.into_iter().cloned().collect();
            Some((error("profile::empty-text", "an empty text in a result", fix), Some(content)))
        };
        self.mend_parts(judge, |part, content| {
            if let Part::ToolResult(it) = part {
                it.content = content.into();
            }
        });
    }

    fn tell_empty_text(&mut self, message: usize, fix: String) {
        self.at_input(message, error("profile::empty-text", "an empty text part", fix));
    }

    /// Whether a message contains more than empty texts, reasoning and refusals. Most providers know neither
    /// reasoning nor refusals, so a message of them would be written without content.
    fn has_content_beside(&self, at: usize) -> bool {
        let parts = &self.items[at].message.parts;
        parts.iter().any(|it| {
            let refusal = matches!(it, Part::Refusal(_)) || it.as_reasoning().is_some();
            !refusal && !is_empty_text(it, self.profile.blank)
        })
    }

    /// Removes the empty texts of a message. Returns, for each input message of such texts, the removed
    /// members for the edit. A cache marker moves to the part before (PM-12).
    fn take_empty_texts(&mut self, at: usize) -> Vec<(usize, String)> {
        let blank = self.refuses_blank(&self.items[at].message.parts);
        let item = &mut self.items[at];
        let mut taken: Vec<(usize, Gone)> = Vec::new();
        let mut kept: Option<usize> = None;
        for part in 0..item.message.parts.len() {
            if !is_empty_text(&item.message.parts[part], blank) {
                kept = Some(part);
                continue;
            }
            let message = item.place(part).0;
            let extra = std::mem::take(item.message.to_mut().parts[part].extra_mut());
            let before = kept.map(|it| item.message.to_mut().parts[it].extra_mut());
            if taken.last().is_none_or(|it| it.0 != message) {
                taken.push((message, Gone::default()));
            }
            if let Some((_, gone)) = taken.last_mut() {
                gone.take(&extra, before);
            }
        }
        item.retain_parts(|_, it| !is_empty_text(it, blank));
        taken.into_iter().map(|(message, gone)| (message, gone.text())).collect()
    }

    /// Whether a text of white space among these parts counts as empty. Between texts with citations it is the
    /// provider's own text, and is accepted.
    fn refuses_blank(&self, parts: &[Part]) -> bool {
        let is_cited = |it: &Part| it.extra().all().any(|it| it.1 == CITATIONS);
        self.profile.blank && !parts.iter().any(|it| it.as_text().is_some() && is_cited(it))
    }

    /// Whether empty texts among these parts are refused, because there is other content. Reasoning is
    /// not content: a message of only reasoning is written with an empty text again.
    pub(super) fn drops_empty_texts(&self, parts: &[Part]) -> bool {
        let blank = self.refuses_blank(parts);
        let is_content = |it: &Part| it.as_reasoning().is_none() && !is_empty_text(it, blank);
        self.profile.empty_text == Acceptance::Reject
            && parts.iter().any(|it| is_empty_text(it, blank))
            && parts.iter().any(is_content)
    }
}

/// Decides about the members of removed parts.
#[derive(Default)]
struct Gone {
    lost: Vec<String>,
    marker_moved: bool,
}

impl Gone {
    /// Takes the members of a part. A cache marker moves to the part before, if that has none.
    fn take(&mut self, extra: &Extra, mut before: Option<&mut Extra>) {
        for (origin, name, value) in extra.all() {
            let free = |it: &&mut Extra| name == CACHE_MARKER && it.get(origin, name).is_none();
            match before.as_deref_mut().filter(free) {
                Some(before) => {
                    before.insert(origin.clone(), name, value.clone());
                    self.marker_moved = true;
                }
                None => self.lost.push(name.to_owned()),
            }
        }
    }

    /// The end of an edit.
    fn text(&self) -> String {
        let moved =
            if self.marker_moved { ", its cache marker moved to the part before" } else { "" };
        format!("{moved}{}", without_members(&self.lost))
    }
}

/// The replacement for the arguments of a call, if the rule refuses them.
fn accepted_arguments(call: &ToolCall, rule: ArgumentsRule) -> Option<(String, Cow<'static, str>)> {
    if !matches!(call.kind, CallKind::Function | CallKind::Unspecified) {
        return None;
    }
    let accepts = |state: TextState| match rule {
        ArgumentsRule::Any => true,
        ArgumentsRule::Json => {
            matches!(state, TextState::Object | TextState::Value)
        }
        ArgumentsRule::Object => state == TextState::Object,
    };
    if accepts(call.arguments.state()) {
        return None;
    }
    let text = call.arguments.text();
    let new = sanitized(text).map(msg_core::Arguments::from);
    match new.filter(|it| accepts(it.state())).map(msg_core::Arguments::into_text) {
        Some(new) if new != FALLBACK_REQUEST_ARGS => return Some((new, "made valid JSON".into())),
        _ => {}
    }
    Some(match mended(text, BadArguments::Mend) {
        Some(it) => {
            (it.text, format!("replaced by the object that they mean: {}", it.edits).into())
        }
        None => (FALLBACK_REQUEST_ARGS.to_owned(), "set to {}".into()),
    })
}

/// Whether the parts contain a call, a result, media or a non-empty text.
fn has_content(parts: &[Part], blank: bool) -> bool {
    parts.iter().any(|it| match it {
        Part::Reasoning(_) => false,
        Part::Text(it) | Part::Refusal(it) => !is_empty(&it.text, blank),
        _ => true,
    })
}

pub(super) fn empty_message(role: &Role, fix: impl Into<Cow<'static, str>>) -> Diagnostic {
    let sentence = format!("{} message without content", with_article(role.as_str()));
    error("profile::empty-message", sentence, fix)
}

/// The edit of a merge, including the dropped members.
pub(super) fn merge_told(fix: &str, dropped: Option<Dropped>) -> String {
    format!("{fix}{}", dropped.map_or_else(String::new, |it| it.text()))
}

impl Conform<'_, '_> {
    pub(super) fn user_message(&mut self) {
        if !self.enforced.user_message {
            return;
        }
        let begin = self.after_system();
        // An unknown item may belong to the user.
        let is_user = |it: &Item<'_>| it.message.role == Role::User || may_come_first(&it.message);
        let fulfilled = match self.profile.user {
            UserMessage::Any => true,
            // If the system prompt is a field, results are sent in user messages.
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
    fn insert_first_user(&mut self) {
        let begin = self.after_system();
        let at = self.items.get(begin).map_or(0, |it| it.origin.message);
        let first = Item::whole(Message::user(FIRST_USER_CONTENT), at);
        self.items.insert(begin, first.inserted());
    }

    pub(super) fn after_system(&self) -> usize {
        self.items.iter().take_while(|it| it.message.role.is_system()).count()
    }

    pub(super) fn consecutive_assistants(&mut self) {
        if !self.profile.alternate {
            return;
        }
        let is_assistant = |it: &Item<'_>| it.message.role == Role::Assistant;
        let mut merged: Vec<Item<'_>> = Vec::with_capacity(self.items.len());
        // Whether the last item was an assistant message without calls. Kept for the item itself, because the merged
        // message grows.
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

    /// Puts the results of a pair in one content (PM-40). Only a message that was read from a content of
    /// its own has a layout for it; without one it is written into the content before.
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
