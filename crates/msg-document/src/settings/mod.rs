//! Settings of a request that a provider refuses, and their repairs (RQ-1, RQ-13 to RQ-15, RQ-47).
//!
//! ```text
//! {"temperature":1.5,…}     for anthropic: error[profile::setting] `temperature` must be from 0 to 1, found 1.5
//! {"thinking":{"type":"enabled",…},"tool_choice":{"type":"any"},…}
//!                           `tool_choice` must not force a call while thinking is on
//! ```

mod ranges;
mod together;

use msg_chainast::Profile;
use msg_core::request::RequestHead;
use msg_core::{Code, Diagnostic, Message, RawJson, Severity};
use msg_formats::HeadEdit;

use crate::head_edits::{HeadEdits, Tense};

/// A request and its provider.
pub(crate) struct Asked<'a> {
    pub(crate) head: &'a RequestHead,
    /// The profile, for the requested model.
    pub(crate) profile: &'a Profile,
    pub(crate) messages: &'a [Message],
    /// The name of the format.
    pub(crate) format: &'a str,
}

impl Asked<'_> {
    /// Whether the request is in the provider's own format, so it is sent unchanged.
    fn is_own(&self) -> bool {
        self.profile.format == self.format
    }
}

/// Reports the settings of a head that the provider refuses.
pub(crate) fn check_settings(asked: &Asked<'_>) -> Vec<Diagnostic> {
    let all = ranges::refused(asked).into_iter().chain(together::refused(asked));
    let answered = |it: Refused| {
        let mut found = it.said(Tense::Imperative);
        found.answer = asked.profile.answer(&found).cloned();
        found
    };
    all.map(answered).collect()
}

/// Adds the edits that repair them.
pub(crate) fn add_setting_edits(asked: &Asked<'_>, res: &mut HeadEdits) {
    for mut it in ranges::refused(asked).into_iter().chain(together::refused(asked)) {
        it.edits.drain(..).for_each(|(pointer, edit)| res.add(pointer, edit));
        res.found.push(it.said(Tense::Past));
    }
}

/// A refused setting, and its repair.
struct Refused {
    found: Diagnostic,
    /// The repair in the imperative and in the past; `None` without a repair.
    fix: Option<(String, String)>,
    edits: Vec<(String, HeadEdit)>,
}

impl Refused {
    fn of(sentence: &str, pointer: &str) -> Self {
        let found = Diagnostic::error(Code::new("profile::setting"), sentence.to_owned());
        Refused { found: found.at_pointer(pointer), fix: None, edits: Vec::new() }
    }

    /// Repaired by another value.
    fn set(self, pointer: &str, value: RawJson) -> Self {
        let fix = (format!("write {}", value.text()), format!("wrote {}", value.text()));
        self.mended(fix, [(pointer, HeadEdit::Set(value))])
    }

    /// Repaired by leaving the setting out.
    fn removed(self, pointer: &str) -> Self {
        let name = pointer.trim_start_matches('/').replace('/', ".");
        let fix = (format!("remove `{name}`"), format!("removed `{name}`"));
        self.mended(fix, [(pointer, HeadEdit::Remove)])
    }

    fn mended<const N: usize>(
        mut self,
        fix: (String, String),
        edits: [(&str, HeadEdit); N],
    ) -> Self {
        self.fix = Some(fix);
        self.edits.extend(edits.map(|(pointer, edit)| (pointer.to_owned(), edit)));
        self
    }

    fn said(self, tense: Tense) -> Diagnostic {
        let Some((would, did)) = self.fix else { return self.found };
        match tense {
            Tense::Imperative => self.found.with_fix(would),
            Tense::Past => {
                let mut found = self.found.with_fix(did);
                found.severity = Severity::Warning;
                found
            }
        }
    }
}
