//! An edit carried over: what a writer makes of a document before and after an edit differs by the edit alone, and
//! that is all that changes in the text that the document was read from.
//!
//! ```text
//! source    [{"id":"1","t":5,"text":"q"},{"id":"2","step":0,"state":"open"}]
//! before    [{"text":"q"},{"state":"open"}]            as it would be written unedited
//! after     [{"text":"q"},{"state":"done","out":"x"}]  as it would be written now
//! carried   [{"id":"1","t":5,"text":"q"},{"id":"2","step":0,"state":"done","out":"x"}]
//! ```
//!
//! What the source has and the writer does not write stays where it is. Whether the result says what was meant is
//! for the caller to read.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::level::{Entry, Level};
use crate::layout;
use crate::layout::same;

/// Deeper than this what was edited is as it is written.
const MAX_DEPTH: usize = 32;

/// The text `source` with what differs between `before` and `after`; all three are JSON. An `id` that begins with one of
/// `given` is one that the writer gave by the place of what it names, which no edit is about. Linear in the texts, times
/// the depth of what was edited.
pub(crate) fn carried(source: &str, before: &str, after: &str, given: &[&str]) -> String {
    let [source, before, made] = [source, before, after].map(str::trim_ascii);
    let (before, after) = (without_ids(before, given, 0), without_ids(made, given, 0));
    let list = list_in(source, &before).unwrap_or(source);
    let start = list.as_ptr() as usize - source.as_ptr() as usize;
    let mut out = String::with_capacity(source.len());
    out.push_str(&source[..start]);
    value(list, Edit { before: &before, after: &after, made }, 0, &mut out);
    out.push_str(&source[start + list.len()..]);
    out
}

/// How a value was written.
#[derive(Clone, Copy)]
struct Edit<'a> {
    before: &'a str,
    after: &'a str,
    /// As `after`, with the ids that its writer gave.
    made: &'a str,
}

/// A value in which no object has an `id` that begins so.
fn without_ids(value: &str, given: &[&str], depth: usize) -> String {
    let is_given = |it: &Entry<'_>| {
        let text = it.value.strip_prefix('"').unwrap_or_default();
        name(it) == "id" && given.iter().any(|it| text.starts_with(it))
    };
    match Level::of(value).filter(|_| depth < MAX_DEPTH) {
        Some(level) => {
            let left = level.entries.iter().filter(|it| !is_given(it));
            let pieces = left.map(|it| spelled(it) + &without_ids(it.value, given, depth + 1));
            joined(&value[..1], &pieces.collect::<Vec<_>>(), &value[value.len() - 1..])
        }
        None => value.to_owned(),
    }
}

fn joined(open: &str, pieces: &[String], close: &str) -> String {
    format!("{open}{}{close}", pieces.join(","))
}

fn name<'a>(member: &'a Entry<'_>) -> &'a str {
    member.key.as_ref().map_or("", |it| &it.text)
}

/// The name of a member with its colon; nothing for an element.
fn spelled(member: &Entry<'_>) -> String {
    member.key.as_ref().map_or(String::new(), |it| format!("{}:", it.source))
}

/// Where a source is an object around the list that is written: its `messages` or `turns`, not deep in it.
fn list_in<'s>(source: &'s str, before: &str) -> Option<&'s str> {
    const NAMES: [&str; 2] = ["messages", "turns"];
    if !(before.starts_with('[') && source.starts_with('{')) {
        return None;
    }
    let mut level = Level::of(source)?;
    for _ in 0..4 {
        let named = |it: &&Entry<'_>| it.key.as_ref().is_some_and(|it| NAMES.contains(&&*it.text));
        let list = level.entries.iter().rev().find(|it| named(it) && it.value.starts_with('['));
        if let Some(list) = list {
            return Some(list.value);
        }
        let inner = level.entries.iter().find(|it| it.value.starts_with('{'))?;
        level = Level::of(inner.value)?;
    }
    None
}

fn value(source: &str, edit: Edit<'_>, depth: usize, out: &mut String) {
    let Edit { before, after, made } = edit;
    if same(before, after) {
        return out.push_str(source);
    }
    let kind = |it: &str| it.as_bytes().first().copied();
    let alike = kind(source) == kind(before) && kind(before) == kind(after) && depth < MAX_DEPTH;
    let levels = [source, before, after, made].map(|it| Level::of(it).filter(|_| alike));
    match levels {
        [Some(from), Some(was), Some(is), Some(made)] if source.starts_with('{') => {
            out.push_str(&joined("{", &members([&from, &was, &is, &made], depth), "}"));
        }
        [Some(from), Some(was), Some(is), Some(made)] => {
            out.push_str(&joined("[", &elements([&from, &was, &is, &made], depth), "]"));
        }
        _ => out.push_str(made),
    }
}

/// A member stays where the source has it, with what the edit made of it.
fn members([source, before, after, made]: [&Level<'_>; 4], depth: usize) -> Vec<String> {
    let [from, was, is, new] = [source, before, after, made].map(|level| {
        let entries = level.entries.iter();
        entries.map(|it| (name(it), it.value)).collect::<HashMap<&str, &str>>()
    });
    let mut res = Vec::with_capacity(source.entries.len());
    for it in &source.entries {
        let name = name(it);
        let mut piece = spelled(it);
        match (was.get(name), is.get(name), new.get(name)) {
            (Some(_), None, _) => continue,
            (None, Some(_), Some(made)) => piece.push_str(made),
            (Some(before), Some(after), Some(made)) => {
                value(it.value, Edit { before, after, made }, depth + 1, &mut piece);
            }
            _ => piece.push_str(it.value),
        }
        res.push(piece);
    }
    for it in &after.entries {
        let name = name(it);
        let is_told = was.get(name).is_some_and(|was| same(was, it.value));
        if !from.contains_key(name) && !is_told {
            res.push(spelled(it) + new.get(name).unwrap_or(&it.value));
        }
    }
    res
}

/// An element that stayed is that of the source; those that only the source has stay before what followed them.
fn elements([source, before, after, made]: [&Level<'_>; 4], depth: usize) -> Vec<String> {
    let at = |it: Option<layout::Cursor>| it.map(|it| it.at);
    let from: Vec<_> = layout::align_elements(&source.entries, &before.entries);
    let from: Vec<_> = from.into_iter().map(at).collect();
    let was = layout::align_elements(&before.entries, &after.entries);
    let known: HashSet<usize> = from.iter().flatten().copied().collect();
    let own = |range: Range<usize>| -> Vec<String> {
        let own = range.filter(|it| !known.contains(it));
        own.map(|it| source.entries[it].value.to_owned()).collect()
    };
    let (mut res, mut next) = (Vec::with_capacity(after.entries.len()), 0);
    for (place, was) in was.into_iter().map(at).enumerate() {
        let (after, made) = (after.entries[place].value, made.entries[place].value);
        let Some((was, from)) = was.and_then(|it| Some((it, from[it]?))) else {
            res.push(made.to_owned());
            continue;
        };
        res.extend(own(next..from));
        next = next.max(from + 1);
        let mut piece = String::new();
        let edit = Edit { before: before.entries[was].value, after, made };
        value(source.entries[from].value, edit, depth + 1, &mut piece);
        res.push(piece);
    }
    res.extend(own(next..source.entries.len()));
    res
}

// UI messages whose answers have steps: one element for all steps of an answer, as the Vercel AI SDK keeps them, where
// a writer makes an element of each.
//
// ```text
// [{"role":"assistant","parts":[A]},{"role":"assistant","parts":[B]}]
// [{"role":"assistant","parts":[{"type":"step-start"},A,{"type":"step-start"},B]}]
// ```

const STEP: &str = r#"{"type":"step-start"}"#;

/// How a document says where steps of an answer begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Before each of them.
    Each,
    /// Between two.
    Between,
}

impl Steps {
    /// How this document does; nothing where it does not.
    pub(crate) fn of(source: &str) -> Option<Self> {
        let mut found = None;
        for (at, _) in source.match_indices("\"step-start\"") {
            let before = source[..at].trim_end_matches(['"', ':', ' ', '\n', '\r', '\t']);
            let before =
                before.trim_end_matches("type").trim_end_matches(['"', '{', ' ', '\n', '\r', '\t']);
            if before.ends_with('[') {
                return Some(Steps::Each);
            }
            found = Some(Steps::Between);
        }
        found
    }
}

/// The list with one element for the answers side by side. Linear.
pub(crate) fn joined_steps(list: &str, steps: Steps) -> String {
    let Some(level) = Level::of(list) else { return list.to_owned() };
    let mut res: Vec<String> = Vec::with_capacity(level.entries.len());
    // The parts of the answer that the last element is, and the bytes of the element around them.
    let mut open: Option<(String, &str)> = None;
    for it in &level.entries {
        let answer = answer(it.value);
        match (answer, &mut open) {
            (Some((_, parts, _)), Some((last, _))) => {
                *last += ",";
                *last += STEP;
                *last += ",";
                *last += parts;
            }
            (Some((before, parts, after)), None) => {
                let first = match steps {
                    Steps::Each => format!("{before}{STEP},{parts}"),
                    Steps::Between => format!("{before}{parts}"),
                };
                open = Some((first, after));
            }
            (None, _) => {
                res.extend(open.take().map(|(it, after)| it + after));
                res.push(it.value.to_owned());
            }
        }
    }
    res.extend(open.map(|(it, after)| it + after));
    format!("[{}]", res.join(","))
}

/// The parts of an answer that has some, and what is before and after them.
fn answer(element: &str) -> Option<(&str, &str, &str)> {
    let level = Level::of(element).filter(|_| element.starts_with('{'))?;
    let member = |name: &str| {
        let is_it = |it: &&Entry<'_>| it.key.as_ref().is_some_and(|it| it.text == name);
        level.entries.iter().find(is_it).map(|it| it.value)
    };
    let parts = member("parts").filter(|it| it.starts_with('[') && it.len() > 2)?;
    if member("role") != Some("\"assistant\"") {
        return None;
    }
    let start = parts.as_ptr() as usize - element.as_ptr() as usize;
    let end = start + parts.len();
    Some((&element[..start + 1], &element[start + 1..end - 1], &element[end - 1..]))
}
