//! A bounded list of diagnostics: what a reader, writer or conversion found on its way.

use serde::{Serialize, Serializer};

use crate::{Diagnostic, Severity};

/// Collects diagnostics in the order of the input, up to a cap; the rest is counted.
///
/// ```
/// use msg_core::{Code, Diagnostic, Report};
///
/// let mut report = Report::with_cap(1);
/// report.push(Diagnostic::info(Code::new("message::role-spelling"), "read `human` as user"));
/// report.push(Diagnostic::error(Code::new("message::empty-content"), "no content"));
/// assert_eq!((report.len(), report.dropped()), (1, 1));
/// assert!(report.has_errors());
/// ```
#[derive(Debug, Clone)]
pub struct Report {
    kept: Vec<Diagnostic>,
    cap: usize,
    dropped: usize,
    has_errors: bool,
}

/// How many diagnostics a report keeps unless told otherwise.
const DEFAULT_CAP: usize = 10_000;

impl Report {
    /// An empty report that keeps 10 000 diagnostics.
    pub fn new() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }

    /// An empty report that keeps this many.
    pub fn with_cap(cap: usize) -> Self {
        Self { kept: Vec::new(), cap, dropped: 0, has_errors: false }
    }

    /// Adds a diagnostic, or counts it if the cap is reached.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.has_errors |= diagnostic.severity == Severity::Error;
        if self.kept.len() < self.cap {
            self.kept.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// Adds what another report holds, in its order; what that one dropped counts here.
    ///
    /// ```
    /// use msg_core::{Code, Diagnostic, Report};
    ///
    /// let mut report = Report::new();
    /// let mut other = Report::with_cap(0);
    /// other.push(Diagnostic::error(Code::new("message::empty-content"), "no content"));
    /// report.append(other);
    /// assert_eq!((report.len(), report.dropped(), report.has_errors()), (0, 1, true));
    /// ```
    pub fn append(&mut self, other: Report) {
        self.dropped += other.dropped;
        self.has_errors |= other.has_errors;
        self.extend(other.kept);
    }

    /// Those that were kept, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.kept.iter()
    }

    /// Gives away those that were kept.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.kept
    }

    /// How many were kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.dropped == 0
    }

    /// How many came after the cap was reached.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Whether one of them, kept or not, is an error.
    pub fn has_errors(&self) -> bool {
        self.has_errors
    }
}

/// The list of those that were kept.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.kept)
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

impl Extend<Diagnostic> for Report {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        diagnostics.into_iter().for_each(|it| self.push(it));
    }
}

impl FromIterator<Diagnostic> for Report {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Self {
        let mut report = Self::new();
        report.extend(diagnostics);
        report
    }
}

impl IntoIterator for Report {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.kept.into_iter()
    }
}

impl<'a> IntoIterator for &'a Report {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
