//! The records of a store after an edit of its messages: those whose messages stay are as they came, whatever they hold
//! that no message says, and only those in between are written.
//!
//! ```text
//! records     r0   r1     r2        r3
//! messages    m0   m1 m2  m3        m4
//! edited      m0   m1 m2  m3 new    m4      r0 r1 r2 + what `new` is written as + r3
//! ```

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use msg_core::{Message, Part, native};
use msg_session::View;
use xxhash_rust::xxh3::xxh3_64;

use crate::layout::{carried, elements};

/// A record, or several of which it is not known what each says, and the messages that they say.
struct Group {
    records: Range<usize>,
    messages: Range<usize>,
}

/// How a list of messages is written.
type Write<'w> = dyn Fn(&[Message]) -> Option<String> + 'w;

/// The list of records `list`, of which `view` was read, with the messages `now`. None where it is not known which
/// record says what. Linear, but for new ids.
pub(super) fn spliced(
    list: &str,
    view: &View,
    now: &[Message],
    write: &Write<'_>,
) -> Option<String> {
    let records: Vec<&str> = elements(list).collect();
    let groups = groups(view, records.len())?;
    let kept = kept(&view.messages, now);
    let names = names(&view.messages, now);
    let mut new = Segments { list, records: &records, view, now, names, write, next_id: now.len() };
    let mut res: Vec<String> = Vec::with_capacity(records.len());
    let (mut pending, mut next) = (0..0, 0);
    for (at, group) in groups.iter().enumerate() {
        let Some(place) = intact(&kept, group) else {
            pending.end = at + 1;
            continue;
        };
        res.extend(new.written(&groups[pending], next..place)?);
        res.extend(records[group.records.clone()].iter().map(|it| (*it).to_owned()));
        next = place + group.messages.len();
        pending = at + 1..at + 1;
    }
    res.extend(new.written(&groups[pending], next..now.len())?);
    Some(format!("[{}]", res.join(",")))
}

/// The records by what they say. A record without a message goes with the one before it.
fn groups(view: &View, n_records: usize) -> Option<Vec<Group>> {
    let record = |it: &Vec<msg_session::PartOrigin>| it.first().map(|it| it.record as usize);
    let mut res: Vec<Group> = Vec::new();
    let mut seen = 0;
    for (at, origins) in view.origins.iter().enumerate() {
        let record = record(origins).filter(|it| *it < n_records).unwrap_or(seen);
        // What is said first may be in a later record.
        let is_ahead = view.origins.get(at + 1).and_then(|it| it.first());
        let is_ahead = is_ahead.is_some_and(|it| (it.record as usize) < record);
        let record = if is_ahead { seen } else { record };
        if record < seen {
            return None;
        }
        seen = record;
        match res.last_mut().filter(|it| it.records.start == record) {
            Some(group) => group.messages.end = at + 1,
            None => {
                if let Some(last) = res.last_mut() {
                    last.records.end = record;
                }
                res.push(Group { records: record..n_records, messages: at..at + 1 });
            }
        }
    }
    if let Some(first) = res.first_mut() {
        first.records.start = 0;
    }
    Some(res)
}

/// For each message that was there its place among those that are there now, in order.
fn kept(before: &[Message], now: &[Message]) -> Vec<Option<usize>> {
    let mut room = Vec::new();
    let mut hash = |it: &Message| {
        room.clear();
        native::write_message(it, &mut room);
        xxh3_64(&room)
    };
    let mut places: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (at, it) in now.iter().enumerate() {
        places.entry(hash(it)).or_default().push_back(at);
    }
    let mut next = 0;
    let place = |it: &Message| {
        let places = places.get_mut(&hash(it))?;
        while let Some(at) = places.pop_front() {
            if at >= next {
                next = at + 1;
                return Some(at);
            }
        }
        None
    };
    before.iter().map(place).collect()
}

/// Where all messages of a group are, one after the other.
fn intact(kept: &[Option<usize>], group: &Group) -> Option<usize> {
    let mut places = kept[group.messages.clone()].iter();
    let first = (*places.next()?)?;
    let are_beside = places.enumerate().all(|(n, it)| *it == Some(first + n + 1));
    are_beside.then_some(first)
}

/// The tools of the calls, by id.
fn names(before: &[Message], now: &[Message]) -> HashMap<String, String> {
    let calls = before.iter().chain(now).flat_map(Message::tool_calls);
    calls.map(|it| (it.id.clone(), it.name.clone())).collect()
}

/// What is written anew between records that stay.
struct Segments<'a> {
    list: &'a str,
    records: &'a [&'a str],
    view: &'a View,
    now: &'a [Message],
    names: HashMap<String, String>,
    write: &'a Write<'a>,
    next_id: usize,
}

impl Segments<'_> {
    /// The records that these groups become, whose messages are now these.
    fn written(&mut self, groups: &[Group], now: Range<usize>) -> Option<Vec<String>> {
        if now.is_empty() {
            return Some(self.without(groups));
        }
        let after = (self.write)(&self.named(&self.now[now]))?;
        let after = self.with_new_ids(&after);
        let (Some(first), Some(last)) = (groups.first(), groups.last()) else {
            return Some(elements(&after).map(str::to_owned).collect());
        };
        let before = &self.view.messages[first.messages.start..last.messages.end];
        let before = (self.write)(&self.named(before))?;
        let source = self.records[first.records.start..last.records.end].join(",");
        let made = carried(&format!("[{source}]"), &before, &after, &["msg-"]);
        Some(elements(&made).map(str::to_owned).collect())
    }

    /// The records of these groups that none of their messages came from: a writer may have no form for what goes.
    fn without(&self, groups: &[Group]) -> Vec<String> {
        let mut res = Vec::new();
        for group in groups {
            let origins = self.view.origins[group.messages.clone()].iter().flatten();
            let gone: HashSet<_> = origins.map(|it| it.record as usize).collect();
            let is_gone = |at: &usize| gone.contains(at) || gone.is_empty();
            let left = group.records.clone().filter(|at| !is_gone(at));
            res.extend(left.map(|at| self.records[at].to_owned()));
        }
        res
    }

    /// Results with the names of their tools: the calls may be in records that stay.
    fn named(&self, messages: &[Message]) -> Vec<Message> {
        let mut res = messages.to_vec();
        for part in res.iter_mut().flat_map(|it| &mut it.parts) {
            if let Part::ToolResult(it) = part
                && it.name.is_none()
            {
                it.name = self.names.get(&it.call_id).cloned();
            }
        }
        res
    }

    /// The ids that a writer gives are places, which other records have.
    fn with_new_ids(&mut self, list: &str) -> String {
        const GIVEN: &str = "\"id\":\"msg-";
        let mut res = String::with_capacity(list.len());
        let mut pieces = list.split(GIVEN);
        res.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let rest = piece.trim_start_matches(|it: char| it.is_ascii_digit());
            while self.list.contains(&format!("\"msg-{}\"", self.next_id)) {
                self.next_id += 1;
            }
            res.push_str(&format!("{GIVEN}{}{rest}", self.next_id));
            self.next_id += 1;
        }
        res
    }
}
