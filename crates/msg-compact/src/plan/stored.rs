//! Plans as they are stored. Messages are in native JSON, which has no layouts: those stand beside them,
//! so that an undone history goes out as it came in (CP-62). What is read is believed only as far as it
//! could be carried out.

use msg_core::{Layouts, Message};
use serde::{Deserialize, Serialize, Serializer};

use super::{Fingerprints, Plan, PlanEdit, TextEdit};

/// An edit as it is written; what it holds is as in [`PlanEdit`].
#[derive(Serialize)]
struct Written<'a> {
    start: usize,
    end: usize,
    insert: &'a [Message],
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<&'a [Message]>,
    /// Of what is inserted and then of what was removed.
    #[serde(skip_serializing_if = "Layouts::is_empty")]
    layouts: Layouts,
}

/// A plan as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredPlan {
    edits: Vec<PlanEdit>,
    before: Fingerprints,
    after: Fingerprints,
    #[serde(default)]
    text: Option<TextEdit>,
}

/// An edit as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    start: usize,
    end: usize,
    insert: Vec<Message>,
    removed: Option<Vec<Message>>,
    #[serde(default)]
    layouts: Layouts,
}

impl Serialize for PlanEdit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { start, end, insert, removed } = self;
        let layouts = Layouts::of(insert.iter().chain(removed.iter().flatten()));
        let removed = removed.as_deref();
        Written { start: *start, end: *end, insert, removed, layouts }.serialize(serializer)
    }
}

impl From<Stored> for PlanEdit {
    fn from(stored: Stored) -> Self {
        let Stored { start, end, mut insert, mut removed, layouts } = stored;
        layouts.restore(insert.iter_mut().chain(removed.iter_mut().flatten()));
        PlanEdit { start, end, insert, removed }
    }
}

impl TryFrom<StoredPlan> for Plan {
    type Error = &'static str;

    fn try_from(stored: StoredPlan) -> Result<Self, Self::Error> {
        let StoredPlan { edits, before, after, text } = stored;
        let (mut end, mut length) = (0, before.len());
        for edit in &edits {
            if edit.start < end || edit.end < edit.start || edit.end > before.len() {
                return Err("edits that are out of order or outside of what the plan covers");
            }
            let range = edit.end - edit.start;
            if edit.removed.as_ref().is_some_and(|it| it.len() != range) {
                return Err("an edit that holds other messages than it removes");
            }
            end = edit.end;
            length = length - range + edit.insert.len();
        }
        if length != after.len() {
            return Err("fingerprints of another number of messages than the edits leave");
        }
        Ok(Plan { edits, before, after, text })
    }
}
