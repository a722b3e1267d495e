//! Steps 6, 10 and 11: arguments, messages without content, empty texts.

use std::borrow::Cow;

use msg_core::{CallKind, Diagnostic, Extra, Message, Part, Role, ToolCall, with_article};
use msg_json::TextState;

use super::{Conform, error, is_empty, is_empty_text, roles::merge_told};
use crate::{
    arguments::{mended, sanitized},
    constants::{EMPTY_CONTENT, FALLBACK_REQUEST_ARGS},
    options::BadArguments,
    profile::{Acceptance, ArgumentsRule},
    repair::{Item, without_members},
};

/// The member by which a client asks that what comes before it be cached.
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

    /// Takes system messages away that are refused as empty. It comes before all that asks who follows whom.
    pub(super) fn empty_systems(&mut self) {
        let goes = |it: &Item<'_>| it.message.role.is_system() && self.is_filled(&it.message);
        if !self.items.iter().any(goes) {
            return;
        }
        let mut removed_before = false;
        let mut kept: Vec<Item<'_>> = Vec::with_capacity(self.items.len());
        for item in std::mem::take(&mut self.items) {
            if item.message.role.is_system() && self.is_filled(&item.message) {
                for message in item.sources() {
                    self.at_input(message, empty_message(&item.message.role, "removed"));
                }
                removed_before = true;
                continue;
            }
            let joins = std::mem::take(&mut removed_before)
                && self.enforced.consecutive_user
                && item.message.role == Role::User;
            match kept.last_mut().filter(|it| joins && it.message.role == Role::User) {
                Some(last) => {
                    let sentence = "two user messages in a row, once the system message is removed";
                    let at = item.origin.message;
                    let fix = merge_told("merged into the one before", last.merge(item));
                    self.at_input(at, error("chain::consecutive-user", sentence, fix));
                }
                None => kept.push(item),
            }
        }
        self.items = kept;
        self.lead_again();
    }

    /// A strict chain that began with an assistant message, once the system message is gone, would be none.
    pub(super) fn lead_again(&mut self) {
        let assistant_first = |it: &Item<'_>| it.message.role == Role::Assistant;
        if self.enforced.first_role && self.items.first().is_some_and(assistant_first) {
            let sentence = "an assistant message first, once the system message is removed";
            let fix = "inserted a user message";
            self.at_message(0, error("profile::user-message", sentence, fix));
            self.insert_first_user();
        }
    }

    /// Whether a message is refused as empty: it gets a text, or goes if it is a system message.
    pub(super) fn is_filled(&self, message: &Message) -> bool {
        let role = &message.role;
        let lists = |it: &Role| it == role || role.is_system() && it.is_system();
        self.profile.empty.iter().any(lists)
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

    /// Empty texts beside other parts of a result.
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

    /// Whether a message holds more than empty texts, reasoning and refusals, of which most providers know
    /// nothing: what is written of such a message would be empty.
    fn has_content_beside(&self, at: usize) -> bool {
        let parts = &self.items[at].message.parts;
        parts.iter().any(|it| {
            let refusal = matches!(it, Part::Refusal(_)) || it.as_reasoning().is_some();
            !refusal && !is_empty_text(it, self.profile.blank)
        })
    }

    /// Takes the empty texts out of a message; for each input message that they came from the members that
    /// go with them, said at the end of an edit. A cache marker moves to the part before (PM-12).
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

    /// Whether a text of white space among these parts is as good as empty. Between texts with citations it is
    /// as the provider wrote it, and is taken again.
    fn refuses_blank(&self, parts: &[Part]) -> bool {
        let is_cited = |it: &Part| it.extra().all().any(|it| it.1 == CITATIONS);
        self.profile.blank && !parts.iter().any(|it| it.as_text().is_some() && is_cited(it))
    }

    /// Whether empty texts among these parts are refused: beside other content. Reasoning is none, and a
    /// message of nothing else is written with an empty text again.
    pub(super) fn drops_empty_texts(&self, parts: &[Part]) -> bool {
        let blank = self.refuses_blank(parts);
        let is_content = |it: &Part| it.as_reasoning().is_none() && !is_empty_text(it, blank);
        self.profile.empty_text == Acceptance::Reject
            && parts.iter().any(|it| is_empty_text(it, blank))
            && parts.iter().any(is_content)
    }
}

/// What happens to the members of parts that go.
#[derive(Default)]
struct Gone {
    lost: Vec<String>,
    marker_moved: bool,
}

impl Gone {
    /// The members of a part; a cache marker goes to the part before, if that has none.
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

/// What the arguments of a call are replaced by, if the rule refuses them.
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

/// Whether there is a call, a result, media, or text that is not empty.
fn has_content(parts: &[Part], blank: bool) -> bool {
    parts.iter().any(|it| match it {
        Part::Reasoning(_) => false,
        Part::Text(it) | Part::Refusal(it) => !is_empty(&it.text, blank),
        _ => true,
    })
}

fn empty_message(role: &Role, fix: impl Into<Cow<'static, str>>) -> Diagnostic {
    let sentence = format!("{} message without content", with_article(role.as_str()));
    error("profile::empty-message", sentence, fix)
}
