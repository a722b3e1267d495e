//! The state that the steps share: the messages on their way, what is reported of them, and how a breach is
//! reported. No rule of a provider stands here.

use std::{borrow::Cow, ops::Range};

use std::collections::{HashMap, HashSet};

use msg_core::{Code, Diagnostic, Part, Severity, ToolCall, ToolResult, with_article};

use crate::{analyze::Enforced, profile::Profile, repair::Item};

/// A chain on its way through the steps, and what they found.
pub(super) struct Conform<'a, 'm> {
    pub(super) profile: &'a Profile,
    /// The rules of the chain that hold besides: a tree is always of a strict chain.
    pub(super) enforced: Enforced,
    pub(super) items: Vec<Item<'m>>,
    pub(super) ids_in_input: &'a HashMap<(usize, usize), String>,
    pub(super) report: Vec<Diagnostic>,
    /// The messages that had nothing left once reasoning was removed, as in the input.
    pub(super) emptied: Vec<usize>,
}

/// A rule of a profile that a message or part breaks.
pub(super) struct Breach {
    pub(super) code: &'static str,
    pub(super) severity: Severity,
    pub(super) sentence: Cow<'static, str>,
    pub(super) fix: Option<Cow<'static, str>>,
}

impl Breach {
    pub(super) fn error(
        code: &'static str,
        sentence: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) -> Self {
        Breach { code, severity: Severity::Error, sentence: sentence.into(), fix: Some(fix.into()) }
    }

    pub(super) fn warning(
        code: &'static str,
        sentence: impl Into<Cow<'static, str>>,
        fix: impl Into<Cow<'static, str>>,
    ) -> Self {
        Breach { severity: Severity::Warning, ..Breach::error(code, sentence, fix) }
    }

    /// Says that nothing was done if that is so.
    pub(super) fn mended_if(mut self, mended: bool) -> Self {
        self.fix = self.fix.filter(|_| mended);
        self
    }

    pub(super) fn diagnostic(self) -> Diagnostic {
        let mut it = Diagnostic::new(self.severity, Code::new(self.code), self.sentence);
        it.fix = self.fix;
        it
    }
}

impl Conform<'_, '_> {
    /// A breach of a field of which the profile is not certain is a warning.
    pub(super) fn doubting(&self, field: &str, breach: Breach) -> Breach {
        match self.profile.doubts(field) {
            true => Breach { severity: Severity::Warning, ..breach },
            false => breach,
        }
    }

    /// Reports a breach at a message.
    pub(super) fn at_message(&mut self, item: usize, breach: Breach) {
        self.at_input(self.items[item].origin.message, breach);
    }

    /// Reports a breach at a message of the input.
    pub(super) fn at_input(&mut self, message: usize, breach: Breach) {
        self.report.push(breach.diagnostic().at_message(message));
    }

    /// Reports a breach at a part, with the id of its call in the input.
    pub(super) fn at_part(&mut self, item: usize, part: usize, breach: Breach) {
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

    /// The places of all calls: (item, part).
    pub(super) fn all_calls(&self) -> Vec<(usize, usize)> {
        (0..self.items.len())
            .flat_map(|at| self.calls(at).into_iter().map(move |part| (at, part)))
            .collect()
    }

    pub(super) fn call(&self, item: usize, part: usize) -> Option<&ToolCall> {
        self.items[item].message.parts.get(part)?.as_tool_call()
    }

    /// A call, to be changed.
    pub(super) fn call_mut(&mut self, item: usize, part: usize) -> Option<&mut ToolCall> {
        match self.items[item].message.to_mut().parts.get_mut(part)? {
            Part::ToolCall(it) => Some(it),
            _ => None,
        }
    }

    pub(super) fn result(&self, item: usize, part: usize) -> Option<&ToolResult> {
        self.items[item].message.parts.get(part)?.as_tool_result()
    }

    /// A result, to be changed.
    pub(super) fn result_mut(&mut self, item: usize, part: usize) -> Option<&mut ToolResult> {
        match self.items[item].message.to_mut().parts.get_mut(part)? {
            Part::ToolResult(it) => Some(it),
            _ => None,
        }
    }

    /// The places of an item's calls.
    pub(super) fn calls(&self, item: usize) -> Vec<usize> {
        let parts = self.items[item].message.parts.iter().enumerate();
        parts.filter(|it| it.1.as_tool_call().is_some()).map(|it| it.0).collect()
    }

    /// The results of some tool messages: (item, part).
    pub(super) fn results(&self, tools: Range<usize>) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for item in tools {
            let parts = self.items[item].message.parts.iter().enumerate();
            let results = parts.filter(|it| it.1.as_tool_result().is_some());
            places.extend(results.map(|(part, _)| (item, part)));
        }
        places
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
