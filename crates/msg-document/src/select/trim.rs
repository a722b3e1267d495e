//! The first or last messages that fit a number of tokens, with the options that users of LangChain's
//! `trim_messages` know.
//!
//! ```text
//! strategy last    system  u1  a1  u2  a2        include_system: system stays
//!                                 └──────┘       as many of the last as fit, then from start_on on
//! strategy first   system  u1  a1  u2  a2
//!                 └──────────────┘               as many of the first as fit, then to end_on
//! ```
//!
//! It differs in one thing: a call is never separated from its results. Where the cut would do so, the unit
//! goes whole.

use std::ops::Range;

use msg_compact::{MediaRates, TokenCounter};
use msg_core::{Message, Part, Role};
use serde::Deserialize;

use super::roles;
use crate::document::Document;
use crate::fit::Counter;
use crate::select::filter::{Broken, Units};

/// Which end of a conversation stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// The last messages that fit.
    #[default]
    Last,
    /// The first messages that fit.
    First,
}

/// How to cut.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrimOptions {
    /// The limit, in tokens: of the messages and of what a request costs besides them.
    pub max_tokens: u64,
    /// Which end stays.
    pub strategy: Strategy,
    /// With [`Strategy::Last`]: what is left begins with a message of one of these roles.
    #[serde(deserialize_with = "roles")]
    pub start_on: Vec<Role>,
    /// What is left ends with a message of one of these roles. What follows the last of them is not
    /// counted with [`Strategy::Last`].
    #[serde(deserialize_with = "roles")]
    pub end_on: Vec<Role>,
    /// With [`Strategy::Last`]: a system message at the very beginning stays.
    pub include_system: bool,
    /// Keep a part of the message at the cut, in whole lines, where all of it does not fit.
    pub allow_partial: bool,
    /// How tokens are counted; `script` if not given.
    pub counter: Option<Counter>,
}

impl TrimOptions {
    /// The limit, in tokens.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// This end stays.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// What is left begins with a message of this role, too.
    #[must_use]
    pub fn with_start_on(mut self, role: Role) -> Self {
        self.start_on.push(role);
        self
    }
}

impl Document {
    /// Keeps the last or first messages that fit, a call with its results; gives the tokens that are left.
    /// No message is left where none fits.
    ///
    /// Each message is counted once; linear, but for a message that is kept in part, which is counted as
    /// often as its lines can be halved.
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
        let Kept { messages, tokens, changed } = trimmed(self.take_messages(), options, &*counter);
        if changed {
            self.put_edited(messages);
        } else {
            self.put_messages(messages);
        }
        tokens
    }
}

/// What was kept, of some messages.
struct Kept {
    messages: Vec<Message>,
    tokens: u64,
    changed: bool,
}

/// Cuts some messages.
fn trimmed(messages: Vec<Message>, options: &TrimOptions, counter: &dyn TokenCounter) -> Kept {
    let base = counter.request(&[]);
    let cut = Cut::new(&messages, options, counter, base);
    let (stays, partial) = (cut.stays.clone(), cut.partial());
    let mut tokens = base;
    let changed = partial.is_some() || stays.iter().any(|it| !it);
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
    Kept { messages: kept, tokens, changed }
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
    /// What is left of the limit.
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

    /// Moves the ends of the range inwards until they are such as the options ask, and separate no unit.
    /// Linear: each message is left out once.
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

    /// What stays of the message at the cut, with its place and cost.
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

/// Whether a message has one of some roles; any will do where none is named.
fn is_of(message: &Message, roles: &[Role]) -> bool {
    roles.is_empty() || roles.contains(&message.role)
}

/// The end of the range that ends with the last message of one of some roles.
fn end_on(messages: &[Message], range: Range<usize>, roles: &[Role]) -> usize {
    let last = messages[range.clone()].iter().rposition(|it| is_of(it, roles));
    last.map_or(range.start, |it| range.start + it + 1)
}

/// How many of some messages fit one after the other, and what is left of the room.
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

/// As much of a message as fits: whole parts, else whole lines of the text at the end that stays.
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

/// The most of 1 to `max` that fit, where fewer fit if more do.
fn most(max: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, max);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    (low > 0).then_some(low)
}
