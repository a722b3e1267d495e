//! Sessions of JSON lines: records, and the faults of lines (SE-20 to SE-26).

use std::borrow::Cow;
use std::ops::Range;

use crate::edit::Edit;
use crate::excerpt::{self, Elided};
use crate::finding::{Finding, SessionPlace};
use crate::frame::{Fault, damage, join, save};
use crate::json::{BLANKS, Object, Value};

/// A session of JSON lines after the frame rules: its whole text, or an excerpt of it.
pub(crate) struct Lines<'a> {
    /// The text, damaged lines mended.
    pub(crate) text: String,
    /// The lines that are objects, in order.
    pub(crate) records: Vec<Record>,
    /// What was wrong with lines.
    pub(crate) findings: Vec<Finding>,
    /// What the text is an excerpt of, if it is one.
    pub(crate) elided: Option<Box<Elided<'a>>>,
}

/// A line that is an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    start: usize,
    end: usize,
    /// Line of the input, from 1.
    pub(crate) line: u32,
    /// Whether it is too large to be looked into (SE-2).
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
    /// The lines without what they were read from.
    pub(crate) fn without_source(self) -> Lines<'static> {
        let Lines { text, records, findings, .. } = self;
        Lines { text, records, findings, elided: None }
    }

    /// The object of a record; none of one that is too large.
    pub(crate) fn object(&self, record: usize) -> Option<Object<'_>> {
        let it = self.records.get(record).filter(|it| !it.opaque)?;
        Object::whole(&self.text[it.span()], it.start)
    }

    /// The value of a record, without the blanks around it; none of one that is too large.
    pub(crate) fn value(&self, record: usize) -> Option<Value<'_>> {
        let it = self.records.get(record).filter(|it| !it.opaque)?;
        let text = &self.text[it.span()];
        let source = text.trim_start_matches(BLANKS);
        let at = it.start + (text.len() - source.len());
        Some(Value { source: source.trim_end_matches(BLANKS), at })
    }

    /// The text of a record with all that an excerpt leaves out; none if it cannot be read again.
    pub(crate) fn whole(&self, record: usize) -> Option<Cow<'_, str>> {
        let span = self.records.get(record)?.span();
        let Some(elided) = &self.elided else { return Some(Cow::Borrowed(&self.text[span])) };
        let bytes = elided.whole(span)?;
        String::from_utf8(bytes).ok().map(Cow::Owned)
    }

    /// What is in the text of an edit for a span of this text.
    pub(crate) fn copied(&self, span: Range<usize>) -> Cow<'_, str> {
        match self.has_marks() {
            true => Cow::Owned(excerpt::span(span)),
            false => Cow::Borrowed(&self.text[span]),
        }
    }

    /// Whether two records are the same, byte for byte.
    pub(crate) fn are_same(&self, a: usize, b: usize) -> bool {
        let span = |it: usize| self.records[it].span();
        match &self.elided {
            None => self.text[span(a)] == self.text[span(b)],
            Some(it) => it.len_of(span(a)) == it.len_of(span(b)) && self.whole(a) == self.whole(b),
        }
    }

    /// Whether long values are marks.
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

    /// The edit that puts a line after a record (SE-5): it ends like that one.
    pub(crate) fn insert_after(&self, record: usize, line: &str) -> Edit {
        let (end, following) = (self.records[record].end, self.following(record));
        match &self.text[end..following] {
            "" => Edit::insert(following, format!("\n{line}")),
            line_end => Edit::insert(following, format!("{line}{line_end}")),
        }
    }

    /// The edit that puts a line before a record.
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

/// What is left of a damaged line: whole objects, each with what follows it.
pub(crate) struct SavedLine {
    pub(crate) findings: Vec<Finding>,
    pub(crate) pieces: Vec<(String, &'static str)>,
}

/// Saves what can be saved of a line that is not an object, or of several that are one (SE-21 to SE-26, SE-142). The
/// first is line `number`, and record `record` if it is one.
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
    // Only the last line has no line end.
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

/// The clean text of a damaged line, or of several that are one record, which come with their line ends.
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

/// The finding about a record that is not looked into (SE-2).
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
            "the NUL bytes are removed",
        ),
        Fault::Utf8 => {
            ("session::invalid-utf8", "the line is not UTF-8", "each bad sequence becomes U+FFFD")
        }
        Fault::Joined => (
            "session::joined-lines",
            "several records in one line",
            "each record gets a line of its own",
        ),
        Fault::Merged => (
            "session::merged-line",
            "truncated record, followed by another one in the same line",
            "the text before the whole record is removed",
        ),
        Fault::NotAnObject if is_torn => (
            "session::torn-tail",
            "the last line was cut off while it was written",
            "the line is removed",
        ),
        Fault::NotAnObject => {
            ("session::bad-line", "the line is not a JSON object", "the line is removed")
        }
    };
    Finding::error(code, SessionPlace::line(line), message).mended(fix, false)
}
