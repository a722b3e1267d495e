//! The walk over what was written and what it comes from, side by side.

use super::align::{self, Known, Source, Sources};
use super::level::{Level, is_container};
use super::same::same;
use super::style::Style;

/// Deeper than this what was edited is laid out anew, so that the walk stays linear.
const MAX_DEPTH: usize = 64;

/// A document on its way into the layout of its source.
pub(super) struct Merge<'s> {
    style: Style<'s>,
    out: Vec<u8>,
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// How far its line is indented; nothing where new values stay on the line.
    indent: Option<&'a str>,
    depth: usize,
}

impl<'s> Merge<'s> {
    pub(super) fn new(style: Style<'s>, size: usize) -> Self {
        Merge { style, out: Vec::with_capacity(size) }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    /// Writes the document `new`, which comes from `old`.
    pub(super) fn document(&mut self, old: &str, new: &str) {
        self.value(Some(old), new, Place { indent: Some(""), depth: 0 });
    }

    fn value(&mut self, old: Option<&str>, new: &str, place: Place<'_>) {
        match old {
            Some(old) if same(old, new) => self.push(old),
            Some(old) if old.as_bytes().first() == new.as_bytes().first() => {
                match Level::of(old).zip(Level::of(new)) {
                    Some((from, to)) if place.depth < MAX_DEPTH && !from.entries.is_empty() => {
                        self.level(&from, &to, new, place.depth);
                    }
                    _ => self.style.write(new, place.indent, &mut self.out),
                }
            }
            _ => self.style.write(new, place.indent, &mut self.out),
        }
    }

    fn level(&mut self, from: &Level<'_>, to: &Level<'_>, new: &str, depth: usize) {
        let (open, close) = (&new[..1], &new[new.len() - 1..]);
        let sources = match open {
            "{" => align::members(&from.entries, &to.entries),
            _ => align::elements(&from.entries, &to.entries),
        };
        self.entries((from, to), &sources, (open, close), depth);
    }

    /// Writes a list whose elements come from these.
    pub(super) fn list(&mut self, from: &Level<'_>, to: &Level<'_>, sources: &Sources) {
        self.entries((from, to), sources, ("[", "]"), 0);
    }

    fn entries(
        &mut self,
        (from, to): (&Level<'_>, &Level<'_>),
        sources: &Sources,
        (open, close): (&str, &str),
        depth: usize,
    ) {
        self.push(open);
        for (at, source) in sources.iter().enumerate() {
            self.entry((from, to), at, *source, depth);
            if at + 1 < sources.len() {
                self.push(source.map_or("", |it| from.entries[it.at].tail));
                self.push(",");
            }
        }
        self.push(if to.entries.is_empty() { "" } else { from.close });
        self.push(close);
    }

    fn entry(
        &mut self,
        (from, to): (&Level<'_>, &Level<'_>),
        at: usize,
        source: Option<Source>,
        depth: usize,
    ) {
        let (new, old) = (&to.entries[at], source.map(|it| &from.entries[it.at]));
        // The first entry often has another lead than those behind a comma.
        let own_lead = old.filter(|_| source.is_some_and(|it| (it.at == 0) == (at == 0)));
        let lead = own_lead.map(|it| it.lead).or_else(|| from.lead(at == 0));
        self.push(lead.unwrap_or(if at == 0 { "" } else { self.style.gap }));
        if let Some(key) = &new.key {
            let known = old.and_then(|it| it.key.as_ref());
            self.push(known.map_or(key.source, |it| it.source));
            self.push(known.map_or(self.style.colon, |it| it.colon));
        }
        match (old, source.map(|it| it.known)) {
            (Some(old), Some(Known::Same)) => return self.push(old.value),
            (_, Some(Known::LaidOut)) => return self.push(new.value),
            _ => {}
        }
        // A new list among lists of one line each is one line too.
        let stays_on_line = old.is_none() && is_container(new.value) && from.is_of_lines();
        let indent = from.indent().filter(|_| !stays_on_line);
        self.value(old.map(|it| it.value), new.value, Place { indent, depth: depth + 1 });
    }
}
