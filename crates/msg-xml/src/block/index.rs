//! What stands in a stretch of the text that a value was read through in vain: between its beginning and the stop that
//! it ran into, or up to where its element turned out to be no object. Whatever begins in that stretch meets the same
//! tags, so that k unclosed values cost one pass and not k, in one block or in many (XT-20 to XT-23). It is for values
//! whose CDATA sections end at their terminators; others, and what lies behind, have to be read.

mod pass;

pub(crate) use pass::Pass;

use std::collections::{HashMap, HashSet};

use super::cdata;
use super::closers::Closers;
use crate::lex::{self, ARGS, Tag};
use crate::look::Parent;
use crate::value::{self, Section};
use crate::window::Win;

/// A name in lower case, by number.
type Name = usize;

/// A close tag that is structural for every parent (XT-22), or for one that this name closes.
type Class = Option<Name>;

/// What stands at the end of the stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Edge {
    /// A tail: the stop of what begins there outside sample calls.
    Tail,
    /// The bare end of the block: the stop of all that begins there.
    BareEnd,
    /// The end of input.
    Input,
    /// Nothing is known of what follows.
    #[default]
    Open,
}

/// A stretch of text.
#[derive(Debug, Default)]
pub(crate) struct Index {
    from: usize,
    to: usize,
    edge: Edge,
    /// All tags.
    tags: Vec<(usize, usize)>,
    sections: Vec<Section>,
    /// Names whose values may end the sections elsewhere.
    special: HashSet<Name>,
    /// Behind the last section, names of that kind have been looked for up to here, or for good.
    behind: Option<usize>,
    names: HashMap<String, Name>,
    /// By name: all close tags, and those that count for its values.
    closes: HashMap<Name, Vec<usize>>,
    own: HashMap<Name, Vec<(usize, usize)>>,
    named_params: Vec<usize>,
    /// Structural close tags by the open tag that they match.
    ends: HashMap<(Name, Class), Closers>,
    /// The same by the last open tag of their name (XT-23, rule 4).
    unopened: HashMap<Class, Closers>,
    /// Sample calls as most values count them, and as values that are named `tool` do.
    calls: [Calls; 2],
}

/// Tags by the sample calls in which they stand.
#[derive(Debug, Default)]
struct Calls {
    stops: Closers,
    /// What begins from here on stands outside of them at the end of the stretch.
    outside: usize,
    /// Structural close tags.
    closes: HashMap<(Name, Class), Closers>,
}

/// What becomes of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It ends at this close tag.
    Closed(usize, usize),
    /// It runs into the stop: its last structural close tag and its last one.
    Stopped { stop: usize, structural: Option<(usize, usize)>, own: Option<(usize, usize)> },
    /// As part of an object it is none.
    NoFit,
}

/// An element whose value is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) own: &'a str,
    pub(super) parent: &'a Parent,
    /// The outermost parameter, if the value is part of an object.
    pub(super) outer: Option<(&'a str, &'a Parent)>,
}

impl Index {
    /// One past its last byte.
    pub(super) fn to(&self) -> usize {
        self.to
    }

    /// Whether all that stands between `from` and `to` lies in it.
    pub(super) fn spans(&self, from: usize, to: usize) -> bool {
        self.from <= from && from < self.to && to <= self.to
    }

    /// Whether it knows what a value of this name meets that begins at `from`, or has come there with nothing open.
    pub(super) fn covers(&mut self, w: &Win<'_>, own: &str, from: usize) -> bool {
        if from < self.from || from >= self.to || inside(&self.tags, from) {
            return false;
        }
        let Some(last) = self.sections.last().filter(|s| s.end > from) else { return true };
        // A section that the stretch cuts has no terminator.
        let (last_end, cut) = (last.end, last.to == last.end);
        value::section_at(&self.sections, from).is_none_or(|s| s.start == from)
            && !cut
            && self.has_looked_behind(w, last_end)
            && self.names.get(own).is_none_or(|name| !self.special.contains(name))
    }

    /// Looks on for close tags behind terminators, which decide where the last section ends, up to the next marker.
    fn has_looked_behind(&mut self, w: &Win<'_>, last_end: usize) -> bool {
        let Some(mut at) = self.behind else { return true };
        loop {
            let Some(p) = w.find(b'<', at) else {
                self.behind = (!w.eof).then_some(w.end());
                return w.eof;
            };
            self.behind = Some(p);
            match (lex::marker(w, p), lex::tag(w, p)) {
                (Ok(true), _) => {
                    self.behind = None;
                    return true;
                }
                (Ok(false), Ok(Tag::Close(c))) if cdata::after_terminator(w, p, last_end) => {
                    let name = self.name(c.name);
                    self.special.insert(name);
                }
                (Ok(false), Ok(_)) => {}
                (Err(_), _) | (_, Err(_)) => return false,
            }
            at = p + 1;
        }
    }

    /// What becomes of a value that begins at `from`, which the index covers.
    pub(super) fn fate(&self, asked: Asked<'_>, from: usize) -> Option<Fate> {
        let Asked { own, parent, outer } = asked;
        let calls = &self.calls[usize::from(own == "tool")];
        let edge = match self.edge {
            Edge::Tail | Edge::BareEnd if calls.outside > from => Edge::Open,
            edge => edge,
        };
        let at_edge = matches!(edge, Edge::Tail | Edge::BareEnd).then_some(self.to);
        let stop = calls.stops.first(from).map(|(at, _)| at).or(at_edge);
        let name = self.names.get(own).copied();
        let first = |among: &HashMap<(Name, Class), Closers>, name, parent| {
            self.classes(parent).filter_map(|c| among.get(&(name, c))?.first(from)).min()
        };
        let end = name.and_then(|name| first(&self.ends, name, parent));
        let barrier = outer
            .filter(|(outer, _)| *outer != own)
            .and_then(|(name, parent)| first(&calls.closes, *self.names.get(name)?, parent));
        let bound = stop.into_iter().chain(barrier.map(|(at, _)| at)).min();
        match (end, bound) {
            (Some((at, end)), bound) if bound.is_none_or(|b| at < b) => Some(Fate::Closed(at, end)),
            (_, None) if edge == Edge::Open || outer.is_none() => None,
            _ if outer.is_some() => Some(Fate::NoFit),
            _ => {
                let stop = stop?;
                let last = |class| self.ends.get(&(name?, class))?.last(from, stop);
                let structural = self.classes(parent).filter_map(last).max();
                let own = name.and_then(|name| before(self.own.get(&name)?, from, stop));
                Some(Fate::Stopped { stop, structural, own })
            }
        }
    }

    /// The classes of tags that are structural for this parent.
    fn classes<'a>(&'a self, parent: &'a Parent) -> impl Iterator<Item = Class> + use<'a> {
        let (words, name): (&[&str], &str) = match parent {
            Parent::Args => (&ARGS, ""),
            Parent::Tool => (&[], "tool"),
            Parent::Name(name) => (&[], name),
        };
        let known = words.iter().copied().chain([name]).filter_map(|word| self.names.get(word));
        known.map(|name| Some(*name)).chain([None])
    }

    /// The sections in a range.
    pub(super) fn sections(&self, from: usize, to: usize) -> &[Section] {
        let at = |pos| self.sections.partition_point(|s| s.end <= pos);
        let (first, last) = (at(from), at(to));
        self.sections.get(first..last).unwrap_or_default()
    }

    /// The first `<` outside sections from `from` on.
    pub(super) fn first_lt(&self, w: &Win<'_>, from: usize, stop: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let p = w.find(b'<', at).filter(|&p| p < stop)?;
            match value::section_at(&self.sections, p) {
                Some(s) => at = s.end,
                None => return Some(p),
            }
        }
    }

    /// The first PARAM open tag with a name from `from` on.
    pub(super) fn named_param(&self, from: usize) -> Option<usize> {
        self.named_params.get(self.named_params.partition_point(|&p| p < from)).copied()
    }

    /// Whether a close tag of this name stands in a range.
    pub(super) fn closes(&self, name: &str, from: usize, to: usize) -> bool {
        let closes = self.names.get(&name.to_ascii_lowercase()).and_then(|n| self.closes.get(n));
        closes.is_some_and(|it| it.get(it.partition_point(|&p| p < from)).is_some_and(|&p| p < to))
    }

    /// The first structural close tag in a range whose name nothing there opens before it.
    pub(super) fn unopened(
        &self,
        parent: &Parent,
        from: usize,
        to: usize,
    ) -> Option<(usize, usize)> {
        let first = |class| self.unopened.get(&class)?.first(from);
        self.classes(parent).filter_map(first).min().filter(|&(_, end)| end <= to)
    }

    fn name(&mut self, name: &str) -> Name {
        let new = self.names.len();
        *self.names.entry(name.to_ascii_lowercase()).or_insert(new)
    }
}

/// Whether `pos` lies in one of these ranges, behind its first byte.
fn inside(ranges: &[(usize, usize)], pos: usize) -> bool {
    let n = ranges.partition_point(|&(at, _)| at < pos);
    n.checked_sub(1).is_some_and(|i| ranges[i].1 > pos)
}

/// The last of these, which ascend, in a range.
fn before(tags: &[(usize, usize)], from: usize, to: usize) -> Option<(usize, usize)> {
    let n = tags.partition_point(|&(at, _)| at < to);
    n.checked_sub(1).map(|i| tags[i]).filter(|&(at, _)| at >= from)
}

#[cfg(test)]
mod tests {
    use crate::steps::grow_with_input;
    use crate::{Options, StreamParser, parse};

    fn read(text: &str) {
        parse(text.as_bytes(), None, &Options::default());
    }

    fn read_in_pieces(text: &str) {
        let mut parser = StreamParser::new(Options::default());
        for piece in text.as_bytes().chunks(7) {
            parser.feed(piece).for_each(drop);
        }
        parser.finish(None).for_each(drop);
    }

    const HEAD: &str = "<tool><tool_name>t</tool_name><arguments>";
    const TAIL: &str = "</arguments></tool>";

    fn check(make: impl Fn(usize) -> String) {
        grow_with_input(make, read);
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
            // Values named like the block, which count its close tags as their own.
            "<tool> 1<b>".to_owned(),
            "</b><tool> 1".to_owned(),
            "<a><tool> 1</tool>x".to_owned(),
        ];
        for unit in &units {
            check(|k| format!("{HEAD}{}{TAIL}", unit.repeat(k)));
            // In a row with a section behind all of them.
            check(|k| format!("{HEAD}{}<z>.<![CDATA[]]>{TAIL}", unit.repeat(k)));
        }
    }

    #[test]
    fn values_with_sections_are_read_once() {
        for unit in ["<a>x<![CDATA[y]]>", "<a><![CDATA[y]]>x<b>", "<a><![CDATA[<![CDATA[y]]>]]>"] {
            check(|k| format!("{HEAD}{}{TAIL}", unit.repeat(k)));
        }
        check(|k| {
            let values: String = (0..k).map(|n| format!("<a{n}>x<![CDATA[y]]>")).collect();
            format!("{HEAD}{values}{TAIL}")
        });
    }

    #[test]
    fn parts_of_objects_are_read_once() {
        for unit in ["<a><b>1</b>x", "<a><b>1</b><c>2</c>x", "<a><b><tool>{}</a>"] {
            check(|k| format!("{HEAD}{}{TAIL}", unit.repeat(k)));
            check(|k| format!("{HEAD}{}", unit.repeat(k)));
        }
        check(|k| {
            let values: String = (0..k).map(|n| format!("<a{n}><b>1</b>x")).collect();
            format!("{HEAD}{values}</b>{TAIL}")
        });
    }

    #[test]
    fn values_of_many_blocks_are_read_once() {
        let unit = format!("{HEAD}<a>1<b>2</b>");
        check(|k| unit.repeat(k) + &TAIL.repeat(k));
        check(|k| unit.repeat(k) + &"</tool>".repeat(k) + TAIL);
    }

    #[test]
    fn a_pass_that_waits_goes_on_where_it_stands() {
        for unit in ["gt;</a>", "</a>", "<b></a>"] {
            let make = |k| format!("{HEAD}<z>{}{}", unit.repeat(k), format!("<?{TAIL}").repeat(k));
            grow_with_input(make, read_in_pieces);
        }
    }
}
