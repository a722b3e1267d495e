//! Sets aside the parts of a document that a chain cannot hold while its messages are processed, and restores them: its
//! beginning, user messages in a row, and the places of cache breakpoints.
//!
//! The beginning is everything before the first user message: the start of a continued request (OA-14), whose history
//! the provider stores, and system messages after the first one, if the format allows several (MS-10).
//!
//! ```text
//! system | result  assistant  result | user  assistant …
//! system | system  system            | user  assistant …
//!          the lead: it stays          what is compacted, after the system message
//! ```
//!
//! User messages in a row are allowed in a message file (MF-33), but not in a chain. They are joined while the
//! history is processed as a chain, and separated afterwards.
//!
//! ```text
//! user a   user b   assistant c   user d        as it was read
//! user a b          assistant c   user d        as it is looked at
//! user a   user b   summary                     where c and d were cut
//! ```
//!
//! Cache breakpoints of a request whose messages are edited: the breakpoint of a dropped part moves to the nearest
//! earlier part that is kept, so everything before it is still cached (CL-63).
//!
//! ```text
//! user "hi" · tool_result x ◆ · text "next"     the result matches no call and is dropped
//! user "hi" ◆ · text "next"
//! ```
//!
//! Parts are compared by value; a repaired part keeps its own breakpoint.

use std::collections::{HashMap, VecDeque};

use msg_chainast::MessageOrigin;
use msg_core::{Diagnostic, Extra, Message, Origin, Part, Position, RawJson, Role, native};
use msg_formats::{Format, Refusal};
use xxhash_rust::xxh3::xxh3_128;

/// The messages of a history that a tree cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Beside {
    /// Nothing.
    #[default]
    Nothing,
    /// The system messages after the first.
    Systems,
    /// Everything between the system messages and the first user message.
    Continuation,
}

/// The messages before the first user message that belong to no section: the beginning of a continued request, or the
/// system messages after the first, in a format that may have several.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// How many system messages are before it.
    at: usize,
    messages: Vec<Message>,
    /// The user messages that were joined before.
    joined: JoinedUsers,
    /// By how many messages the list grew when everything was put back.
    more: usize,
}

impl Lead {
    /// Takes the lead out of a list.
    pub(crate) fn take(messages: &mut Vec<Message>, beside: Beside) -> Self {
        let systems = messages.iter().take_while(|it| it.role.is_system()).count();
        let (at, end) = match beside {
            Beside::Nothing => (0, 0),
            Beside::Systems => {
                let system = messages.iter().take_while(|it| it.role == Role::System).count();
                (1.min(system), system)
            }
            Beside::Continuation => {
                let after = messages[systems..].iter().take_while(|it| it.role != Role::User);
                (systems, systems + after.count())
            }
        };
        let messages = messages.drain(at..end).collect();
        Lead { at, messages, ..Lead::default() }
    }

    /// Adds the record of joined user messages.
    pub(crate) fn with_joined(self, joined: JoinedUsers) -> Self {
        Lead { joined, ..self }
    }

    /// Whether user messages were joined.
    pub(crate) fn has_joined(&self) -> bool {
        !self.joined.is_empty()
    }

    /// The number of messages that were set aside.
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether no message was set aside, as in most documents.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Its messages.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Puts a copy of it back, after the system messages.
    pub(crate) fn put(&self, messages: &mut Vec<Message>) {
        let systems = messages.iter().take_while(|it| it.role.is_system()).count();
        let at = systems.min(self.at);
        messages.splice(at..at, self.messages.iter().cloned());
    }

    /// As [`Lead::put`], and also separates the joined messages that were not changed.
    pub(crate) fn put_all(&mut self, messages: &mut Vec<Message>) {
        let before = messages.len();
        self.put(messages);
        self.joined.put_back(messages);
        self.more = messages.len() - before;
    }

    /// By how many messages the list grew when everything was put back.
    pub(crate) fn more(&self) -> usize {
        self.more
    }

    /// The index in the original list for an index in the list without the lead.
    pub(crate) fn place(&self, message: usize) -> usize {
        let own = if message < self.at { message } else { message + self.messages.len() };
        self.joined.place(own)
    }

    /// The origins of the messages of the tree, as indices in the original list.
    pub(crate) fn origins(
        &self,
        mended: Option<Vec<MessageOrigin>>,
        n_messages: usize,
    ) -> Vec<MessageOrigin> {
        let own = |message| MessageOrigin { message, inserted: false };
        let mut origins = mended.unwrap_or_else(|| (0..n_messages).map(own).collect());
        origins.iter_mut().for_each(|it| it.message = self.place(it.message));
        origins
    }

    /// Changes the positions of a finding to those in the original list.
    pub(crate) fn put_before(&self, it: &mut Diagnostic) {
        let Position { message, other_message, .. } = &mut it.at;
        let said = *other_message;
        for at in [message, other_message].into_iter().flatten() {
            *at = self.place(*at);
        }
        // The sentence may end with the number of the other message.
        if let Some((said, other)) = said.zip(it.at.other_message)
            && let Some(sentence) = it.message().strip_suffix(&format!("message {said}"))
        {
            it.set_message(format!("{sentence}message {other}"));
        }
    }

    /// A refusal with positions in the original list.
    pub(crate) fn refused(&self, refusal: Refusal) -> Refusal {
        let mut found = refusal.into_diagnostic();
        self.put_before(&mut found);
        Refusal::from(*found)
    }
}

/// The user messages that were joined, to be separated again.
#[derive(Debug, Default)]
pub(crate) struct JoinedUsers {
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    /// The index of the joined message.
    at: usize,
    /// By how many messages the original list is longer, up to and including this run.
    more: usize,
    /// The joined message as JSON.
    joined: String,
    were: Vec<Message>,
}

/// Whether adjacent user messages have different names. Joined, they would not tell who said what (CA-25).
pub(crate) fn has_speakers(messages: &[Message]) -> bool {
    messages.windows(2).any(|it| it.iter().all(is_user) && it[0].name != it[1].name)
}

impl JoinedUsers {
    /// Joins adjacent user messages if their format allows them, or if they have different names.
    pub(crate) fn of(format: Format, messages: &mut Vec<Message>) -> Self {
        match format.joins_users() || has_speakers(messages) {
            true => JoinedUsers::take(messages),
            false => JoinedUsers::default(),
        }
    }

    /// Joins adjacent user messages. Copies only these.
    pub(crate) fn take(messages: &mut Vec<Message>) -> Self {
        if !messages.windows(2).any(|it| it.iter().all(is_user)) {
            return Self::default();
        }
        let mut taken = Self::default();
        let (mut joined, mut were) = (Vec::<Message>::new(), Vec::new());
        for message in messages.drain(..) {
            match joined.last_mut().filter(|it| is_user(it) && is_user(&message)) {
                Some(last) => {
                    if were.is_empty() {
                        were.push(last.clone());
                    }
                    last.parts.extend(message.parts.iter().cloned());
                    were.push(message);
                }
                None => {
                    taken.close(&joined, &mut were);
                    joined.push(message);
                }
            }
        }
        taken.close(&joined, &mut were);
        *messages = joined;
        taken
    }

    /// Ends a run, if one has begun.
    fn close(&mut self, joined: &[Message], were: &mut Vec<Message>) {
        let Some(last) = joined.last().filter(|_| !were.is_empty()) else { return };
        let more = self.runs.last().map_or(0, |it| it.more) + were.len() - 1;
        let (at, were) = (joined.len() - 1, std::mem::take(were));
        self.runs.push(Run { at, more, joined: json(last), were });
    }

    /// Whether no message was joined.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Separates the joined messages that were not changed.
    pub(crate) fn put_back(&mut self, messages: &mut Vec<Message>) {
        if self.is_empty() {
            return;
        }
        let mut runs: HashMap<String, VecDeque<Vec<Message>>> = HashMap::new();
        for run in &mut self.runs {
            let (joined, were) = (std::mem::take(&mut run.joined), std::mem::take(&mut run.were));
            runs.entry(joined).or_default().push_back(were);
        }
        for message in std::mem::take(messages) {
            let were = is_user(&message).then(|| runs.get_mut(&json(&message))).flatten();
            match were.and_then(VecDeque::pop_front) {
                Some(were) => messages.extend(were),
                None => messages.push(message),
            }
        }
    }

    /// The index in the original list for an index in the list with joined messages.
    pub(crate) fn place(&self, message: usize) -> usize {
        let before = self.runs.partition_point(|it| it.at < message);
        message + before.checked_sub(1).map_or(0, |it| self.runs[it].more)
    }
}

fn is_user(message: &Message) -> bool {
    message.role == Role::User
}

fn json(message: &Message) -> String {
    let mut json = Vec::new();
    native::write_message(message, &mut json);
    String::from_utf8(json).unwrap_or_default()
}

/// Members that ask for a breakpoint.
pub(crate) const MARKERS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];
/// The beginning of a block that is a breakpoint (Bedrock).
const BLOCK: &str = "{\"cachePoint\"";

/// A breakpoint, and where it was.
#[derive(Debug, Clone)]
enum Marker {
    Part(Origin, String, RawJson),
    Message(Origin, String, RawJson),
    Block(Part),
}

#[derive(Debug)]
struct Spot {
    message: usize,
    part: usize,
    hash: u128,
    marker: Option<Marker>,
}

/// The parts of messages that are about to be edited, where some have breakpoints.
#[derive(Debug)]
pub(crate) struct Breakpoints(Vec<Spot>);

impl Breakpoints {
    /// `None` without breakpoints, as in most documents. Looks only at unknown members.
    pub(crate) fn of(messages: &[Message]) -> Option<Self> {
        let is_marked = |it: &Message| {
            marker_in(&it.extra).is_some() || it.parts.iter().any(|it| marker_of(it).is_some())
        };
        messages.iter().any(is_marked).then(|| Breakpoints(spots(messages)))
    }

    /// Moves the breakpoints of dropped parts, and reports that. Linear for each lost breakpoint.
    pub(crate) fn keep_in(self, messages: &mut [Message]) -> Vec<Diagnostic> {
        let Breakpoints(old) = self;
        let new = spots(messages);
        let mut has = vec![false; new.len()];
        for (at, spot) in new.iter().enumerate() {
            has[at] = spot.marker.is_some();
        }
        let kept = matched(&old, &new);
        let (mut claimed, mut moves, mut found) = (vec![false; new.len()], Vec::new(), Vec::new());
        kept.iter().flatten().for_each(|it| claimed[*it] = true);
        for (at, spot) in old.iter().enumerate().filter(|it| kept[it.0].is_none()) {
            let Some(marker) = &spot.marker else { continue };
            let is_free = |it: &usize| has[*it] && !claimed[*it];
            let moved = (0..new.len()).find(|it| is_free(it) && new[*it].hash == spot.hash);
            let from = kept[..at].iter().rev().flatten().next().map_or(0, |it| it + 1);
            let to = kept[at..].iter().flatten().next().map_or(new.len(), |it| *it);
            // A moved part keeps its breakpoint. A marked part between the same neighbours is the repaired part.
            if let Some(own) = moved.or_else(|| (from..to.max(from)).find(is_free)) {
                claimed[own] = true;
                continue;
            }
            let mut before = kept[..at].iter().rev().flatten();
            let target =
                before.find(|it| can_hold(&messages[new[**it].message], new[**it].part, marker));
            // If the target has a breakpoint already, the two merge.
            if let Some(target) = target.filter(|it| !has[**it]) {
                has[*target] = true;
                moves.push((new[*target].message, new[*target].part, marker.clone()));
                let text = "the part of a cache breakpoint was dropped";
                let moved = Diagnostic::info("cache::breakpoint-moved".into(), text);
                let moved = moved.at_part(spot.message, spot.part);
                found.push(moved.with_fix("moved the breakpoint to the part before"));
            }
        }
        msg_core::sort_by_rank(&mut moves, |it| (it.0, it.1));
        for (message, part, marker) in moves.into_iter().rev() {
            put(&mut messages[message], part, marker);
        }
        found
    }
}

fn spots(messages: &[Message]) -> Vec<Spot> {
    let mut res = Vec::new();
    for (message, it) in messages.iter().enumerate() {
        let own = marker_in(&it.extra).map(|(origin, name, it)| Marker::Message(origin, name, it));
        let last = it.parts.len().saturating_sub(1);
        for (part, it) in it.parts.iter().enumerate() {
            let marker = marker_of(it).or_else(|| own.clone().filter(|_| part == last));
            let hash = xxh3_128(format!("{it:?}").as_bytes());
            res.push(Spot { message, part, hash, marker });
        }
    }
    res
}

/// The index among the new parts of each old part, matched in order.
fn matched(old: &[Spot], new: &[Spot]) -> Vec<Option<usize>> {
    let mut places: HashMap<u128, VecDeque<usize>> = HashMap::new();
    for (at, it) in new.iter().enumerate() {
        places.entry(it.hash).or_default().push_back(at);
    }
    let mut next = 0;
    let place = |it: &Spot| {
        let places = places.get_mut(&it.hash)?;
        while places.front().is_some_and(|it| *it < next) {
            places.pop_front();
        }
        let at = places.pop_front()?;
        next = at + 1;
        Some(at)
    };
    old.iter().map(place).collect()
}

fn marker_in(extra: &Extra) -> Option<(Origin, String, RawJson)> {
    let mut members = extra.all().filter(|it| MARKERS.contains(&it.1) && it.2.text() != "null");
    members.next().map(|(origin, name, it)| (origin.clone(), name.to_owned(), it.clone()))
}

/// The breakpoint of a part, or of a part in it.
fn marker_of(part: &Part) -> Option<Marker> {
    let own = marker_in(part.extra()).map(|(origin, name, it)| Marker::Part(origin, name, it));
    own.or_else(|| match part {
        Part::Other(it) if it.value.text().starts_with(BLOCK) => Some(Marker::Block(part.clone())),
        Part::ToolResult(it) => it.content.parts().iter().find_map(marker_of),
        _ => None,
    })
}

/// Whether a part can have a breakpoint. Thinking cannot; in chat messages only texts and images can.
fn can_hold(message: &Message, part: usize, marker: &Marker) -> bool {
    let part = &message.parts[part];
    match (marker, part) {
        (_, Part::Reasoning(_) | Part::Other(_)) => false,
        (_, Part::Text(it)) => !it.text.is_empty(),
        (Marker::Part(Origin::Anthropic, ..) | Marker::Block(_), _) => true,
        (Marker::Part(..), Part::Image(_) | Part::File(_)) => true,
        (Marker::Part(..), _) => false,
        (Marker::Message(..), _) => true,
    }
}

fn put(message: &mut Message, part: usize, marker: Marker) {
    match marker {
        Marker::Part(origin, name, it) => {
            message.parts[part].extra_mut().insert(origin, name, it);
        }
        Marker::Message(origin, name, it) => {
            message.extra.insert(origin, name, it);
        }
        Marker::Block(it) => message.parts.insert(part + 1, it),
    }
}
