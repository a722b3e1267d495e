//! The pass that fills an index: every tag of the stretch once, with what is open where it stands. It answers nothing.

use std::collections::HashMap;

use super::{Class, Edge, Index, Name};
use crate::block::{Cx, cdata, text::tail};
use crate::lex::{self, CloseTag, OpenTag, Tag};
use crate::look::{After, Strength};
use crate::value::{self, Section};
use crate::window::Wait;

impl Index {
    /// Reads what stands between `from`, where no sample call is open, and `to`; without `sections`, those of values
    /// that end them at their terminators are taken. A pass that had to wait goes on where it stands.
    pub(in crate::block) fn build(
        cx: &mut Cx<'_, '_>,
        from: usize,
        (to, edge): (usize, Edge),
        sections: Option<&[Section]>,
    ) -> Result<Self, Wait> {
        let plain = sections.is_none();
        let known = cx.look.pass.take().filter(|pass| pass.reads(from, (to, edge), plain));
        let mut pass = known.unwrap_or_else(|| Box::new(Pass::new(from, (to, edge), sections)));
        if let Err(wait) = pass.read(cx) {
            cx.look.pass = Some(pass);
            return Err(wait);
        }
        Ok(pass.finish())
    }

    /// Sorts the close tags by what they end.
    fn order(&mut self, seen: Vec<Seen>) {
        for it in seen.into_iter().rev() {
            let place = (it.at, it.end);
            if it.stop {
                for (calls, since) in self.calls.iter_mut().zip(it.calls) {
                    calls.stops.push(place, since);
                }
            }
            for class in it.classes.into_iter().flatten() {
                self.unopened.entry(class).or_default().push(place, it.opened);
                let Some(since) = it.own else { continue };
                self.ends.entry((it.name, class)).or_default().push(place, since);
                for (calls, since) in self.calls.iter_mut().zip(it.calls) {
                    calls.closes.entry((it.name, class)).or_default().push(place, since);
                }
            }
        }
    }
}

/// The innermost of what is open, 0 if nothing is.
fn last(open: &[usize]) -> usize {
    open.last().copied().unwrap_or_default()
}

/// A close tag.
#[derive(Debug)]
struct Seen {
    at: usize,
    end: usize,
    name: Name,
    /// For which parents it is structural.
    classes: [Option<Class>; 2],
    /// It ends values of its name that begin from here on; as part of a tail none.
    own: Option<usize>,
    /// Behind the last open tag of its name.
    opened: usize,
    /// It is the tail of a block.
    stop: bool,
    /// No sample call that is open begins from here on, by both ways to count.
    calls: [usize; 2],
}

/// What is open where the pass stands.
#[derive(Debug, Default)]
struct Open {
    /// By name, behind the beginning of each open tag that is not matched.
    own: HashMap<Name, Vec<usize>>,
    /// Behind the beginning of the last open tag.
    last: HashMap<Name, usize>,
    calls: [Vec<usize>; 2],
    /// The end of the last tail.
    tail: usize,
}

/// The pass over the stretch.
#[derive(Debug)]
pub(crate) struct Pass {
    index: Index,
    at: usize,
    /// It finds the sections too.
    plain: bool,
    open: Open,
    seen: Vec<Seen>,
    /// The end and the name of the close tag that followed another one last: names may be long.
    closer: Option<(usize, Name)>,
}

impl Pass {
    fn new(from: usize, (to, edge): (usize, Edge), sections: Option<&[Section]>) -> Self {
        let mut index = Index { from, to, edge, ..Index::default() };
        match sections {
            Some(sections) => index.sections = sections.to_vec(),
            None => index.behind = Some(to),
        }
        let (plain, open) = (sections.is_none(), Open::default());
        Pass { index, at: from, plain, open, seen: Vec::new(), closer: None }
    }

    /// Whether it is the one that reads this.
    fn reads(&self, from: usize, (to, edge): (usize, Edge), plain: bool) -> bool {
        let Index { from: own, to: end, edge: known, .. } = self.index;
        (own, end, known, self.plain) == (from, to, edge, plain)
    }

    /// Reads all of it.
    fn read(&mut self, cx: &mut Cx<'_, '_>) -> Result<(), Wait> {
        while let Some(p) = cx.w.find(b'<', self.at).filter(|&p| p < self.index.to) {
            #[cfg(test)]
            crate::steps::count();
            if !self.plain
                && let Some(section) = value::section_at(&self.index.sections, p)
            {
                self.at = section.end;
                continue;
            }
            self.at = match lex::tag(cx.w, p)? {
                Tag::Close(c) => self.close(cx, p, &c)?,
                Tag::Open(t) => self.open(cx, &t)?,
                Tag::None if self.plain && lex::marker(cx.w, p)? => self.section(cx, p)?,
                Tag::None | Tag::Cut => p + 1,
            };
        }
        Ok(())
    }

    fn finish(self) -> Index {
        let Pass { mut index, open, seen, .. } = self;
        for (all, open) in index.calls.iter_mut().zip(open.calls) {
            all.outside = if index.edge == Edge::Tail { last(&open) } else { 0 };
        }
        index.order(seen);
        index
    }

    fn open(&mut self, cx: &mut Cx<'_, '_>, t: &OpenTag<'_>) -> Result<usize, Wait> {
        let is_call = t.is_tool() && cx.look.opener(cx.w, t.start)?.is_some();
        self.index.tags.push((t.start, t.end));
        let name = self.index.name(t.name);
        if is_call {
            self.open.calls.iter_mut().for_each(|calls| calls.push(t.start + 1));
        } else if !t.self_closing {
            self.open.own.entry(name).or_default().push(t.start + 1);
        }
        if t.named_param() {
            self.index.named_params.push(t.start);
        }
        self.open.last.insert(name, t.start + 1);
        Ok(t.end)
    }

    fn close(&mut self, cx: &mut Cx<'_, '_>, p: usize, c: &CloseTag<'_>) -> Result<usize, Wait> {
        let name = self.index.name(c.name);
        let tail = tail(cx.w, c.name, c.end)?;
        let classes = self.classes(cx, c, name)?;
        if cdata::after_terminator(cx.w, p, self.index.sections.last().map_or(p, |s| s.end)) {
            self.index.special.insert(name);
        }
        let calls = self.open.calls.each_ref().map(|calls| last(calls));
        let in_tail = tail.is_some() || c.end == self.open.tail;
        let own = match in_tail {
            true => None,
            false => Some(self.open.own.get_mut(&name).and_then(Vec::pop).unwrap_or_default()),
        };
        if let Some(end) = tail {
            self.open.tail = end;
            for calls in &mut self.open.calls {
                calls.pop();
            }
        } else if c.is_tool() && !in_tail {
            self.open.calls[0].pop();
        }
        let opened = self.open.last.get(&name).copied().unwrap_or_default();
        self.index.tags.push((p, c.end));
        self.index.closes.entry(name).or_default().push(p);
        if own.is_some() {
            self.index.own.entry(name).or_default().push((p, c.end));
        }
        let stop = tail.is_some();
        self.seen.push(Seen { at: p, end: c.end, name, classes, own, opened, stop, calls });
        Ok(c.end)
    }

    /// For which parents a close tag is structural.
    fn classes(
        &mut self,
        cx: &mut Cx<'_, '_>,
        c: &CloseTag<'_>,
        name: Name,
    ) -> Result<[Option<Class>; 2], Wait> {
        let (end, after) = cx.look.after_row(cx.w, c.end, c.name)?;
        let class = match after {
            After::Known(Strength::No) => None,
            After::Known(_) => Some(None),
            After::Close(next) if next.is_tool() => Some(None),
            After::Close(next) => match self.closer {
                Some((at, name)) if at == next.end => Some(Some(name)),
                _ => {
                    let name = self.index.name(next.name);
                    self.closer = Some((next.end, name));
                    Some(Some(name))
                }
            },
        };
        Ok([class, (end > c.end).then_some(Some(name))])
    }

    /// The section at `p`, for values whose close tags do not end it.
    fn section(&mut self, cx: &mut Cx<'_, '_>, p: usize) -> Result<usize, Wait> {
        let mut special = Vec::new();
        let section = cdata::plain(cx, p, self.index.to, |name| special.push(name.to_owned()))?;
        for name in special {
            let name = self.index.name(&name);
            self.index.special.insert(name);
        }
        self.index.sections.push(section);
        Ok(section.end)
    }
}
