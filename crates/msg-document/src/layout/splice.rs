//! Mended messages in the list that they were read from: all that was not mended stays in the source text and is
//! copied, so that nothing is written, compared or searched but what an edit names.
//!
//! ```text
//! {"model":"m","messages":[A, B, C]}        Kept 0 · Changed 1, /tool_call_id · New D · Kept 2
//!   ─▶  {"model":"m","messages":[A, B', D, C]}
//! ```

use std::borrow::Cow;
use std::ops::Range;

use msg_json::Writer;

use super::align::{self, Known, Source};
use super::level::{Entry, Level};
use super::merge::Merge;
use super::style::Style;

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
