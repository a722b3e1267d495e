//! What a stream did that it should not have done: each kind once, with the byte where it was first
//! seen. The kinds are the `stream::` codes of OA-16 to OA-26.

use msg_core::{Code, Diagnostic, Severity};

macro_rules! notes {
    ($($name:ident $severity:ident $code:literal,)*) => {
        /// A kind of finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Note {
            $($name,)*
        }

        impl Note {
            fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

notes! {
    // Bytes and events (OA-16, OA-17).
    InvalidUtf8 Warning "stream::invalid-utf8",
    BareJson Warning "stream::bare-json",
    CommentInData Warning "stream::comment-in-data",
    BadJson Warning "stream::bad-json",
    EventTooLarge Error "stream::event-too-large",
    Ndjson Warning "stream::ndjson",
    UnknownEvent Warning "stream::unknown-event",
    UnknownDelta Warning "stream::unknown-delta",
    // Calls (OA-19).
    IndexMissing Warning "stream::index-missing",
    IndexReused Warning "stream::index-reused",
    CallRepeated Warning "stream::call-repeated",
    IdChanged Warning "stream::id-changed",
    IdSynthesised Warning "stream::id-synthesised",
    NameRepeated Warning "stream::name-repeated",
    NameFragment Warning "stream::name-fragment",
    NameChanged Warning "stream::name-changed",
    EmptyObjectPrefix Warning "stream::empty-object-prefix",
    ArgumentsObject Warning "stream::arguments-object",
    ArgumentsEmpty Info "stream::arguments-empty",
    ArgumentsIncomplete Warning "stream::arguments-incomplete",
    ArgumentsConcatenated Warning "stream::arguments-concatenated",
    ArgumentsInvalid Warning "stream::arguments-invalid",
    ArgumentsNotObject Warning "stream::arguments-not-object",
    // The end (OA-20, OA-21).
    FinishDuplicate Info "stream::finish-duplicate",
    FinishConflict Warning "stream::finish-conflict",
    FinishPromoted Warning "stream::finish-promoted",
    FinishDemoted Warning "stream::finish-demoted",
    DataAfterFinish Warning "stream::data-after-finish",
    ProviderError Error "stream::provider-error",
    Truncated Error "stream::truncated",
    // Text and items (OA-22 to OA-24).
    ItemIdChanged Warning "stream::item-id-changed",
    DoneDiffers Warning "stream::done-differs",
    SignatureMissing Warning "stream::signature-missing",
    LoneSurrogate Warning "stream::lone-surrogate",
    Limit Error "stream::limit",
}

/// The findings of one stream, in the order in which they were first made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    seen: u64,
    found: Vec<(Note, u64, String)>,
}

impl Notes {
    /// Adds a finding at a byte offset, unless one of its kind is there. O(1), and free of
    /// allocation from the second time on.
    pub(crate) fn add(&mut self, note: Note, at: u64, message: impl FnOnce() -> String) {
        let bit = 1 << note as u64;
        if self.seen & bit == 0 {
            self.seen |= bit;
            self.found.push((note, at, message()));
        }
    }

    /// Moves findings that lie behind `end` to it: in text that was not UTF-8 a place is found by
    /// counting what the bytes became, which may be more than they were.
    pub(crate) fn cap(&mut self, end: u64) {
        for (_, at, _) in &mut self.found {
            *at = end.min(*at);
        }
    }

    /// Takes over the findings of another one that are new here.
    pub(crate) fn merge(&mut self, other: &Notes) {
        for (note, at, message) in &other.found {
            self.add(*note, *at, || message.clone());
        }
    }

    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|(_, at, _)| *at);
        found.into_iter().map(|(note, at, message)| diagnostic(*note, *at, message)).collect()
    }
}

fn diagnostic(note: Note, at: u64, message: &str) -> Diagnostic {
    let offset = usize::try_from(at).unwrap_or(usize::MAX);
    Diagnostic::new(note.severity(), Code::new(note.code()), message.to_owned())
        .at_span(offset..offset)
}
