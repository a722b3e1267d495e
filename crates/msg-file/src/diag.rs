//! Findings are gathered by offset while reading and given lines at the end, in one pass.

use memchr::memchr_iter;
use msg_core::{Code, Diagnostic, Report, Severity};

/// Where findings are gathered.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

#[derive(Debug)]
struct Finding {
    at: usize,
    end: usize,
    severity: Severity,
    code: &'static str,
    message: String,
}

impl Findings {
    pub(crate) fn error(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        self.push(Severity::Error, at, code, message);
    }

    pub(crate) fn warning(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        self.push(Severity::Warning, at, code, message);
    }

    pub(crate) fn info(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        self.push(Severity::Info, at, code, message);
    }

    fn push(
        &mut self,
        severity: Severity,
        at: usize,
        code: &'static str,
        message: impl Into<String>,
    ) {
        self.0.push(Finding { at, end: at, severity, code, message: message.into() });
    }

    /// Drops everything but the errors found so far.
    pub(crate) fn keep_errors(&mut self) {
        self.0.retain(|f| f.severity == Severity::Error);
    }

    /// Sorted by line and code, one of a code a line, the first `cap` of them kept (MF-48, MF-59).
    pub(crate) fn finish(mut self, source: &[u8], cap: usize) -> Report {
        self.0.sort_by_key(|f| f.at);
        let mut report = Report::with_cap(cap);
        let (mut line, mut seen, mut line_start) = (1, 0, 0);
        let mut same: Vec<Diagnostic> = Vec::new();
        for f in self.0 {
            for n in memchr_iter(b'\n', &source[seen..f.at]) {
                line += 1;
                line_start = seen + n + 1;
            }
            seen = f.at;
            if same.first().is_some_and(|d| d.at.line != Some(line)) {
                flush(&mut same, &mut report);
            }
            let column = String::from_utf8_lossy(&source[line_start..f.at.min(line_start + 4096)])
                .chars()
                .count()
                + 1;
            let code = Code::new(f.code);
            same.push(
                Diagnostic::new(f.severity, code, f.message)
                    .at_line(line, column)
                    .at_span(f.at..f.end),
            );
        }
        flush(&mut same, &mut report);
        report
    }
}

fn flush(same: &mut Vec<Diagnostic>, report: &mut Report) {
    same.sort_by(|a, b| a.code.cmp(&b.code));
    same.dedup_by(|b, a| a.code == b.code);
    report.extend(same.drain(..));
}
