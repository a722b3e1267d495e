//! The two forms of a session: JSON Lines, with the faults of lines (SE-20 to SE-26), and one JSON document with a list
//! of records (SE-21, SE-22, SE-25, SE-28).

use std::{borrow::Cow, ops::Range};

use msg_json::{Problem, Reader};

use crate::edit::{BLANKS, Edit, Object, Value, apply};
use crate::error::{Finding, SessionPlace};
use crate::excerpt;
use crate::excerpt::Elided;
use crate::frame::{Fault, clean, damage, join, line_of, save};

/// A session of JSON lines after the frame rules: its whole text, or an excerpt of it.
pub(crate) struct Lines<'a> {
    /// The text, with damaged lines repaired.
    pub(crate) text: String,
    /// The lines that are objects, in order.
    pub(crate) records: Vec<Record>,
    /// Findings about lines.
    pub(crate) findings: Vec<Finding>,
    /// The source of the text, if the text is an excerpt.
    pub(crate) elided: Option<Box<Elided<'a>>>,
}

/// A line that is an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    start: usize,
    end: usize,
    /// Line of the input, from 1.
    pub(crate) line: u32,
    /// Whether it is too large to be parsed (SE-2).
    pub(crate) opaque: bool,
}

impl Record {
    pub(crate) fn new(span: Range<usize>, line: u32, opaque: bool) -> Self {
        Self { start: span.start, end: span.end, line, opaque }
    }

    /// The line without its line end.
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

impl Lines<'_> {
    /// The lines, detached from their source.
    pub(crate) fn without_source(self) -> Lines<'static> {
        let Lines { text, records, findings, .. } = self;
        Lines { text, records, findings, elided: None }
    }

    /// The object of a record; `None` if the record is too large.
    pub(crate) fn object(&self, record: usize) -> Option<Object<'_>> {
        let it = self.records.get(record).filter(|it| !it.opaque)?;
        Object::whole(&self.text[it.span()], it.start)
    }

    /// The value of a record, without surrounding blanks; `None` if the record is too large.
    pub(crate) fn value(&self, record: usize) -> Option<Value<'_>> {
        let it = self.records.get(record).filter(|it| !it.opaque)?;
        let text = &self.text[it.span()];
        let source = text.trim_start_matches(BLANKS);
        let at = it.start + (text.len() - source.len());
        Some(Value { source: source.trim_end_matches(BLANKS), at })
    }

    /// The complete text of a record, including what an excerpt leaves out; `None` if it cannot be read again.
    pub(crate) fn whole(&self, record: usize) -> Option<Cow<'_, str>> {
        let span = self.records.get(record)?.span();
        let Some(elided) = &self.elided else { return Some(Cow::Borrowed(&self.text[span])) };
        let bytes = elided.whole(span)?;
        String::from_utf8(bytes).ok().map(Cow::Owned)
    }

    /// The text of an edit that copies a span of this text.
    pub(crate) fn copied(&self, span: Range<usize>) -> Cow<'_, str> {
        match self.has_marks() {
            true => Cow::Owned(excerpt::span(span)),
            false => Cow::Borrowed(&self.text[span]),
        }
    }

    /// Whether two records are equal byte for byte.
    pub(crate) fn are_same(&self, a: usize, b: usize) -> bool {
        let span = |it: usize| self.records[it].span();
        match &self.elided {
            None => self.text[span(a)] == self.text[span(b)],
            Some(it) => it.len_of(span(a)) == it.len_of(span(b)) && self.whole(a) == self.whole(b),
        }
    }

    /// Whether long values are replaced by marks.
    pub(crate) fn has_marks(&self) -> bool {
        self.elided.is_some()
    }

    /// Where a record is.
    pub(crate) fn place(&self, record: usize) -> SessionPlace {
        let line = self.records.get(record).map_or(1, |it| it.line);
        SessionPlace { blob: 0, line, record: u32::try_from(record).ok(), block: None }
    }

    /// The edit that removes a line with its line end.
    pub(crate) fn remove(&self, record: usize) -> Edit {
        let start = self.records[record].start;
        Edit::remove(start..self.following(record))
    }

    /// The edit that inserts a line after a record, with the same line end (SE-5).
    pub(crate) fn insert_after(&self, record: usize, line: &str) -> Edit {
        let (end, following) = (self.records[record].end, self.following(record));
        match &self.text[end..following] {
            "" => Edit::insert(following, format!("\n{line}")),
            line_end => Edit::insert(following, format!("{line}{line_end}")),
        }
    }

    /// The edit that inserts a line before a record.
    pub(crate) fn insert_before(&self, record: usize, line: &str) -> Edit {
        let Record { start, end, .. } = self.records[record];
        let line_end = match &self.text[end..self.following(record)] {
            "" => "\n",
            it => it,
        };
        Edit::insert(start, format!("{line}{line_end}"))
    }

    fn following(&self, record: usize) -> usize {
        let end = self.records[record].end;
        let rest = self.text.as_bytes().get(end..).unwrap_or_default();
        match rest {
            [b'\r', b'\n', ..] => end + 2,
            [b'\n', ..] => end + 1,
            _ => end,
        }
    }
}

/// What is left of a damaged line: complete objects, each with the text after it.
pub(crate) struct SavedLine {
    pub(crate) findings: Vec<Finding>,
    pub(crate) pieces: Vec<(String, &'static str)>,
}

/// Recovers what it can from a line that is not an object, or from several lines that form one (SE-21 to SE-26,
/// SE-142). The first line is `number`, and record `record` if it becomes one.
pub(crate) fn save_lines<'l>(
    mut lines: impl Iterator<Item = &'l [u8]> + Clone,
    line_end: &str,
    number: u32,
    record: usize,
) -> SavedLine {
    let line_end = match line_end {
        "\r\n" => "\r\n",
        "\n" => "\n",
        _ => "",
    };
    // Only the last line can lack a line end.
    let is_torn = line_end.is_empty();
    let mut findings = Vec::new();
    for (line, number) in lines.clone().zip(number..) {
        findings.extend(damage(line).into_iter().map(|it| finding(it, is_torn, number)));
    }
    if let Some(text) = join(lines.clone()) {
        let record = u32::try_from(record).ok();
        findings.push(raw_control(SessionPlace { record, ..SessionPlace::line(number) }));
        return SavedLine { findings, pieces: vec![(text, line_end)] };
    }
    let saved = save(lines.next().unwrap_or_default());
    findings.extend(saved.fault.map(|it| finding(it, is_torn, number)));
    let is_blank = saved.objects.is_empty() && saved.fault != Some(Fault::NotAnObject);
    let count = saved.objects.len();
    let following = |n: usize| if n + 1 < count && is_torn { "\n" } else { line_end };
    let objects = saved.objects.into_iter().enumerate();
    let mut pieces: Vec<_> = objects.map(|(n, it)| (it, following(n))).collect();
    if is_blank {
        pieces.push((String::new(), line_end));
    }
    SavedLine { findings, pieces }
}

/// The clean text of a damaged line, or of several lines that form one record. `lines` includes line ends.
pub(crate) fn clean_lines(lines: &[u8]) -> Vec<u8> {
    let split = lines.split_inclusive(|it| *it == b'\n');
    let bare = |line: &'_ [u8]| {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        text.strip_suffix(b"\r").filter(|_| text.len() < line.len()).unwrap_or(text).len()
    };
    let last = split.clone().next_back().unwrap_or_default();
    let line_end = std::str::from_utf8(&last[bare(last)..]).unwrap_or_default();
    let saved = save_lines(split.map(|it| &it[..bare(it)]), line_end, 0, 0);
    saved
        .pieces
        .iter()
        .flat_map(|(object, following)| [object, *following])
        .collect::<String>()
        .into()
}

fn raw_control(at: SessionPlace) -> Finding {
    let message = "the record has a line break or another control character as it is, which JSON does not allow";
    Finding::error("session::raw-control", at, message)
        .mended("escape the control characters and write the record as one line", false)
}

/// The finding about a record that is not parsed because of its size (SE-2).
pub(crate) fn too_large(len: u64, record: usize, line: u32) -> Finding {
    let place = SessionPlace { record: u32::try_from(record).ok(), ..SessionPlace::line(line) };
    let message = format!("the record is {len} bytes long, more than is looked into");
    Finding::warning("session::record-too-large", place, message)
}

pub(crate) fn byte_order_mark() -> Finding {
    let message = "the file begins with a byte order mark, which the agent refuses";
    Finding::error("session::bom", SessionPlace::line(1), message)
        .mended("remove the byte order mark", false)
}

fn finding(fault: Fault, is_torn: bool, line: u32) -> Finding {
    let (code, message, fix) = match fault {
        Fault::Nul => (
            "session::nul-bytes",
            "the line holds NUL bytes, as after a power loss",
            "remove the NUL bytes",
        ),
        Fault::Utf8 => (
            "session::invalid-utf8",
            "the line is not UTF-8",
            "replace each bad sequence with U+FFFD",
        ),
        Fault::Joined => (
            "session::joined-lines",
            "several records in one line",
            "give each record a line of its own",
        ),
        Fault::Merged => (
            "session::merged-line",
            "truncated record, followed by another one in the same line",
            "remove the text before the whole record",
        ),
        Fault::NotAnObject if is_torn => (
            "session::torn-tail",
            "the last line was cut off while it was written",
            "remove the line",
        ),
        Fault::NotAnObject => {
            ("session::bad-line", "the line is not a JSON object", "remove the line")
        }
    };
    Finding::error(code, SessionPlace::line(line), message).mended(fix, false)
}

// Sessions that are one JSON document with a list of records (SE-21, SE-22, SE-25, SE-28).

/// A document after the frame rules.
pub(crate) struct Array<'a> {
    /// The text, with damage repaired.
    pub(crate) text: Cow<'a, str>,
    /// The elements, in order.
    pub(crate) records: Vec<Element>,
    /// Findings about the document.
    pub(crate) findings: Vec<Finding>,
    /// The offset of the list's opening bracket; `None` without a list.
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
    /// The object of a record; `None` for other values.
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

    /// The enclosing object, if the document is one.
    pub(crate) fn document(&self) -> Option<Object<'_>> {
        Object::whole(&self.text, 0)
    }

    /// The span of the list, with its brackets.
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

    /// The edit that inserts a record after another one.
    pub(crate) fn insert_after(&self, record: usize, json: &str) -> Edit {
        Edit::insert(self.records[record].end, format!(",{json}"))
    }

    /// The edit that inserts a record before another one.
    pub(crate) fn insert_before(&self, record: usize, json: &str) -> Edit {
        match record.checked_sub(1) {
            Some(before) => self.insert_after(before, json),
            None => Edit::insert(self.open.map_or(0, |it| it + 1), format!("{json},")),
        }
    }
}

/// Reads a document: a list, or an object with the list in `member`.
pub(crate) fn read<'a>(bytes: &'a [u8], member: Option<&str>) -> Array<'a> {
    read_at(bytes, member.as_slice())
}

/// Reads a document: a list, or an object with the list at the first of these paths that exists. A path is a sequence
/// of member names separated by dots; `*` is the first member that leads to a list.
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
    /// The edit that closes a truncated list.
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

/// The offset of the list at this path in an object, which may be incomplete.
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
        // The last of several members with the same name counts (MS-8).
        if key.text == name || name == "*" && res.is_none() {
            res = found(at);
        }
        if reader.raw().is_err() {
            break;
        }
    }
    res
}

/// Other lists of a document, by their offsets in order. Linear in the text.
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

/// The complete elements of the list at `open`, which is in line `line`.
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
