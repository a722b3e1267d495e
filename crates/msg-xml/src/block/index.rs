//! What stands between a value that ran into a stop and that stop: the values that begin there run into the same one,
//! so that k unclosed values cost one pass over the block and not k (XT-21 to XT-23). Holds no text and decides
//! nothing about values with CDATA sections: how those end depends on the value.

use std::collections::{BTreeSet, HashMap};

use super::Cx;
use super::text::tail;
use crate::lex::{self, Tag};
use crate::look::{Parent, Strength};
use crate::value::Section;
use crate::window::Wait;

/// A tag before the stop.
#[derive(Debug)]
struct Seen {
    at: usize,
    end: usize,
    open: bool,
    /// A close tag that is structural (XT-22).
    structural: bool,
    /// It opens or closes values of its name; the close tag of a sample call's arguments does not.
    counts: bool,
}

/// The tags before a stop.
#[derive(Debug, Default)]
pub(super) struct Index {
    stop: usize,
    /// From here on there is no section and no other stop.
    plain_from: usize,
    parent: Option<Parent>,
    tags: Vec<Seen>,
    /// From each place on, so many sample calls are open.
    balance: Vec<(usize, usize)>,
    names: HashMap<String, Vec<usize>>,
    last_close: HashMap<String, usize>,
    nesting: HashMap<String, Nesting>,
    named_params: Vec<usize>,
    unopened: Unopened,
}

/// What becomes of a value that begins before the stop.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It ends at this close tag.
    Closed(usize, usize),
    /// It runs into the stop: its last structural close tag and its last one.
    Unclosed { structural: Option<(usize, usize)>, own: Option<(usize, usize)> },
}

/// Where values of one name end.
#[derive(Debug)]
struct Nesting {
    /// Numbers of the tags of this name that count.
    tags: Vec<usize>,
    /// For a value that begins before a tag, the close tag that ends it.
    ends: Vec<Option<usize>>,
    last_structural: Option<usize>,
    last_close: Option<usize>,
}

/// Structural close tags by the last open tag of their name before them (XT-23, rule 4).
#[derive(Debug, Default)]
struct Unopened {
    /// One past that open tag's place, 0 for none, and the close tag; ascending.
    by_open: Vec<(usize, usize, usize)>,
    taken: usize,
    upto: usize,
    /// Those that no value from `upto` on opens.
    ready: BTreeSet<(usize, usize)>,
}

impl Index {
    /// Reads what stands from `from`, where no sample call is open, up to `stop`.
    pub(super) fn build(
        cx: &mut Cx<'_, '_>,
        from: usize,
        stop: usize,
        sections: &[Section],
        parent: &Parent,
    ) -> Result<Self, Wait> {
        let mut index = Index {
            stop,
            plain_from: sections.last().map_or(from, |s| s.end),
            parent: Some(parent.clone()),
            ..Index::default()
        };
        let mut opened: HashMap<String, usize> = HashMap::new();
        let mut open_calls = 0;
        let mut sections = sections.iter().peekable();
        let mut at = from;
        while let Some(p) = cx.w.find(b'<', at).filter(|&p| p < stop) {
            while sections.next_if(|s| s.end <= p).is_some() {}
            if let Some(section) = sections.peek().filter(|s| s.start <= p) {
                at = section.end;
                continue;
            }
            at = p + 1;
            match lex::tag(cx.w, p)? {
                Tag::Close(c) => {
                    at = c.end;
                    let counts = tail(cx.w, c.name, c.end)?.is_none();
                    if !counts && open_calls == 0 {
                        // A stop of its own for what begins before it: the first value, a `tool`, took a call's end.
                        index.plain_from = index.plain_from.max(c.end);
                    }
                    if c.is_tool() && open_calls > 0 {
                        open_calls -= 1;
                        index.balance.push((c.end, open_calls));
                    }
                    let name = c.name.to_ascii_lowercase();
                    let structural =
                        cx.look.structural(cx.w, c.end, &name, parent)? != Strength::No;
                    if structural && c.end <= stop {
                        let opener = opened.get(&name).copied().unwrap_or_default();
                        index.unopened.by_open.push((opener, p, c.end));
                    }
                    index.last_close.insert(name.clone(), p);
                    index.see(name, Seen { at: p, end: c.end, open: false, structural, counts });
                }
                Tag::Open(t) => {
                    at = t.end;
                    let name = t.name.to_ascii_lowercase();
                    let call = t.is_tool() && cx.look.opener(cx.w, p)?.is_some();
                    if call {
                        open_calls += 1;
                        index.balance.push((t.end, open_calls));
                    } else if t.named_param() {
                        index.named_params.push(p);
                    }
                    opened.insert(name.clone(), p + 1);
                    if !t.self_closing {
                        let seen = Seen {
                            at: p,
                            end: t.end,
                            open: true,
                            structural: false,
                            counts: !call,
                        };
                        index.see(name, seen);
                    }
                }
                Tag::None if lex::marker(cx.w, p)? => index.plain_from = index.plain_from.max(at),
                Tag::None | Tag::Cut => {}
            }
        }
        index.unopened.by_open.sort_unstable();
        Ok(index)
    }

    fn see(&mut self, name: String, seen: Seen) {
        self.names.entry(name).or_default().push(self.tags.len());
        self.tags.push(seen);
    }

    pub(super) fn stop(&self) -> usize {
        self.stop
    }

    /// Whether a value that begins at `from`, or has come there with nothing open in it, runs into the stop if
    /// nothing ends it.
    pub(super) fn covers(&self, from: usize, parent: &Parent) -> bool {
        self.parent.as_ref() == Some(parent) && self.reaches_stop(from)
    }

    /// The same for a value of any parent that nothing ends.
    pub(super) fn reaches_stop(&self, from: usize) -> bool {
        self.plain_from <= from
            && from < self.stop
            && self.open_calls(from) == 0
            && !self.inside_a_tag(from)
    }

    fn open_calls(&self, pos: usize) -> usize {
        let n = self.balance.partition_point(|&(from, _)| from <= pos);
        n.checked_sub(1).map_or(0, |i| self.balance[i].1)
    }

    fn inside_a_tag(&self, pos: usize) -> bool {
        let n = self.tags.partition_point(|tag| tag.at < pos);
        n.checked_sub(1).is_some_and(|i| self.tags[i].end > pos)
    }

    /// What becomes of a value of this name that has come to `from`, which the index covers.
    pub(super) fn fate(&mut self, own: &str, from: usize) -> Fate {
        let unclosed = Fate::Unclosed { structural: None, own: None };
        let Some(all) = self.names.get(own) else { return unclosed };
        if !self.nesting.contains_key(own) {
            let nesting = Nesting::new(all, &self.tags);
            self.nesting.insert(own.to_owned(), nesting);
        }
        let Some(nesting) = self.nesting.get(own) else { return unclosed };
        let i = nesting.tags.partition_point(|&n| self.tags[n].at < from);
        if let Some(end) = nesting.ends[i] {
            return Fate::Closed(self.tags[end].at, self.tags[end].end);
        }
        let behind = |last: Option<usize>| {
            last.map(|n| &self.tags[n]).filter(|tag| tag.at >= from).map(|tag| (tag.at, tag.end))
        };
        Fate::Unclosed {
            structural: behind(nesting.last_structural),
            own: behind(nesting.last_close),
        }
    }

    /// The first PARAM open tag with a name from `from` on.
    pub(super) fn named_param(&self, from: usize) -> Option<usize> {
        self.named_params.get(self.named_params.partition_point(|&p| p < from)).copied()
    }

    /// Whether a close tag of this name comes from `from` on.
    pub(super) fn closes(&self, name: &str, from: usize) -> bool {
        self.last_close.get(name).is_some_and(|&last| last >= from)
    }

    /// The first structural close tag from `from` on whose name nothing from there on opens before it.
    pub(super) fn unopened(&mut self, from: usize) -> Option<(usize, usize)> {
        let it = &mut self.unopened;
        if from < it.upto {
            (it.taken, it.ready) = (0, BTreeSet::new());
        }
        it.upto = from;
        while let Some(&(_, at, end)) = it.by_open.get(it.taken).filter(|t| t.0 <= from) {
            it.ready.insert((at, end));
            it.taken += 1;
        }
        it.ready.range((from, 0)..).next().copied()
    }
}

impl Nesting {
    fn new(all: &[usize], seen: &[Seen]) -> Self {
        let tags: Vec<usize> = all.iter().copied().filter(|&n| seen[n].counts).collect();
        // The close tag that takes the nesting below that before a tag, whatever follows it.
        let mut lower: Vec<Option<usize>> = vec![None; tags.len() + 1];
        let mut ends: Vec<Option<usize>> = vec![None; tags.len() + 1];
        for (i, &n) in tags.iter().enumerate().rev() {
            if seen[n].open {
                let own = lower[i + 1];
                lower[i] = own.and_then(|j| lower[j + 1]);
                ends[i] = own.and_then(|j| ends[j + 1]);
            } else {
                lower[i] = Some(i);
                ends[i] = if seen[n].structural { Some(n) } else { ends[i + 1] };
            }
        }
        let last = |fits: fn(&Seen) -> bool| {
            tags.iter().copied().rfind(|&n| !seen[n].open && fits(&seen[n]))
        };
        let (last_structural, last_close) = (last(|tag| tag.structural), last(|_| true));
        Nesting { tags, ends, last_structural, last_close }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use crate::{Options, parse};

    thread_local! {
        static LOOKED: Cell<usize> = const { Cell::new(0) };
    }

    /// A `<` in a text was looked at.
    pub(in crate::block) fn count() {
        LOOKED.with(|n| n.set(n.get() + 1));
    }

    fn looked(unit: &str, tail: &str, k: usize) -> usize {
        let text = format!(
            "<tool><tool_name>t</tool_name><arguments>{}{tail}</arguments></tool>",
            unit.repeat(k)
        );
        LOOKED.with(|n| n.set(0));
        let parsed = parse(text.as_bytes(), None, &Options::default());
        assert_eq!(parsed.calls().count(), 1, "{unit:?}");
        LOOKED.with(Cell::get)
    }

    #[test]
    fn values_before_one_stop_are_read_once() {
        let sample = "<tool><tool_name>q</tool_name><arguments><z>1</z></arguments></tool>";
        let units = [
            "<a>x".to_owned(),
            "<a>1<b>2</b>".to_owned(),
            format!("<a>see {sample}"),
            format!("<a>see {sample}<b>2</b>"),
            "<a>1</b>".to_owned(),
            "<p name=\"k\">1</q>".to_owned(),
            "<param name=\"k\">1".to_owned(),
            "<a><b>1".to_owned(),
        ];
        for unit in &units {
            let (few, many) = (looked(unit, "", 20), looked(unit, "", 200));
            assert!(many <= 11 * few + 50, "{unit:?}: {few} and {many}");
        }
    }
}
