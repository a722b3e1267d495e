//! The conversations of a data set: lines, or the elements of one array.

use std::borrow::Cow;

use crate::edit::{Edit, drop_elements};
use crate::finding::Finding;
use crate::frame::{clean, clean_all_lines, read_array};
use crate::json::{BLANKS, Object, Value};

/// The entries of a data set.
pub(super) struct Entries<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) findings: Vec<Finding>,
    entries: Vec<Entry>,
    blanks: Vec<Entry>,
    /// Whether they are the elements of an array.
    is_array: bool,
}

/// A line, or an element.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: usize,
    end: usize,
    /// Where the next line begins.
    behind: usize,
    line: u32,
}

impl<'a> Entries<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let mut findings = Vec::new();
        if is_array(bytes) {
            return Self::array(&clean(bytes, &mut findings), findings);
        }
        let text = clean_all_lines(bytes, &mut findings);
        let (blanks, entries) = lines(&text)
            .partition(|it: &Entry| text[it.start..it.end].trim_matches(BLANKS).is_empty());
        Self { text, findings, entries, blanks, is_array: false }
    }

    fn array(text: &str, mut findings: Vec<Finding>) -> Self {
        let array = read_array(text.as_bytes(), None);
        findings.extend(array.findings.iter().cloned());
        let entry = |at: usize| {
            let span = array.records[at].span();
            let line = array.place(at).line;
            Entry { start: span.start, end: span.end, behind: span.end, line }
        };
        let entries = (0..array.records.len()).map(entry).collect();
        let text = Cow::Owned(array.text.clone().into_owned());
        Self { text, findings, entries, blanks: Vec::new(), is_array: true }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        self.entries[at].line
    }

    pub(super) fn object(&self, at: usize) -> Option<Object<'_>> {
        let it = self.entries[at];
        Object::whole(&self.text[it.start..it.end], it.start)
    }

    /// The edits that drop entries, some of which stay.
    pub(super) fn drop(&self, dropped: impl Fn(usize) -> bool) -> Vec<Edit> {
        if !self.is_array {
            let gone = (0..self.len()).filter(|it| dropped(*it)).map(|it| self.entries[it]);
            return gone.map(|it| Edit::remove(it.start..it.behind)).collect();
        }
        let values = self.entries.iter();
        let values: Vec<_> =
            values.map(|it| Value { source: &self.text[it.start..it.end], at: it.start }).collect();
        drop_elements(&values, dropped)
    }

    /// Blank lines, each with the edit that removes it.
    pub(super) fn blank_lines(&self) -> impl Iterator<Item = (u32, Edit)> {
        self.blanks.iter().map(|it| (it.line, Edit::remove(it.start..it.behind)))
    }
}

/// Whether the text is one array: its first byte that says something is a bracket.
fn is_array(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_blank = |it: &u8| matches!(it, b' ' | b'\t' | b'\n' | b'\r' | 0);
    bytes.iter().find(|it| !is_blank(it)) == Some(&b'[')
}

fn lines(text: &str) -> impl Iterator<Item = Entry> {
    let mut at = 0;
    let mut line = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|it| !it.is_empty())?;
        let len = memchr::memchr(b'\n', rest.as_bytes());
        let (start, behind) = (at, len.map_or(text.len(), |it| at + it + 1));
        let end = len.map_or(text.len(), |it| at + it);
        (at, line) = (behind, line + 1);
        Some(Entry { start, end, behind, line })
    })
}
