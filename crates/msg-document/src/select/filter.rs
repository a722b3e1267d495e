//! The messages of some roles, names and tools, or of a range.

use std::collections::HashMap;
use std::ops::Range;

use msg_core::{Message, Role};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::roles;
use crate::document::Document;

/// Which messages stay: those that fit each kind of mark that is given. Of one kind, one is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilterOptions {
    /// Messages of these roles.
    #[serde(rename = "role", deserialize_with = "roles")]
    pub roles: Vec<Role>,
    /// Messages whose author is called so.
    #[serde(rename = "name")]
    pub names: Vec<String>,
    /// Messages that call these tools, or hold their results.
    #[serde(rename = "tool")]
    pub tools: Vec<String>,
    /// Messages of this range, from 0; what is after the end is not there. In JSON a text: `2..5`, `10..`.
    #[serde(deserialize_with = "range")]
    pub range: Option<Range<usize>>,
    /// All other messages.
    #[serde(rename = "not")]
    pub others: bool,
}

/// A range by its text; either end may be left out.
fn range<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Range<usize>>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let number = |it: &str, default| if it.is_empty() { Some(default) } else { it.parse().ok() };
    let bounds = text.split_once("..");
    let bounds = bounds.and_then(|(a, b)| Some((number(a, 0)?, number(b, usize::MAX)?)));
    let range = bounds.filter(|(start, end)| start <= end).map(|(start, end)| start..end);
    let expected =
        || D::Error::custom(format!("expected A..B, such as 2..5 or 10.., and found {text}"));
    range.map(Some).ok_or_else(expected)
}

impl FilterOptions {
    /// Messages of this role, too.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.roles.push(role);
        self
    }

    /// Messages of this range.
    #[must_use]
    pub fn with_range(mut self, range: Range<usize>) -> Self {
        self.range = Some(range);
        self
    }

    /// Which of some messages stay, a call with its results. Linear.
    pub(crate) fn choose(&self, messages: &[Message]) -> Vec<bool> {
        let tools = Tools::of(messages, &self.tools);
        let chosen: Vec<bool> =
            (0..messages.len()).map(|at| self.fits(messages, at, &tools)).collect();
        let stays = Units::of(messages).with_any(&chosen);
        stays.into_iter().map(|it| it != self.others).collect()
    }

    fn fits(&self, messages: &[Message], at: usize, tools: &Tools) -> bool {
        let message = &messages[at];
        let is_one = |names: &[String], name: Option<&String>| {
            names.is_empty() || name.is_some_and(|it| names.contains(it))
        };
        (self.roles.is_empty() || self.roles.contains(&message.role))
            && is_one(&self.names, message.name.as_ref())
            && (self.tools.is_empty() || tools.are_in(at))
            && self.range.as_ref().is_none_or(|it| it.contains(&at))
    }
}

/// The messages that have something to do with some tools. A result without a name has that of its call.
struct Tools(Vec<bool>);

impl Tools {
    fn of(messages: &[Message], names: &[String]) -> Self {
        let is_one = |it: &str| names.iter().any(|name| name == it);
        let called = messages.iter().map(|message| {
            let mut results = message.tool_results().filter_map(|it| it.name.as_deref());
            message.tool_calls().any(|it| is_one(&it.name)) || results.any(is_one)
        });
        Tools(Units::of(messages).with_any(&called.collect::<Vec<_>>()))
    }

    fn are_in(&self, at: usize) -> bool {
        self.0[at]
    }
}

impl Document {
    /// Keeps the messages that the options name, a call with its results; gives how many there are now.
    /// Linear.
    ///
    /// ```
    /// use msg_core::Role;
    /// use msg_document::{Document, FilterOptions, ReadOptions};
    ///
    /// let json = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
    /// let mut document = Document::read(json, &ReadOptions::default())?;
    /// assert_eq!(document.filter(&FilterOptions::default().with_role(Role::User)), 1);
    /// assert_eq!(document.messages()[0].text(), "hi");
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn filter(&mut self, options: &FilterOptions) -> usize {
        let stays = options.choose(self.messages());
        self.keep(&stays)
    }

    /// Keeps the messages for which it says so; gives how many there are now.
    pub(crate) fn keep(&mut self, stays: &[bool]) -> usize {
        let messages = self.take_messages();
        let before = messages.len();
        let kept = messages.into_iter().zip(stays).filter(|it| *it.1).map(|it| it.0);
        let kept: Vec<Message> = kept.collect();
        let after = kept.len();
        if after == before {
            self.put_messages(kept);
        } else {
            self.put_edited(kept);
        }
        after
    }
}

// Which messages stay and go together: a message with calls, and the messages with their results.

/// The units of some messages.
pub(super) struct Units {
    /// For each message the first one of its unit.
    first: Vec<usize>,
}

impl Units {
    /// A result belongs to the last call before it that has its id. Linear.
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut first: Vec<usize> = (0..messages.len()).collect();
        let mut calls: HashMap<&str, usize> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            for result in message.tool_results() {
                if let Some(&call) = calls.get(result.call_id.as_str()) {
                    join(&mut first, call, at);
                }
            }
            calls.extend(message.tool_calls().map(|it| (it.id.as_str(), at)));
        }
        for at in 0..first.len() {
            first[at] = first[first[at]];
        }
        Units { first }
    }

    /// Makes whole units of a choice of messages: those stay of which one message was chosen.
    pub(super) fn with_any(&self, chosen: &[bool]) -> Vec<bool> {
        let mut stays = vec![false; chosen.len()];
        for (at, _) in chosen.iter().enumerate().filter(|it| *it.1) {
            stays[self.first[at]] = true;
        }
        self.first.iter().map(|it| stays[*it]).collect()
    }

    /// The units that some messages break by being left out.
    pub(super) fn broken_by(&self, left_out: impl Iterator<Item = usize>) -> Broken<'_> {
        let mut res = Broken { units: self, is_broken: vec![false; self.first.len()] };
        left_out.for_each(|it| res.leave_out(it));
        res
    }

    /// Whether a message is alone in its unit.
    pub(super) fn is_alone(&self, at: usize) -> bool {
        self.first.iter().filter(|it| **it == self.first[at]).nth(1).is_none()
    }
}

/// Units of which a message is left out.
pub(super) struct Broken<'a> {
    units: &'a Units,
    is_broken: Vec<bool>,
}

impl Broken<'_> {
    /// Leaves a message out.
    pub(super) fn leave_out(&mut self, at: usize) {
        self.is_broken[self.units.first[at]] = true;
    }

    /// Whether the unit of a message is broken.
    pub(super) fn has(&self, at: usize) -> bool {
        self.is_broken[self.units.first[at]]
    }
}

/// Makes one unit of two messages. What points to the first message of a unit keeps pointing backwards,
/// so that one pass resolves it.
fn join(first: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(first, one), root(first, other));
    let (low, high) = (one.min(other), one.max(other));
    first[high] = low;
}

/// The first message of a unit; the way there is shortened for the next time.
fn root(first: &mut [usize], mut at: usize) -> usize {
    while first[at] != at {
        first[at] = first[first[at]];
        at = first[at];
    }
    at
}
