//! Plans as they are stored. Messages are in native JSON, which has no layouts: those stand beside them,
//! so that an undone history goes out as it came in (CP-62). What is read is believed only as far as it
//! could be carried out.

use serde::Deserialize;

use super::{Fingerprints, Plan, PlanEdit, TextEdit};

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

impl TryFrom<StoredPlan> for Plan {
    type Error = &'static str;

    fn try_from(stored: StoredPlan) -> Result<Self, Self::Error> {
        let StoredPlan { mut edits, before, after, text } = stored;
        let (mut end, mut length) = (0, before.len());
        for edit in &mut edits {
            if edit.start < end || edit.end < edit.start || edit.end > before.len() {
                return Err("edits that are out of order or outside of what the plan covers");
            }
            let range = edit.end - edit.start;
            if edit.removed.as_ref().is_some_and(|it| it.len() != range) {
                return Err("an edit that holds other messages than it removes");
            }
            edit.restore_layouts();
            end = edit.end;
            length = length - range + edit.insert.len();
        }
        if length != after.len() {
            return Err("fingerprints of another number of messages than the edits leave");
        }
        Ok(Plan { edits, before, after, text })
    }
}
