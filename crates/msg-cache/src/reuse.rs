//! A line of a log repeats most of the request before it. The messages that both have in common, byte for byte, are not
//! read again: their cells are taken from the outline of that request.
//!
//! ```text
//! before  {…"messages":[A,B,C,D,E]…}
//! line    {…"messages":[A,B,C,D,E,F,G]…}
//! read    {…"messages":[A,E,F,G]…}          B, C and D are those of the request before
//! ```
//!
//! Whatever is not exactly like this is read in full: the answers are the same, only later.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use serde_json::value::RawValue;

use crate::cell::{Cell, Unit};
use crate::family::Family;
use crate::prompt::Prompt;

/// Fewer messages are not worth leaving out.
const LEAST: usize = 4;

/// Where the messages of a line are.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Where the name of their list is.
    at: usize,
    messages: Vec<Range<usize>>,
}

/// A line without some messages.
pub(crate) struct Shortened {
    pub(crate) text: Vec<u8>,
    /// The messages that are left out.
    left_out: Range<usize>,
    /// Where the name of their list is, and how many bytes are left out.
    at: usize,
    n_bytes: usize,
}

/// The members of a body, or of its envelope.
type Members<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

impl Layout {
    /// Where the messages of a line are; none if they are not a list, or if its name is also elsewhere before it.
    pub(crate) fn of(line: &[u8], family: Family) -> Option<Layout> {
        let text = std::str::from_utf8(line).ok()?;
        let mut members: Members<'_> = serde_json::from_str(text).ok()?;
        if let Some(body) = ["request", "body", "params"].iter().find_map(|it| members.get(*it)) {
            members = serde_json::from_str(body.get()).ok()?;
        }
        let list = *members.get(family.list_name())?;
        let messages: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
        let offset = |it: &RawValue| it.get().as_ptr() as usize - text.as_ptr() as usize;
        let at = name_at(family, line)?;
        let between = line.get(at + family.list_name().len() + 2..offset(list))?;
        if !between.iter().all(|it| b": \t".contains(it)) {
            return None;
        }
        let messages = messages.iter().map(|it| offset(it)..offset(it) + it.get().len()).collect();
        Some(Layout { at, messages })
    }

    /// A line without the messages that it has in common with `before`, whose layout this is. The first after the system
    /// stays, so that the head is read as before, and the last two, so that marks and results find what is before them.
    pub(crate) fn shorten(
        &self,
        before: &[u8],
        line: &[u8],
        (at, n_same): (usize, usize),
        n_system: usize,
    ) -> Option<Shortened> {
        let n_common = self.messages.partition_point(|it| it.end - self.at <= n_same);
        let left_out = n_system + 1..n_common.checked_sub(2)?;
        let is_object = |it: &Range<usize>| before[it.end - 1] == b'}';
        if left_out.len() < LEAST || !self.messages[..n_common].iter().all(is_object) {
            return None;
        }
        let end = |it: usize| self.messages[it - 1].end - self.at + at;
        let (from, to) = (end(left_out.start), end(left_out.end));
        let text = [&line[..from], &line[to..]].concat();
        Some(Shortened { text, left_out, at, n_bytes: to - from })
    }

    /// Where the messages of the whole line are; none if another list was shortened than the one that was read.
    pub(crate) fn lengthen(&self, short: &Shortened, family: Family) -> Option<Layout> {
        let read = Layout::of(&short.text, family)?;
        let moved = |it: &Range<usize>| it.start - self.at + short.at..it.end - self.at + short.at;
        let (n_head, n_left_out) = (short.left_out.start, short.left_out.end);
        let head = self.messages[..n_head].iter().map(moved);
        if read.at != short.at || !head.eq(read.messages.iter().take(n_head).cloned()) {
            return None;
        }
        let mut messages: Vec<Range<usize>> =
            self.messages[..n_left_out].iter().map(moved).collect();
        let rest = read.messages[n_head..].iter();
        messages.extend(rest.map(|it| it.start + short.n_bytes..it.end + short.n_bytes));
        Some(Layout { at: read.at, messages })
    }
}

/// Where the list of a line begins, and how many bytes from there on are those of the line before; none if these are less
/// than half of it.
pub(crate) fn repeated(family: Family, before: &[u8], line: &[u8]) -> Option<(usize, usize)> {
    let (from, at) = (name_at(family, before)?, name_at(family, line)?);
    let n_same = common_beginning(&before[from..], &line[at..]);
    (n_same * 2 > before.len() - from).then_some((at, n_same))
}

fn name_at(family: Family, line: &[u8]) -> Option<usize> {
    memchr::memmem::find(line, format!("\"{}\"", family.list_name()).as_bytes())
}

fn common_beginning(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let n_same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[n_same..].iter().zip(&other[n_same..]);
    n_same + rest.take_while(|(one, other)| one == other).count()
}

impl Prompt<'_, '_> {
    /// Puts the messages that were left out between those that were read. None if something that was read depends on them.
    pub(crate) fn put_back(
        &mut self,
        before: &Prompt<'static, 'static>,
        short: &Shortened,
    ) -> Option<()> {
        let Range { start, end } = short.left_out.clone();
        // The citations of all messages make a setting.
        if self.family != before.family || before.settings.iter().any(|it| it.name == "citations") {
            return None;
        }
        let at = start.checked_sub(self.units.first()?.index)?;
        let n = end - start;
        let units = before.units.get(at..at + n)?;
        let (first, last) = (units.first()?, units.last()?);
        let rest = self.units.get(at)?;
        if first.index != start || last.index + 1 != end || rest.index != start {
            return None;
        }
        let (from, to) = (first.cells.0, rest.cells.0);
        let cells = &before.cells[from..last.cells.1];
        // A mark at the beginning of the rest would have been that of a message that was left out.
        let marks = |it: &[Cell<'_, '_>]| -> Vec<(usize, String)> {
            let marks = it.iter().flat_map(|it| it.marks.iter().map(|mark| (it.index, mark)));
            marks.map(|it| (it.0, it.1.to_string())).collect()
        };
        if marks(&self.cells[..to]) != marks(&before.cells[..from]) {
            return None;
        }
        for it in &mut self.units[at..] {
            it.index += n;
            it.cells = (it.cells.0 + cells.len(), it.cells.1 + cells.len());
        }
        self.cells[to..].iter_mut().for_each(|it| it.index += n);
        let moved = |it: &Unit<'static>| {
            let cells = (it.cells.0 - from + to, it.cells.1 - from + to);
            Unit { cells, ..it.clone() }
        };
        self.units.splice(at..at, units.iter().map(moved));
        self.has_images |= cells.iter().any(|it| it.is_image);
        self.cells.splice(to..to, cells.iter().cloned());
        self.repeats = true;
        Some(())
    }
}
