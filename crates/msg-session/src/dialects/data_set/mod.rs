//! Data sets of conversations, one a line (sharegpt also as one array): checked a line at a time, and never
//! given an invented result (SE-70).
//!
//! ```text
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]}       openai-jsonl
//! {"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello."}]}           sharegpt
//! ```

mod chat;
mod share_gpt;

use std::borrow::Cow;

use super::{Checked, Format};
use crate::Error;
use crate::blob::Blob;
use crate::edit::{Edit, drop_elements};
use crate::finding::{Finding, Place};
use crate::frame::{clean, clean_all_lines, read_array};
use crate::json::{BLANKS, Object, Value};
use crate::options::RepairOptions;
use crate::view::View;

/// Fine-tuning lines.
pub(crate) struct OpenAiJsonl;

/// ShareGPT conversations.
pub(crate) struct ShareGpt;

impl Format for OpenAiJsonl {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        view(super::only(blobs), options, chat::view)
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        Ok(check(super::only(blobs), options, chat::check))
    }
}

impl Format for ShareGpt {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        view(super::only(blobs), options, share_gpt::view)
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        Ok(check(super::only(blobs), options, share_gpt::check))
    }
}

/// The faults of a line: each code once.
#[derive(Default)]
pub(super) struct Faults(Vec<(&'static str, &'static str)>);

impl Faults {
    pub(super) fn add(&mut self, code: &'static str, message: &'static str) {
        if self.0.iter().all(|it| it.0 != code) {
            self.0.push((code, message));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The conversation of a data set: the only one, or the one whose number is named as leaf.
fn view(
    bytes: &[u8],
    options: &RepairOptions,
    read: fn(&Object<'_>, usize) -> View,
) -> Result<View, Error> {
    let entries = Entries::of(bytes);
    let objects: Vec<_> = (0..entries.len()).filter_map(|it| entries.object(it)).collect();
    let at = match &options.leaf {
        Some(leaf) => leaf.parse().map_err(|_| Error::NoLeaf(leaf.clone()))?,
        None if objects.len() > 1 => return Err(Error::Several { count: objects.len() }),
        None => 0,
    };
    match (objects.get(at), &options.leaf) {
        (Some(object), _) => Ok(View { findings: entries.findings.clone(), ..read(object, at) }),
        (None, Some(leaf)) => Err(Error::NoLeaf(leaf.clone())),
        (None, None) => Ok(View { findings: entries.findings.clone(), ..View::default() }),
    }
}

fn check(bytes: &[u8], options: &RepairOptions, rules: fn(&Object<'_>) -> Faults) -> Checked {
    let entries = Entries::of(bytes);
    let faults: Vec<Faults> = (0..entries.len())
        .map(|at| match entries.object(at) {
            Some(object) => rules(&object),
            None => {
                let mut faults = Faults::default();
                faults.add("session::bad-line", "the line is not a JSON object");
                faults
            }
        })
        .collect();
    let is_bad = |at: usize| !faults[at].is_empty();
    // Never all: a data set without lines is of no use to anybody.
    let drops = options.drop && (0..entries.len()).any(|it| !is_bad(it));
    let mut findings = entries.findings.clone();
    for (at, it) in faults.iter().enumerate() {
        let place = Place::line(entries.line(at));
        findings.extend(it.0.iter().map(|(code, message)| {
            let finding = Finding::error(code, place, *message);
            if drops { finding.mended("remove the line", true) } else { finding }
        }));
    }
    let mut edits = Vec::new();
    if drops {
        edits.extend(entries.drop(is_bad));
    }
    for (line, edit) in entries.blank_lines() {
        let finding = Finding::warning("session::blank-line", Place::line(line), "a blank line");
        findings.push(finding.mended("remove the line", options.all));
        edits.extend(options.all.then_some(edit));
    }
    Checked::of_text(&entries.text, entries.len(), entries.len(), findings, edits)
}

// The conversations of a data set: lines, or the elements of one array.

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
