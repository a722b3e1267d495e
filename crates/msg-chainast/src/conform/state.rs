//! The state that the steps share: the messages on their way, what is reported of them, and how a breach is
//! reported. No rule of a provider stands here.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use msg_core::{Code, Diagnostic, Part, Severity, with_article};

use crate::{analyze::Enforced, profile::Profile, repair::Item};

/// A chain on its way through the steps, and what they found.
pub(super) struct Conform<'a, 'm> {
    pub(super) profile: &'a Profile,
    /// The rules of the chain that hold besides: a tree is always of a strict chain.
    pub(super) enforced: Enforced,
    /// Whether warnings are mended, too.
    pub(super) all: bool,
    pub(super) items: Vec<Item<'m>>,
    pub(super) ids_in_input: &'a HashMap<(usize, usize), String>,
    pub(super) report: Vec<Diagnostic>,
    /// The messages that had nothing left once reasoning was removed, as in the input.
    pub(super) emptied: Vec<usize>,
}

/// A finding that is an error, with the edit that mends it.
pub(super) fn error(
    code: &'static str,
    sentence: impl Into<Cow<'static, str>>,
    fix: impl Into<Cow<'static, str>>,
) -> Diagnostic {
    Diagnostic::error(Code::new(code), sentence).with_fix(fix)
}

/// As [`error`], of what is accepted, but probably not meant or not read.
pub(super) fn warning(
    code: &'static str,
    sentence: impl Into<Cow<'static, str>>,
    fix: impl Into<Cow<'static, str>>,
) -> Diagnostic {
    Diagnostic::warning(Code::new(code), sentence).with_fix(fix)
}

/// Says that nothing was done if that is so.
pub(super) fn mended_if(mended: bool, mut it: Diagnostic) -> Diagnostic {
    it.fix = it.fix.filter(|_| mended);
    it
}

impl Conform<'_, '_> {
    /// A breach of a field of which the profile is not certain is a warning.
    pub(super) fn doubting(&self, field: &str, mut it: Diagnostic) -> Diagnostic {
        if self.profile.doubts(field) {
            it.severity = Severity::Warning;
        }
        it
    }

    /// Whether a breach of a field is mended: one of which the profile is not certain only if all is.
    pub(super) fn mends(&self, field: &str) -> bool {
        self.all || !self.profile.doubts(field)
    }

    /// Reports a finding at a message.
    pub(super) fn at_message(&mut self, item: usize, it: Diagnostic) {
        self.at_input(self.items[item].origin.message, it);
    }

    /// Reports a finding at a message of the input.
    pub(super) fn at_input(&mut self, message: usize, it: Diagnostic) {
        self.report.push(it.at_message(message));
    }

    /// Reports a finding at a part, with the id of its call in the input.
    pub(super) fn at_part(&mut self, item: usize, part: usize, it: Diagnostic) {
        let place = self.items[item].place(part);
        let id = match self.items[item].message.parts.get(part) {
            Some(Part::ToolCall(it)) => Some(it.id.as_str()),
            Some(Part::ToolResult(it)) => Some(it.call_id.as_str()),
            _ => None,
        };
        let mut it = it.at_part(place.0, place.1);
        it.at.tool_call_id = id
            .map(|id| self.ids_in_input.get(&place).map_or(id, String::as_str))
            .map(str::to_owned);
        self.report.push(it);
    }

    /// Reports the parts that break a rule, and mends them: `judge` says what is wrong, and what `mend` has to put
    /// there; nothing where it stays as it is.
    pub(super) fn mend_parts<T>(
        &mut self,
        mut judge: impl FnMut(&Part) -> Option<(Diagnostic, Option<T>)>,
        mend: impl Fn(&mut Part, T),
    ) {
        for at in 0..self.items.len() {
            for part in 0..self.items[at].message.parts.len() {
                let Some((it, new)) = judge(&self.items[at].message.parts[part]) else { continue };
                self.at_part(at, part, mended_if(new.is_some(), it));
                if let Some(new) = new {
                    mend(&mut self.items[at].message.to_mut().parts[part], new);
                }
            }
        }
    }

    /// Removes parts of reasoning, and remembers a message that has nothing left.
    pub(super) fn remove_reasoning(&mut self, item: usize, goes: impl Fn(usize) -> bool) {
        let item = &mut self.items[item];
        item.retain_parts(|part, _| !goes(part));
        if item.message.parts.iter().all(|it| is_empty_text(it, false)) {
            self.emptied.push(item.origin.message);
        }
    }

    /// Says of a message that was emptied what a later check would say of it (CA-11).
    pub(super) fn emptied_messages(&mut self) {
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

    /// The places of an item's calls.
    pub(super) fn calls(&self, item: usize) -> Vec<usize> {
        let parts = self.items[item].message.parts.iter().enumerate();
        parts.filter(|it| it.1.as_tool_call().is_some()).map(|it| it.0).collect()
    }
}

/// Whether a part is an empty text; with `blank` also one of white space.
pub(super) fn is_empty_text(part: &Part, blank: bool) -> bool {
    matches!(part, Part::Text(it) if is_empty(&it.text, blank))
}

/// Whether a text is empty; with `blank` also if it is white space.
pub(super) fn is_empty(text: &str, blank: bool) -> bool {
    if blank { text.trim().is_empty() } else { text.is_empty() }
}
