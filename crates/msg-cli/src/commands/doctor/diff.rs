//! A mend as a unified diff of lines (SE-145). A line of a session may be megabytes long, so that each is cut to the part
//! that changes.
//!
//! ```text
//! @@ -3 +3 @@
//! -…"tool_use_id":"a"},{"type":"text","text":""}]}}
//! +…"tool_use_id":"a"}]}}
//! ```

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use msg_session::Blob;

use crate::redact;
use crate::render::safe;

/// How much of a line is shown around a change, and how much of the change at each end.
const AROUND: usize = 40;
const MOST: usize = 200;

/// What becomes of the files of a session, without secrets if that is wanted.
pub(super) fn between(name: &str, old: &[Blob], new: &[Blob], redact: bool) -> String {
    let known: HashMap<&str, &Blob> = new.iter().map(|it| (&*it.name, it)).collect();
    let had: HashMap<&str, &Blob> = old.iter().map(|it| (&*it.name, it)).collect();
    let come = new.iter().filter(|it| !had.contains_key(&*it.name));
    let pairs = old.iter().map(|it| (Some(it), known.get(&*it.name).copied()));
    let mut res = String::new();
    for (old, new) in pairs.chain(come.map(|it| (None, Some(it)))) {
        let bytes = |it: Option<&Blob>| it.map(|it| it.bytes.clone()).unwrap_or_default();
        let (from, to) = (bytes(old), bytes(new));
        if from == to {
            continue;
        }
        let file = old.or(new).map_or("", |it| &it.name);
        let path = if had.len() > 1 { format!("{name}: {file}") } else { name.to_owned() };
        let title = |it: Option<&Blob>| it.map_or("/dev/null".to_owned(), |_| safe(&path));
        let _ = writeln!(res, "--- {}\n+++ {}", title(old), title(new));
        lines(&from, &to, redact, &mut res);
    }
    res
}

fn lines(old: &[u8], new: &[u8], redact: bool, res: &mut String) {
    let split = |it: &[u8]| -> Vec<String> {
        // Invisible characters change nothing in what is seen.
        let lines = it.split_inclusive(|it| *it == b'\n');
        lines.map(|it| String::from_utf8_lossy(it).into_owned()).collect()
    };
    let (old, new) = (split(old), split(new));
    for (from, to) in hunks(&old, &new) {
        let _ = writeln!(res, "@@ -{} +{} @@", numbers(&from), numbers(&to));
        let clean = |it: &String| -> String {
            let is_json = it.starts_with(['{', '[']);
            let printed = redact::printed(it.clone().into_bytes(), redact, is_json);
            String::from_utf8_lossy(&printed).into_owned()
        };
        let go: Vec<_> = old[from].iter().map(clean).collect();
        let come: Vec<_> = new[to].iter().map(clean).collect();
        let are_pairs = go.len() == come.len();
        let cut = |lines: &[String], others: &[String], sign: char, res: &mut String| {
            for (at, line) in lines.iter().enumerate() {
                let (text, end) = match line.strip_suffix('\n') {
                    Some(text) => (text, ""),
                    None => (line.as_str(), "\\ No newline at end of file\n"),
                };
                let other = others.get(at).filter(|_| are_pairs);
                let part = other.map(|it| changed(text, it.trim_end_matches('\n')));
                let _ = write!(res, "{sign}{}\n{end}", safe(&shown(text, part)));
            }
        };
        cut(&go, &come, '-', res);
        cut(&come, &go, '+', res);
    }
}

/// The lines of a hunk: the first and how many; where there are none, the one before.
fn numbers(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        n => format!("{},{n}", lines.start + 1),
    }
}

/// The part of a line that the other one has not.
fn changed(line: &str, other: &str) -> Range<usize> {
    let (a, b) = (line.as_bytes(), other.as_bytes());
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let rest = a[head..].iter().rev().zip(b[head..].iter().rev());
    let tail = rest.take_while(|(a, b)| a == b).count();
    head..a.len() - tail
}

/// A line, cut to this part of it, or to its beginning.
fn shown(line: &str, part: Option<Range<usize>>) -> String {
    let part = part.unwrap_or(0..MOST.min(line.len()));
    let start = floor(line, part.start.saturating_sub(AROUND));
    let end = floor(line, part.end.saturating_add(AROUND));
    let left = |cut: bool| if cut { "…" } else { "" };
    let text = match end - start > 2 * (MOST + AROUND) {
        true => {
            let (head, tail) = (floor(line, start + MOST), floor(line, end - MOST));
            format!("{}…{}", &line[start..head], &line[tail..end])
        }
        false => line[start..end].to_owned(),
    };
    format!("{}{text}{}", left(start > 0), left(end < line.len()))
}

/// The beginning of the character at this byte.
fn floor(line: &str, at: usize) -> usize {
    let at = at.min(line.len());
    (0..=at).rev().find(|it| line.is_char_boundary(*it)).unwrap_or(0)
}

/// The lines that go, with those that come in their place: the lines between lines that are the only ones of their
/// text in both. A line that moved goes and comes.
fn hunks(old: &[String], new: &[String]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut res = Vec::new();
    let (mut a, mut b) = (0, 0);
    let mut anchors = anchors(old, new);
    anchors.push((old.len(), new.len()));
    for (to_a, to_b) in anchors {
        let head = old[a..to_a].iter().zip(&new[b..to_b]).take_while(|(a, b)| a == b).count();
        let (from, to) = (&old[a + head..to_a], &new[b + head..to_b]);
        let tail = from.iter().rev().zip(to.iter().rev()).take_while(|(a, b)| a == b).count();
        let hunk = (a + head..to_a - tail, b + head..to_b - tail);
        if !hunk.0.is_empty() || !hunk.1.is_empty() {
            res.push(hunk);
        }
        (a, b) = (to_a, to_b);
    }
    res
}

/// Pairs of equal lines that are the only ones of their text, the most that are in the same order in both.
fn anchors(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    fn single(lines: &[String]) -> HashMap<&str, Option<usize>> {
        let mut res: HashMap<&str, Option<usize>> = HashMap::new();
        for (at, it) in lines.iter().enumerate() {
            res.entry(it).and_modify(|it| *it = None).or_insert(Some(at));
        }
        res
    }
    let (had, has) = (single(old), single(new));
    let pair = |it: &String| Some(((*had.get(&**it)?)?, (*has.get(&**it)?)?));
    let pairs: Vec<_> = old.iter().filter_map(pair).collect();
    // The last pair of the best chain of each length, and which pair each one follows.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (at, pair) in pairs.iter().enumerate() {
        let len = ends.partition_point(|it| pairs[*it].1 < pair.1);
        before.push(len.checked_sub(1).map(|it| ends[it]));
        match ends.get_mut(len) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut res = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        res.push(pairs[at]);
        next = before[at];
    }
    res.reverse();
    res
}
