//! What a stream did that it should not have done: each kind once, with the byte where it was first
//! seen. The kinds are the `stream::` codes of OA-16 to OA-26.

use msg_core::{Code, Diagnostic, Severity};

/// A kind of finding: its code and how grave it is. A crate with codes of its own makes constants of
/// this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    code: &'static str,
    severity: Severity,
}

/// What is found at the level of bytes and events (OA-16, OA-17), of calls (OA-19) and of ends
/// (OA-20, OA-21), whatever the family. What each means stands in [`CODES`](crate::CODES).
#[allow(missing_docs, reason = "the names are those of the codes, whose meanings stand in CODES")]
impl Note {
    pub const INVALID_UTF8: Self = Self::warning("stream::invalid-utf8");
    pub const BARE_JSON: Self = Self::warning("stream::bare-json");
    pub const COMMENT_IN_DATA: Self = Self::warning("stream::comment-in-data");
    pub const BAD_JSON: Self = Self::warning("stream::bad-json");
    pub const EVENT_TOO_LARGE: Self = Self::error("stream::event-too-large");
    pub const NDJSON: Self = Self::warning("stream::ndjson");
    pub const SEVERAL_RESPONSES: Self = Self::warning("stream::several-responses");
    pub const FOREIGN_FORMAT: Self = Self::error("stream::foreign-format");
    pub const UNKNOWN_EVENT: Self = Self::warning("stream::unknown-event");
    pub const INDEX_MISSING: Self = Self::warning("stream::index-missing");
    pub const INDEX_REUSED: Self = Self::warning("stream::index-reused");
    pub const CALL_REPEATED: Self = Self::warning("stream::call-repeated");
    pub const ID_CHANGED: Self = Self::warning("stream::id-changed");
    pub const ID_SYNTHESISED: Self = Self::warning("stream::id-synthesised");
    pub const NAME_REPEATED: Self = Self::warning("stream::name-repeated");
    pub const NAME_FRAGMENT: Self = Self::warning("stream::name-fragment");
    pub const NAME_CHANGED: Self = Self::warning("stream::name-changed");
    pub const EMPTY_OBJECT_PREFIX: Self = Self::warning("stream::empty-object-prefix");
    pub const ARGUMENTS_OBJECT: Self = Self::warning("stream::arguments-object");
    pub const ARGUMENTS_EMPTY: Self = Self::info("stream::arguments-empty");
    pub const ARGUMENTS_INCOMPLETE: Self = Self::warning("stream::arguments-incomplete");
    pub const ARGUMENTS_CONCATENATED: Self = Self::warning("stream::arguments-concatenated");
    pub const ARGUMENTS_INVALID: Self = Self::warning("stream::arguments-invalid");
    pub const ARGUMENTS_NOT_OBJECT: Self = Self::warning("stream::arguments-not-object");
    pub const FINISH_DUPLICATE: Self = Self::info("stream::finish-duplicate");
    pub const FINISH_CONFLICT: Self = Self::warning("stream::finish-conflict");
    pub const FINISH_PROMOTED: Self = Self::warning("stream::finish-promoted");
    pub const FINISH_DEMOTED: Self = Self::warning("stream::finish-demoted");
    pub const DATA_AFTER_FINISH: Self = Self::warning("stream::data-after-finish");
    pub const WRONG_TYPE: Self = Self::warning("stream::wrong-type");
    pub const LEFT_OUT: Self = Self::warning("stream::left-out");
    pub const DATA_AFTER_END: Self = Self::warning("stream::data-after-end");
    pub const PROVIDER_ERROR: Self = Self::error("stream::provider-error");
    pub const TRUNCATED: Self = Self::error("stream::truncated");
    pub const DONE_DIFFERS: Self = Self::warning("stream::done-differs");
    pub const LONE_SURROGATE: Self = Self::warning("stream::lone-surrogate");
    pub const LIMIT: Self = Self::error("stream::limit");

    /// Something that made the result poorer than what the provider sent.
    #[must_use]
    pub const fn error(code: &'static str) -> Self {
        Self { code, severity: Severity::Error }
    }

    /// Something that should not be, and was dealt with.
    #[must_use]
    pub const fn warning(code: &'static str) -> Self {
        Self { code, severity: Severity::Warning }
    }

    /// Something worth knowing.
    #[must_use]
    pub const fn info(code: &'static str) -> Self {
        Self { code, severity: Severity::Info }
    }
}

/// The findings of one stream, in the order in which they were first made.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    found: Vec<(Note, u64, String)>,
    /// Nothing more is taken.
    closed: bool,
}

impl Notes {
    /// Adds a finding at a byte offset, unless one of its kind is there. Free of allocation from the
    /// second time on, and O(1): there are a few dozen kinds.
    pub fn add(&mut self, note: Note, at: u64, message: impl FnOnce() -> String) {
        if !self.closed && !self.found.iter().any(|(it, ..)| *it == note) {
            self.found.push((note, at, message()));
        }
    }

    /// Takes no more findings.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Moves findings that lie behind `end` to it: in text that was not UTF-8 a place is found by
    /// counting what the bytes became, which may be more than they were.
    pub fn cap(&mut self, end: u64) {
        for (_, at, _) in &mut self.found {
            *at = end.min(*at);
        }
    }

    /// Takes over the findings of another one that are new here.
    pub fn merge(&mut self, other: &Notes) {
        for (note, at, message) in &other.found {
            self.add(*note, *at, || message.clone());
        }
    }

    /// The findings as diagnostics, by byte offset.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|(_, at, _)| *at);
        found.into_iter().map(|(note, at, message)| diagnostic(*note, *at, message)).collect()
    }
}

fn diagnostic(note: Note, at: u64, message: &str) -> Diagnostic {
    let offset = usize::try_from(at).unwrap_or(usize::MAX);
    Diagnostic::new(note.severity, Code::new(note.code), message.to_owned()).at_span(offset..offset)
}
