//! The cache breakpoints of a request whose messages are edited: that of a part which was dropped moves to the nearest
//! part before it that stays, so that what is in front of it is still cached (CL-63).
//!
//! ```text
//! user "hi" · tool_result x ◆ · text "next"     the result matches no call and is dropped
//! user "hi" ◆ · text "next"
//! ```
//!
//! Parts are compared as they are, so that one which was mended keeps the breakpoint that it has.

use std::collections::{HashMap, VecDeque};

use msg_core::{Diagnostic, Extra, Message, Origin, Part, RawJson};
use xxhash_rust::xxh3::xxh3_128;

/// Members that ask for a breakpoint.
pub(crate) const MARKERS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];
/// The block that is one (Bedrock).
const BLOCK: &str = "{\"cachePoint\"";

/// What asks for a breakpoint.
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
    /// None if nothing is marked, which is the rule: costs a look at the members that are not known.
    pub(crate) fn of(messages: &[Message]) -> Option<Self> {
        let is_marked = |it: &Message| {
            marker_in(&it.extra).is_some() || it.parts.iter().any(|it| marker_of(it).is_some())
        };
        messages.iter().any(is_marked).then(|| Breakpoints(spots(messages)))
    }

    /// Puts the breakpoints of dropped parts back, and says so. Linear, times the breakpoints that were lost.
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
            // A part that was moved has its breakpoint. One between its neighbours that is marked is this one, mended.
            if let Some(own) = moved.or_else(|| (from..to.max(from)).find(is_free)) {
                claimed[own] = true;
                continue;
            }
            let mut before = kept[..at].iter().rev().flatten();
            let target =
                before.find(|it| can_hold(&messages[new[**it].message], new[**it].part, marker));
            // Where that one is marked already, the two are one.
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

/// Which of the new parts each old one is, in order.
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

/// Whether a part takes a breakpoint: thinking does not, and chat messages have no other place for one than texts and
/// images.
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
