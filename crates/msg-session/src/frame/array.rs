//! Sessions that are one JSON document with a list of records in it (SE-21, SE-22, SE-25, SE-28).

use std::borrow::Cow;
use std::ops::Range;

use msg_json::{Problem, Reader};

use crate::edit::{Edit, apply};
use crate::finding::{Finding, SessionPlace};
use crate::frame::{clean, line_of};
use crate::json::{BLANKS, Object, Value};

/// A document after the frame rules.
pub(crate) struct Array<'a> {
    /// The text, damage mended.
    pub(crate) text: Cow<'a, str>,
    /// The elements, in order.
    pub(crate) records: Vec<Element>,
    /// What was wrong with the document.
    pub(crate) findings: Vec<Finding>,
    /// Where the list begins, at its bracket; none without a list.
    open: Option<usize>,
}

/// An element of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    start: usize,
    end: usize,
    line: u32,
}

impl Element {
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

impl Array<'_> {
    /// The object of a record; none of another value.
    pub(crate) fn object(&self, record: usize) -> Option<Object<'_>> {
        self.value(record)?.object()
    }

    /// The value of a record.
    pub(crate) fn value(&self, record: usize) -> Option<Value<'_>> {
        let it = self.records.get(record)?;
        Some(Value { source: &self.text[it.span()], at: it.start })
    }

    /// The values of all records.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        (0..self.records.len()).filter_map(|it| self.value(it))
    }

    /// The object around the list, if the document is one.
    pub(crate) fn document(&self) -> Option<Object<'_>> {
        Object::whole(&self.text, 0)
    }

    /// Where the list is, with its brackets.
    pub(crate) fn span(&self) -> Option<Range<usize>> {
        let open = self.open?;
        let end = self.records.last().map_or(open + 1, |it| it.end);
        let close = self.text[end..].find(']')?;
        Some(open..end + close + 1)
    }

    /// Whether there is a list.
    pub(crate) fn is_readable(&self) -> bool {
        self.open.is_some()
    }

    /// Where a record is.
    pub(crate) fn place(&self, record: usize) -> SessionPlace {
        let line = self.records.get(record).map_or(1, |it| it.line);
        SessionPlace { blob: 0, line, record: u32::try_from(record).ok(), block: None }
    }

    /// The edits that drop records.
    pub(crate) fn drop(&self, dropped: impl Fn(usize) -> bool) -> Vec<Edit> {
        let values: Vec<_> = (0..self.records.len()).filter_map(|it| self.value(it)).collect();
        crate::edit::drop_elements(&values, dropped)
    }

    /// The edit that puts a record after another one.
    pub(crate) fn insert_after(&self, record: usize, json: &str) -> Edit {
        Edit::insert(self.records[record].end, format!(",{json}"))
    }

    /// The edit that puts a record before another one.
    pub(crate) fn insert_before(&self, record: usize, json: &str) -> Edit {
        match record.checked_sub(1) {
            Some(before) => self.insert_after(before, json),
            None => Edit::insert(self.open.map_or(0, |it| it + 1), format!("{json},")),
        }
    }
}

/// Reads a document: a list, or an object that has the list in the member `member`.
pub(crate) fn read<'a>(bytes: &'a [u8], member: Option<&str>) -> Array<'a> {
    read_at(bytes, member.as_slice())
}

/// Reads a document: a list, or an object that has the list at the first of these paths where there is one. A path is
/// the names of members, with dots between; `*` is the first member that leads to a list.
pub(crate) fn read_at<'a>(bytes: &'a [u8], paths: &[&str]) -> Array<'a> {
    let mut findings = Vec::new();
    let text = clean(bytes, &mut findings);
    let mut res = Array { text, records: Vec::new(), findings, open: None };
    let Some(found) = find(&res.text, paths) else { return res.not_readable() };
    res.open = Some(found.open);
    res.records = found.elements;
    if let Some(edit) = found.torn {
        res.findings.push(torn(&res.text));
        res.text = Cow::Owned(apply(&res.text, vec![edit]));
    }
    res
}

impl Array<'_> {
    fn not_readable(mut self) -> Self {
        let (code, message) = match self.text.trim_matches(BLANKS).is_empty() {
            true => ("session::empty-session", "no records"),
            false => {
                ("session::not-readable", "the document has no list of records where one must be")
            }
        };
        self.findings.push(Finding::error(code, SessionPlace::line(1), message));
        self
    }
}

fn torn(text: &str) -> Finding {
    let line = 1 + memchr::memchr_iter(b'\n', text.trim_end_matches(BLANKS).as_bytes()).count();
    let place = SessionPlace::line(u32::try_from(line).unwrap_or(u32::MAX));
    let message = "the document was cut off while it was written";
    Finding::error("session::torn-tail", place, message)
        .mended("close the list after the last whole element", false)
}

/// The list of a document.
struct Found {
    open: usize,
    elements: Vec<Element>,
    /// The edit that closes a list that ends early.
    torn: Option<Edit>,
}

fn find(text: &str, paths: &[&str]) -> Option<Found> {
    let ends_early = match msg_json::validate(text) {
        Ok(()) => false,
        Err(it) => {
            let at_end = it.offset >= text.trim_end_matches(BLANKS).len();
            if !at_end && !matches!(it.problem, Problem::End { .. }) {
                return None;
            }
            true
        }
    };
    let start = text.len() - text.trim_start_matches(BLANKS).len();
    let (open, close) = match text.as_bytes().get(start)? {
        b'[' => (start, "]".to_owned()),
        b'{' => {
            let found = |path: &&str| Some((list_in(text, path)?, path.split('.').count()));
            let (open, depth) = paths.iter().find_map(found)?;
            (open, format!("]{}", "}".repeat(depth)))
        }
        _ => return None,
    };
    let elements = elements(text, open, line_of(text.as_bytes(), open));
    let torn = ends_early.then(|| {
        let end = elements.last().map_or(open + 1, |it| it.end);
        Edit::replace(end..text.len(), close)
    });
    Some(Found { open, elements, torn })
}

/// Where the list at this path in an object begins; the object need not be whole.
fn list_in(text: &str, path: &str) -> Option<usize> {
    let (name, rest) = path.split_once('.').map_or((path, None), |it| (it.0, Some(it.1)));
    let found = |at: usize| match rest {
        Some(rest) => list_in(&text[at..], rest).map(|it| at + it),
        None => (text.as_bytes().get(at) == Some(&b'[')).then_some(at),
    };
    let mut reader = Reader::from_text(text);
    reader.begin_object().ok()?;
    let mut res = None;
    while let Ok(Some(key)) = reader.next_key() {
        let at = reader.next_offset();
        // Of several members of a name the last one counts (MS-8).
        if key.text == name || name == "*" && res.is_none() {
            res = found(at);
        }
        if reader.raw().is_err() {
            break;
        }
    }
    res
}

/// Other lists of a document, by where they begin, in order. Linear in the text.
pub(crate) fn read_others<'a>(text: &'a str, opens: &[usize]) -> Vec<Array<'a>> {
    let (mut line, mut counted) = (1, 0);
    let read = |open: &usize| {
        line += line_of(&text.as_bytes()[counted..], open - counted) - 1;
        counted = *open;
        let (text, records) = (Cow::Borrowed(text), elements(text, *open, line));
        Array { text, records, findings: Vec::new(), open: Some(*open) }
    };
    opens.iter().map(read).collect()
}

/// The whole elements of the list that begins at `open`, in this line.
fn elements(text: &str, open: usize, mut line: u32) -> Vec<Element> {
    let mut reader = Reader::from_text(&text[open..]);
    let mut res = Vec::new();
    if reader.begin_array().is_err() {
        return res;
    }
    let mut counted = open;
    while let Ok(true) = reader.next_element() {
        let start = open + reader.next_offset();
        let Ok(source) = reader.raw() else { break };
        line += line_of(&text.as_bytes()[counted..], start - counted) - 1;
        counted = start;
        res.push(Element { start, end: start + source.len(), line });
    }
    res
}
