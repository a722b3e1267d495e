//! What a check and a repair answer.

use msg_core::Diagnostic;
use serde::Serialize;

use crate::format::Format;
use crate::json::{repair_json, to_json};

/// What a check found.
#[derive(Debug, Clone)]
pub struct Checked {
    /// No finding is an error.
    pub ok: bool,
    /// What was read.
    pub format: Format,
    /// How many messages were read.
    pub messages: usize,
    /// All findings, in the order of the messages.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    pub(crate) fn trace(&self) {
        let (format, findings) = (self.format.name(), self.diagnostics.len());
        tracing::debug!(format, messages = self.messages, findings, ok = self.ok, "checked");
    }

    /// Whether there is no error, and something that could have one.
    pub fn is_clean(&self) -> bool {
        self.ok && self.messages > 0
    }

    /// The line of `msg check --jsonl`, without its end.
    pub fn to_json(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Line<'a> {
            ok: bool,
            format: Format,
            messages: usize,
            diagnostics: &'a [Diagnostic],
        }
        let Checked { ok, format, messages, ref diagnostics } = *self;
        to_json(&Line { ok, format, messages, diagnostics })
    }
}

/// A mended document.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The document in the format in which it came.
    pub document: Vec<u8>,
    /// Whether anything was mended.
    pub changed: bool,
    /// How many messages were read.
    pub messages: usize,
    /// What was changed, in the order of the input.
    pub edits: Vec<Diagnostic>,
    /// The errors that stay, because nothing mends them: what a check of the mended document finds, in its order.
    pub remaining: Vec<Diagnostic>,
}

impl Repaired {
    /// The report line: `{"edits":[…]}`, and `remaining` where errors stay, without its end.
    pub fn report_json(&self) -> Vec<u8> {
        repair_json(&self.edits, &self.remaining, None)
    }
}
