//! A compaction as data (CP-61, CP-62): edits on the beginning of a history, guarded by
//! fingerprints, that can be stored, applied to a history that has grown, and undone. Making one is
//! the compactor's business.
//!
//! ```text
//! {"edits":[{"start":1,"end":5,"insert":[summary],"removed":[…]}],"before":{…},"after":{…}}
//! applied to    0 [1 2 3 4] 5 6 7 8    ─▶    0 summary 5 6 7 8    undone ─▶ the first again
//! ```

mod fingerprint;
mod make;
mod stored;
mod text;
mod turns;

use std::ops::Range;

use msg_core::{Layouts, Message};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use fingerprint::{Fingerprints, fingerprint};
use text::TextEdit;

pub(crate) use make::plan_of;

/// Edits on the first messages of a history.
///
/// The serde form is stable and holds what was removed, unless [`Plan::without_removed`] dropped it. The
/// default is the plan that changes nothing, and that every history is fit for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "stored::StoredPlan")]
pub struct Plan {
    /// In the order of the history, none touching another.
    edits: Vec<PlanEdit>,
    /// Of the messages that are covered, as they were.
    before: Fingerprints,
    /// Of what becomes of them.
    after: Fingerprints,
    /// What became of the text that they were read from, where undoing them does not give it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextEdit>,
}

/// One replacement of neighbouring messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanEdit {
    /// Index of the first message that is replaced.
    start: usize,
    /// Index behind the last; `start` for an insertion.
    end: usize,
    /// What takes their place.
    insert: Vec<Message>,
    /// What was there; absent when it was dropped from the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Vec<Message>>,
    /// The layouts of what is inserted and then of what was removed, which native JSON does not have.
    #[serde(default, skip_serializing_if = "Layouts::is_empty")]
    layouts: Layouts,
}

impl PlanEdit {
    fn new(range: Range<usize>, insert: Vec<Message>, removed: Option<Vec<Message>>) -> Self {
        let layouts = Layouts::of(insert.iter().chain(removed.iter().flatten()));
        Self { start: range.start, end: range.end, insert, removed, layouts }
    }

    fn restore_layouts(&mut self) {
        self.layouts.restore(self.insert.iter_mut().chain(self.removed.iter_mut().flatten()));
    }
}

impl Plan {
    /// How many messages at the beginning of a history the plan is about.
    pub fn covers(&self) -> usize {
        self.before.len()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The plan without the messages that it removes: smaller, and not to be undone.
    #[must_use]
    pub fn without_removed(mut self) -> Self {
        let edits = self.edits.into_iter();
        self.edits = edits.map(|it| PlanEdit::new(it.start..it.end, it.insert, None)).collect();
        self.text = None;
        self
    }

    /// Makes the edits at the beginning of a history and keeps whatever follows. A history to which
    /// the plan was applied already stays as it is. O(covered).
    ///
    /// # Errors
    /// The history does not begin with the messages that the plan was made for.
    pub fn apply(&self, history: Vec<Message>) -> Result<Vec<Message>, Error> {
        match self.before.first_difference(&history) {
            None => Ok(self.edited(history)),
            Some(message) if self.after.first_difference(&history).is_some() => {
                Err(Error::PlanMismatch { message })
            }
            Some(_) => Ok(history),
        }
    }

    /// Gives back the history to which the plan was applied, with whatever was appended since.
    ///
    /// # Errors
    /// The history does not begin with what the plan made, or the plan does not hold what it
    /// removed.
    pub fn undo(&self, history: Vec<Message>) -> Result<Vec<Message>, Error> {
        if let Some(message) = self.after.first_difference(&history) {
            return Err(Error::PlanMismatch { message });
        }
        self.reversed()?.apply(history)
    }

    fn edited(&self, history: Vec<Message>) -> Vec<Message> {
        let mut rest = history.into_iter();
        let mut result = Vec::with_capacity(rest.len());
        let mut at = 0;
        for edit in &self.edits {
            result.extend(rest.by_ref().take(edit.start - at));
            rest.by_ref().take(edit.end - edit.start).for_each(drop);
            result.extend(edit.insert.iter().cloned());
            at = edit.end;
        }
        result.extend(rest);
        result
    }

    fn reversed(&self) -> Result<Plan, Error> {
        let mut edits = Vec::with_capacity(self.edits.len());
        let (mut added, mut removed) = (0, 0);
        for edit in &self.edits {
            let insert = edit.removed.clone().ok_or(Error::NothingKept)?;
            let start = edit.start + added - removed;
            let end = start + edit.insert.len();
            added += edit.insert.len();
            removed += edit.end - edit.start;
            edits.push(PlanEdit::new(start..end, insert, None));
        }
        Ok(Plan { edits, before: self.after.clone(), after: self.before.clone(), text: None })
    }
}
