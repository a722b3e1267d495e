//! Selects messages of a document: those that match a filter, or the first or last that fit.
//!
//! ```text
//! message   0 user   1 assistant   2 tool        3 tool        4 user
//! unit      0        1 calls a, b  1 answers a   1 answers b   4
//! ```
//!
//! A call and its results are one unit (`units`) that is kept or removed as a whole, so the result never has
//! an unanswered call or an orphan result. Nothing is summarised or repaired; use `fit` and `repair` for
//! that.

use std::{collections::HashMap, ops::Range};

use msg_compact::{MediaRates, TokenCounter};
use msg_core::{Message, Part, Role};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::document::Document;
use crate::fit::Counter;

/// Parses the names of roles.
fn roles<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Role>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    Ok(words.iter().map(|it| Role::from(it.as_str())).collect())
}

// The first or last messages that fit a number of tokens, with the options that users of LangChain's
// `trim_messages` know.
//
// ```text
// strategy last    system  u1  a1  u2  a2        include_system: system stays
// └──────┘       as many of the last as fit, then from start_on on
// strategy first   system  u1  a1  u2  a2
// └──────────────┘               as many of the first as fit, then to end_on
// ```
//
// It differs in one thing: a call is never separated from its results. Where the cut would do so, the unit
// goes whole.

/// Which end of a conversation is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// The last messages that fit.
    #[default]
    Last,
    /// The first messages that fit.
    First,
}

/// Options of a trim.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrimOptions {
    /// The limit in tokens, for the messages and for the fixed costs of a request.
    pub max_tokens: u64,
    /// Which end is kept.
    pub strategy: Strategy,
    /// With [`Strategy::Last`]: the result begins with a message of one of these roles.
    #[serde(deserialize_with = "roles")]
    pub start_on: Vec<Role>,
    /// The result ends with a message of one of these roles. With [`Strategy::Last`], messages
    /// after the last such message are not counted.
    #[serde(deserialize_with = "roles")]
    pub end_on: Vec<Role>,
    /// With [`Strategy::Last`]: a system message at the very beginning is kept.
    pub include_system: bool,
    /// Keep as many whole lines of the message at the cut as fit, if the whole message does not.
    pub allow_partial: bool,
    /// How tokens are counted [default: `script`].
    pub counter: Option<Counter>,
}

impl TrimOptions {
    msg_core::setters! {
        new;
        /// Sets the limit in tokens.
        with_max_tokens(tokens: u64) max_tokens = tokens;
        /// Sets which end is kept.
        with_strategy(strategy: Strategy);
    }

    /// Adds a role with which the result may begin.
    #[must_use]
    pub fn with_start_on(mut self, role: Role) -> Self {
        self.start_on.push(role);
        self
    }
}

impl Document {
    /// Keeps the last or first messages that fit, a call always with its results. Returns the tokens of
    /// the result. The result is empty if no message fits.
    ///
    /// Counts each message once. Linear, except for a message that is kept in part, which is counted
    /// O(log lines) times.
    ///
    /// ```
    /// use msg_core::Role;
    /// use msg_document::{Document, ReadOptions, TrimOptions};
    ///
    /// let json = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},
    ///     {"role":"user","content":"bye"}]"#;
    /// let mut document = Document::read(json, &ReadOptions::default())?;
    /// document.trim(&TrimOptions::default().with_max_tokens(15).with_start_on(Role::User));
    /// assert_eq!(document.messages()[0].text(), "bye");
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn trim(&mut self, options: &TrimOptions) -> u64 {
        let counter = options.counter.unwrap_or(Counter::Script).make(MediaRates::default());
        let kept = trimmed(self.take_messages(), options, &*counter);
        match &kept.stays {
            Some(stays) if stays.iter().all(|it| *it) => self.put_messages(kept.messages),
            Some(stays) => self.put_cut(kept.messages, stays),
            None => self.put_edited(kept.messages),
        }
        kept.tokens
    }
}

/// The messages that a trim keeps.
struct Kept {
    messages: Vec<Message>,
    tokens: u64,
    /// For each message whether it stays; `None` if one stays in part.
    stays: Option<Vec<bool>>,
}

/// Trims a list of messages.
fn trimmed(messages: Vec<Message>, options: &TrimOptions, counter: &dyn TokenCounter) -> Kept {
    let base = counter.request(&[]);
    let cut = Cut::new(&messages, options, counter, base);
    let (stays, partial) = (cut.stays.clone(), cut.partial());
    let mut tokens = base;
    let mut kept = Vec::with_capacity(messages.len());
    for (at, message) in messages.into_iter().enumerate() {
        match &partial {
            Some((place, part, cost)) if *place == at => {
                tokens += cost;
                kept.push(part.clone());
            }
            _ if stays[at] => {
                tokens += counter.message(&message);
                kept.push(message);
            }
            _ => {}
        }
    }
    let stays = partial.is_none().then_some(stays);
    Kept { messages: kept, tokens, stays }
}

/// The place of a cut.
struct Cut<'a> {
    messages: &'a [Message],
    options: &'a TrimOptions,
    counter: &'a dyn TokenCounter,
    units: Units,
    /// For each message, whether it stays.
    stays: Vec<bool>,
    /// The first message beyond the limit, if the cut is still there.
    beyond: Option<usize>,
    /// The tokens that are left.
    room: u64,
}

impl<'a> Cut<'a> {
    fn new(
        messages: &'a [Message],
        options: &'a TrimOptions,
        counter: &'a dyn TokenCounter,
        base: u64,
    ) -> Self {
        let is_last = options.strategy == Strategy::Last;
        let is_system = messages.first().is_some_and(|it| it.role == Role::System);
        let has_system = is_last && options.include_system && is_system;
        let mut room = options.max_tokens.saturating_sub(base);
        let mut range = usize::from(has_system)..messages.len();
        if has_system {
            room = room.saturating_sub(counter.message(&messages[0]));
        }
        let beyond;
        if is_last {
            let lowest = range.start;
            range.end = end_on(messages, range.clone(), &options.end_on);
            let newest = messages[range.clone()].iter().rev();
            let (n, left) = fitting(newest, room, counter);
            (range.start, room) = (range.end - n, left);
            beyond = range.start.checked_sub(1).filter(|it| *it >= lowest);
        } else {
            let (n, left) = fitting(messages[range.clone()].iter(), room, counter);
            (range.end, room) = (range.start + n, left);
            beyond = Some(range.end).filter(|it| *it < messages.len());
        }
        let (units, stays) = (Units::of(messages), Vec::new());
        let mut cut = Cut { messages, options, counter, units, stays, beyond, room };
        let narrowed = cut.narrowed(range.clone());
        cut.beyond = beyond.filter(|_| {
            if is_last { narrowed.start == range.start } else { narrowed.end == range.end }
        });
        if has_system {
            cut.stays[0] = true;
        }
        cut
    }

    /// Moves the ends of the range inwards until they satisfy the options and separate no unit. Linear: each message is
    /// left out once.
    fn narrowed(&mut self, mut range: Range<usize>) -> Range<usize> {
        let at_start: &[Role] = match self.options.strategy {
            Strategy::Last => &self.options.start_on,
            Strategy::First => &[],
        };
        let outside = (0..self.messages.len()).filter(|it| !range.contains(it));
        let mut broken = self.units.broken_by(outside);
        loop {
            let before = range.clone();
            let fits = |it: usize, roles: &[Role], broken: &Broken<'_>| {
                !broken.has(it) && is_of(&self.messages[it], roles)
            };
            while !range.is_empty() && !fits(range.start, at_start, &broken) {
                broken.leave_out(range.start);
                range.start += 1;
            }
            while !range.is_empty() && !fits(range.end - 1, &self.options.end_on, &broken) {
                broken.leave_out(range.end - 1);
                range.end -= 1;
            }
            if range == before {
                break;
            }
        }
        let stays = (0..self.messages.len()).map(|it| range.contains(&it) && !broken.has(it));
        self.stays = stays.collect();
        range
    }

    /// The part of the message at the cut that stays, with its index and tokens.
    fn partial(&self) -> Option<(usize, Message, u64)> {
        let at = self.beyond?;
        let message = &self.messages[at];
        let roles = match self.options.strategy {
            Strategy::Last => &self.options.start_on,
            Strategy::First => &self.options.end_on,
        };
        let is_wanted =
            self.options.allow_partial && is_of(message, roles) && self.units.is_alone(at);
        if !is_wanted || message.tool_calls().next().is_some() {
            return None;
        }
        let (part, cost) = part_of(message, self.room, self.options.strategy, self.counter)?;
        Some((at, part, cost))
    }
}

/// Whether a message has one of these roles. No roles means any role.
fn is_of(message: &Message, roles: &[Role]) -> bool {
    roles.is_empty() || roles.contains(&message.role)
}

/// The end of the range after the last message with one of these roles.
fn end_on(messages: &[Message], range: Range<usize>, roles: &[Role]) -> usize {
    let last = messages[range.clone()].iter().rposition(|it| is_of(it, roles));
    last.map_or(range.start, |it| range.start + it + 1)
}

/// The number of messages that fit one after the other, and the tokens that are left.
fn fitting<'m>(
    messages: impl Iterator<Item = &'m Message>,
    mut room: u64,
    counter: &dyn TokenCounter,
) -> (usize, u64) {
    let mut n = 0;
    for message in messages {
        let Some(left) = room.checked_sub(counter.message(message)) else { break };
        (n, room) = (n + 1, left);
    }
    (n, room)
}

/// As much of a message as fits: whole parts, or whole lines of one text if no part fits.
fn part_of(
    message: &Message,
    room: u64,
    strategy: Strategy,
    counter: &dyn TokenCounter,
) -> Option<(Message, u64)> {
    let with = |parts: Vec<Part>| {
        let part = Message { parts, ..message.clone() };
        let cost = counter.message(&part);
        (cost <= room).then_some((part, cost))
    };
    let len = message.parts.len();
    let some = |n: usize| match strategy {
        Strategy::Last => &message.parts[len - n..],
        Strategy::First => &message.parts[..n],
    };
    if let Some(n) = most(len.saturating_sub(1), |n| with(some(n).to_vec()).is_some()) {
        return with(some(n).to_vec());
    }
    let text = match strategy {
        Strategy::Last => message.parts.iter().rev().find_map(Part::as_text)?,
        Strategy::First => message.parts.iter().find_map(Part::as_text)?,
    };
    let ends: Vec<usize> =
        text.match_indices('\n').map(|it| it.0 + 1).filter(|it| *it < text.len()).collect();
    let lines = |n: usize| match strategy {
        Strategy::Last => vec![Part::text(&text[ends[ends.len() - n]..])],
        Strategy::First => vec![Part::text(&text[..ends[n - 1]])],
    };
    most(ends.len(), |n| with(lines(n)).is_some()).and_then(|n| with(lines(n)))
}

/// The largest number from 1 to `max` that fits. If a number fits, all smaller ones must fit.
fn most(max: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, max);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    (low > 0).then_some(low)
}

// Selection of messages by role, name, tool or range.

/// Which messages are kept: those that match every criterion that is set. One match per criterion
/// is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilterOptions {
    /// Messages of these roles.
    #[serde(rename = "role", deserialize_with = "roles")]
    pub roles: Vec<Role>,
    /// Messages whose author has one of these names.
    #[serde(rename = "name")]
    pub names: Vec<String>,
    /// Messages that call these tools, or hold their results.
    #[serde(rename = "tool")]
    pub tools: Vec<String>,
    /// Messages in this range, from 0; it may extend beyond the end. In JSON a text: `2..5`, `10..`.
    #[serde(deserialize_with = "range")]
    pub range: Option<Range<usize>>,
    /// Invert the selection.
    #[serde(rename = "not")]
    pub others: bool,
}

/// Parses a range; either end may be missing.
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
    /// Adds a role.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.roles.push(role);
        self
    }

    msg_core::setters! {
        new;
        /// Sets the range.
        with_range(range: Range<usize>) range = Some(range);
    }

    /// For each message, whether it stays; a call always with its results. Linear.
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

/// For each message, whether it calls one of the tools or has its result. A result without a name has that of its call.
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
    /// Keeps the messages that match, a call always with its results. Returns the number of messages
    /// that are left. Linear.
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

    /// Keeps the messages marked true, and returns their number.
    pub(crate) fn keep(&mut self, stays: &[bool]) -> usize {
        let messages = self.take_messages();
        let before = messages.len();
        let kept = messages.into_iter().zip(stays).filter(|it| *it.1).map(|it| it.0);
        let kept: Vec<Message> = kept.collect();
        let after = kept.len();
        if after == before {
            self.put_messages(kept);
        } else {
            self.put_cut(kept, stays);
        }
        after
    }
}

// Units of messages that are kept or removed together: a message with calls, and the messages with their results.

/// The units of a list of messages.
struct Units {
    /// For each message, the index of the first one of its unit.
    first: Vec<usize>,
}

impl Units {
    /// Finds the units. A result belongs to the last call before it with its id. Linear.
    fn of(messages: &[Message]) -> Self {
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

    /// Extends a choice of messages to whole units.
    fn with_any(&self, chosen: &[bool]) -> Vec<bool> {
        let mut stays = vec![false; chosen.len()];
        for (at, _) in chosen.iter().enumerate().filter(|it| *it.1) {
            stays[self.first[at]] = true;
        }
        self.first.iter().map(|it| stays[*it]).collect()
    }

    /// The units that are broken if these messages are left out.
    fn broken_by(&self, left_out: impl Iterator<Item = usize>) -> Broken<'_> {
        let mut res = Broken { units: self, is_broken: vec![false; self.first.len()] };
        left_out.for_each(|it| res.leave_out(it));
        res
    }

    /// Whether a message is alone in its unit.
    fn is_alone(&self, at: usize) -> bool {
        self.first.iter().filter(|it| **it == self.first[at]).nth(1).is_none()
    }
}

/// Units of which a message is left out.
struct Broken<'a> {
    units: &'a Units,
    is_broken: Vec<bool>,
}

impl Broken<'_> {
    /// Leaves a message out.
    fn leave_out(&mut self, at: usize) {
        self.is_broken[self.units.first[at]] = true;
    }

    /// Whether the unit of a message is broken.
    fn has(&self, at: usize) -> bool {
        self.is_broken[self.units.first[at]]
    }
}

/// Joins the units of two messages. Links always point backwards, so one pass resolves them.
fn join(first: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(first, one), root(first, other));
    let (low, high) = (one.min(other), one.max(other));
    first[high] = low;
}

/// The first message of a unit. Shortens the path for the next lookup.
fn root(first: &mut [usize], mut at: usize) -> usize {
    while first[at] != at {
        first[at] = first[first[at]];
        at = first[at];
    }
    at
}
