//! What a plan did to the text of a document, for formats that say more than their messages do: undoing
//! gives that text back, byte for byte (CP-62).
//!
//! Knows nothing of formats: it is one replacement in a text, guarded by a fingerprint of all before its end.
//!
//! ```text
//! read     [{"id":"own-1", … }, {"id":"own-2", … }, {"id":"own-3", … }]
//! written  [{"id":"summary"}, {"id":"own-3", … }]
//!            └ start       └ end: what stands there, and all before it, is what was written
//! ```

use serde::{Deserialize, Serialize};

use super::Plan;
use super::fingerprint::Fingerprints;

/// The one replacement that makes what was read of what was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextEdit {
    /// The first byte of what was written that is replaced.
    start: usize,
    /// The byte behind the last.
    end: usize,
    /// Of all that was written before `end`.
    made: Fingerprints,
    /// What was there.
    was: String,
}

impl TextEdit {
    fn between(read: &str, written: &str) -> Self {
        let same = |(a, b): &(u8, u8)| a == b;
        let start = read.bytes().zip(written.bytes()).take_while(same).count();
        // The two share the bytes before it, so that what is a whole character in one is in the other.
        let start = (0..=start).rev().find(|it| read.is_char_boundary(*it)).unwrap_or(0);
        let rest = (&read[start..], &written[start..]);
        let tail = rest.0.bytes().rev().zip(rest.1.bytes().rev()).take_while(same).count();
        let tail = (0..=tail).rev().find(|it| read.is_char_boundary(read.len() - it)).unwrap_or(0);
        let end = written.len() - tail;
        let was = read[start..read.len() - tail].to_owned();
        TextEdit { start, end, made: Fingerprints::of_text(&written[..end]), was }
    }

    fn undo(&self, written: &str) -> Option<String> {
        let made = written.get(..self.end).filter(|it| Fingerprints::of_text(it) == self.made)?;
        let kept = made.get(..self.start)?;
        Some([kept, &self.was, &written[self.end..]].concat())
    }
}

impl Plan {
    /// The plan with what it did to the text of a document: `read` became `written`. For formats that say
    /// more than the messages of a history, whose text [`Plan::undo`] cannot give back. Linear in the texts.
    ///
    /// ```
    /// use msg_compact::Plan;
    ///
    /// let plan = Plan::default().with_text("[{one} , {two}]", "[{two}]");
    /// assert_eq!(plan.undo_text("[{two}, {three}]").as_deref(), Some("[{one} , {two}, {three}]"));
    /// assert_eq!(plan.undo_text("[]"), None);
    /// ```
    #[must_use]
    pub fn with_text(mut self, read: &str, written: &str) -> Self {
        self.text = Some(TextEdit::between(read, written));
        self
    }

    /// The text that was read, with whatever was put behind what was written; none if the plan does not hold
    /// it ([`Plan::with_text`]), or if the text does not begin with what was written.
    pub fn undo_text(&self, written: &str) -> Option<String> {
        self.text.as_ref()?.undo(written)
    }
}
