//! The walk over what was written and what it comes from, side by side.

use std::borrow::Cow;
use std::ops::Range;

use msg_json::Writer;

use super::align;
use super::align::{Known, Source, Sources};
use super::level::{Level, is_container};
use super::same::same;
use super::style::Style;
use crate::layout::level::Entry;

/// Deeper than this what was edited is laid out anew, so that the walk stays linear.
const MAX_DEPTH: usize = 64;

/// A document on its way into the layout of its source.
pub(super) struct Merge<'s> {
    style: Style<'s>,
    out: Vec<u8>,
}

/// Where a value is.
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
        // The first entry often has another lead than those after a comma.
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

// Mended messages in the list that they were read from: all that was not mended stays in the source text and is
// copied, so that nothing is written, compared or searched but what an edit names.
//
// ```text
// {"model":"m","messages":[A, B, C]}        Kept 0 · Changed 1, /tool_call_id · New D · Kept 2
// ─▶  {"model":"m","messages":[A, B', D, C]}
// ```

/// A list of messages in its document.
pub(crate) struct MessageList<'s> {
    source: &'s str,
    /// The document without what is around it.
    value: &'s str,
    list: &'s str,
    level: Level<'s>,
}

/// An element of a list that was mended.
pub(crate) enum Piece<'s> {
    /// The element of this index, as it was.
    Kept(usize),
    /// The element of this index, with other texts in it.
    Changed(usize, String),
    /// Another one, as JSON.
    New(Cow<'s, str>),
}

impl<'s> MessageList<'s> {
    /// The list that is at a place of a JSON document, blanks after it allowed. Linear in the list.
    pub(crate) fn at(source: &'s str, place: Range<usize>) -> Option<Self> {
        let value = source.trim_start_matches('\u{feff}').trim_ascii();
        let list = source.get(place)?.trim_ascii();
        let level = Level::of(list).filter(|_| list.starts_with('['))?;
        Some(Self { source, value, list, level })
    }

    /// Whether it is the document, not a member of it.
    pub(crate) fn is_document(&self) -> bool {
        self.value.starts_with('[')
    }

    /// How many elements it has.
    pub(crate) fn len(&self) -> usize {
        self.level.entries.len()
    }

    /// The JSON of an element.
    pub(crate) fn element(&self, at: usize) -> Option<&'s str> {
        self.level.entries.get(at).map(|it| it.value)
    }

    /// An element with other texts at some places, each named by its JSON Pointer; nothing where one of them has no text
    /// now. Linear in the element for each place.
    pub(crate) fn changed(&self, at: usize, texts: &[(String, String)]) -> Option<String> {
        let element = self.element(at)?;
        let offset = |value: &str| value.as_ptr() as usize - element.as_ptr() as usize;
        let place = |it: &'_ (String, String)| {
            let value = value_at(element, &it.0).filter(|it| it.starts_with('"'))?;
            Some((offset(value), value.len()))
        };
        let mut places: Vec<_> =
            texts.iter().map(|it| Some((place(it)?, &*it.1))).collect::<Option<_>>()?;
        places.sort_unstable();
        let (mut out, mut end) = (Vec::with_capacity(element.len() + 64), 0);
        for ((start, len), text) in places {
            out.extend_from_slice(element.get(end..start)?.as_bytes());
            Writer::new(&mut out).str(text);
            end = start + len;
        }
        out.extend_from_slice(element.get(end..)?.as_bytes());
        String::from_utf8(out).ok()
    }

    /// The document with these elements in the place of those that it has. Linear.
    pub(crate) fn spliced(&self, pieces: &[Piece<'_>]) -> Vec<u8> {
        let values = pieces.iter().map(|it| match it {
            Piece::Kept(at) => self.element(*at).unwrap_or_default(),
            Piece::Changed(_, text) => text,
            Piece::New(text) => text,
        });
        let new = Level::of_values(values);
        let mut sources: Vec<_> = pieces
            .iter()
            .map(|it| match it {
                Piece::Kept(at) => Some(Source { at: *at, known: Known::Same }),
                Piece::Changed(at, _) => Some(Source { at: *at, known: Known::LaidOut }),
                Piece::New(_) => None,
            })
            .collect();
        align::fill_gaps(&self.level.entries, &new.entries, &mut sources);
        let start = self.list.as_ptr() as usize - self.source.as_ptr() as usize;
        let mut merge =
            Merge::new(Style::of(self.value), self.source.len() + self.source.len() / 8);
        merge.push(&self.source[..start]);
        merge.list(&self.level, &new, &sources);
        merge.push(&self.source[start + self.list.len()..]);
        merge.finish()
    }
}

/// The value at a JSON Pointer.
fn value_at<'t>(value: &'t str, pointer: &str) -> Option<&'t str> {
    pointer.split('/').skip(1).try_fold(value, |value, step| {
        let entries = Level::of(value)?.entries;
        match value.starts_with('[') {
            true => entries.get(step.parse::<usize>().ok()?).map(|it| it.value),
            false => {
                let is_it = |it: &Entry<'_>| it.key.as_ref().is_some_and(|it| it.text == step);
                entries.into_iter().rfind(is_it).map(|it| it.value)
            }
        }
    })
}
