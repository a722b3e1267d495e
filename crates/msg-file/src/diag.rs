//! Collects findings by offset while reading and computes their lines at the end, in one pass; and the extra checks of
//! `msg file check`.
//!
//! A hostile file may have millions of findings: for each code a limited number is kept and the others are counted.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter};
use msg_core::{Code, CodeInfo, Diagnostic, Report, Severity};

use crate::document::MessageFile;
use crate::error::CODES;
use crate::error::FileLimits;
use crate::history::{end_in, headings};

/// Where findings are gathered.
#[derive(Debug)]
pub(crate) struct Findings {
    source: Arc<[u8]>,
    /// How many of a code are kept; none where they are not wanted.
    cap: usize,
    kept: Vec<Finding>,
    codes: Vec<OfCode>,
    /// Those beyond the cap, counted.
    over: Report,
}

#[derive(Debug)]
struct Finding {
    at: usize,
    info: &'static CodeInfo,
    /// More than the table of codes says.
    message: Option<Cow<'static, str>>,
}

/// What is known of the findings of a code.
#[derive(Debug)]
struct OfCode {
    info: &'static CodeInfo,
    count: usize,
    /// From the last one to the end of its line: there is one of a code a line.
    line: Range<usize>,
}

impl Findings {
    /// For a file that is read; `cap` is how many a report takes.
    pub(crate) fn of(source: &Arc<[u8]>, cap: usize) -> Self {
        let (kept, codes) = (Vec::new(), Vec::new());
        Self { source: Arc::clone(source), cap, kept, codes, over: Report::with_cap(0) }
    }

    /// For a piece that is read for its structure alone.
    pub(crate) fn nobodys() -> Self {
        Self::of(&Arc::from([]), 0)
    }

    /// Adds what was found at an offset; how bad it is and what is said of it, the table of codes says.
    pub(crate) fn add(&mut self, at: usize, code: &'static str) {
        self.note(at, code, None);
    }

    /// The same with a sentence that names what was found.
    pub(crate) fn tell(
        &mut self,
        at: usize,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) {
        self.note(at, code, Some(message.into()));
    }

    fn note(&mut self, at: usize, code: &'static str, message: Option<Cow<'static, str>>) {
        if self.source.is_empty() && self.cap == 0 {
            return;
        }
        let known = self.codes.iter_mut().find(|it| it.info.code == code);
        if known.as_ref().is_some_and(|it| it.line.contains(&at)) {
            return;
        }
        let end = memchr(b'\n', &self.source[at..]).map_or(self.source.len(), |n| at + n);
        // The last line of a file may be empty.
        let line = at..end.max(at + 1);
        let (info, count) = match known {
            Some(it) => {
                (it.count, it.line) = (it.count + 1, line);
                (it.info, it.count)
            }
            None => {
                let info = CODES
                    .iter()
                    .find(|it| it.code == code)
                    .expect("because every code is in the table");
                self.codes.push(OfCode { info, count: 1, line });
                (info, 1)
            }
        };
        if count > self.cap {
            self.over.push(Diagnostic::new(info.severity, Code::new(code), ""));
        } else {
            self.kept.push(Finding { at, info, message });
        }
    }

    /// Drops everything but the errors found so far.
    pub(crate) fn keep_errors(&mut self) {
        self.kept.retain(|f| f.info.severity == Severity::Error);
    }

    /// Sorted by line and code, one of a code a line, the first ones kept (MF-48, MF-59).
    pub(crate) fn finish(mut self) -> Report {
        self.kept.sort_by_key(|f| f.at);
        let mut report = Report::with_cap(self.cap);
        let (mut line, mut seen, mut line_start) = (1, 0, 0);
        let mut same: Vec<Diagnostic> = Vec::new();
        for f in self.kept {
            for n in memchr_iter(b'\n', &self.source[seen..f.at]) {
                line += 1;
                line_start = seen + n + 1;
            }
            seen = f.at;
            if same.first().is_some_and(|d| d.at.line != Some(line)) {
                flush(&mut same, &mut report);
            }
            let before = &self.source[line_start..f.at.min(line_start + 4096)];
            let column = String::from_utf8_lossy(before).chars().count() + 1;
            let message = f.message.unwrap_or(Cow::Borrowed(f.info.summary));
            let found = Diagnostic::new(f.info.severity, Code::new(f.info.code), message);
            same.push(found.at_line(line, column).at_span(f.at..f.at));
        }
        flush(&mut same, &mut report);
        report.append(self.over);
        report
    }
}

fn flush(same: &mut Vec<Diagnostic>, report: &mut Report) {
    same.sort_by(|a, b| a.code.cmp(&b.code));
    same.dedup_by(|b, a| a.code == b.code);
    report.extend(same.drain(..));
}

// Findings of `msg file check` in addition to the diagnostics of reading (MF-50).

impl MessageFile {
    /// All diagnostics: those of reading and the hints that only a check gives.
    ///
    /// ```
    /// use msg_file::{MessageFile, Mode};
    /// let doc = MessageFile::parse(&b"# %%\n\n    indented\n"[..], Mode::MessageFile)?;
    /// assert_eq!(doc.check()[0].code, "msgfile::body-indented-code");
    /// # Ok::<(), msg_file::Error>(())
    /// ```
    #[must_use]
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = Findings::of(&self.source, FileLimits::default().max_diagnostics);
        id_case(self, &mut found);
        for cell in self.cells() {
            let body = cell.raw.bodies()[0].of(self.bytes());
            if body.starts_with(b"    ") || body.starts_with(b"\t") {
                let at = cell.raw.bodies()[0].start;
                found.add(at, "msgfile::body-indented-code");
            }
        }
        text_after_section(self, &mut found);
        let mut all = self.diagnostics().to_vec();
        all.extend(found.finish().into_vec());
        all.sort_by(|a, b| (a.at.line, &a.code).cmp(&(b.at.line, &b.code)));
        all
    }
}

/// GFM compares footnote labels without case, so such ids lead to one note.
fn id_case(doc: &MessageFile, found: &mut Findings) {
    let mut seen: HashMap<String, String> = HashMap::new();
    for cell in doc.cells() {
        let Some(id) = cell.id() else { continue };
        match seen.get(&id.to_lowercase()) {
            Some(other) if *other != *id => {
                let at = cell.raw.heading_line().start;
                found.add(at, "msgfile::id-case-collision");
            }
            Some(_) => {}
            None => drop(seen.insert(id.to_lowercase(), id.into_owned())),
        }
    }
}

/// Headings in cells that a reader would take for the end of the section: what follows is not sent.
fn text_after_section(doc: &MessageFile, found: &mut Findings) {
    const CODE: &str = "msgfile::text-after-section";
    for at in doc.cells().iter().filter_map(|it| end_in(doc, it)) {
        found.add(at, CODE);
    }
    let (Some(section), Some(last)) = (doc.section(), doc.cells().last()) else { return };
    let spans = last.raw.bodies();
    for (at, _) in headings(doc.bytes(), spans, section.level, &doc.syntax.fences) {
        found.tell(
            at,
            CODE,
            "the heading ends the section for a reader but is text of the last cell",
        );
    }
}
