//! The numbers of the lines of a paginated session (SE-56): they rise from line to line.
//!
//! ```text
//! 0 1 2 3 4 5 3 4 9     ->     0 1 2 3 4 5 6 7 9
//! ```

use crate::edit::Edit;
use crate::finding::Finding;
use crate::frame::Lines;
use crate::json::Object;

/// A line of the file as it will be: one that is there, or the index of one that comes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Line {
    Record(usize),
    New(usize),
}

/// Checks the numbers of the lines that are there, in the order that they will have.
pub(super) fn check(lines: &Lines<'_>, order: impl Iterator<Item = usize>) -> Option<Finding> {
    let mut last = None;
    let mut bad = None;
    let mut count = 0;
    for record in order {
        let ordinal = ordinal(lines, record);
        match ordinal.filter(|it| Some(*it) > last) {
            Some(it) => last = Some(it),
            None => {
                count += 1;
                bad = bad.or(Some(record));
                last = Some(last.map_or(0, |it| it + 1));
            }
        }
    }
    let message = "the lines are not numbered upwards from here";
    let finding = Finding::error("session::bad-ordinal", lines.place(bad?), message);
    let fix = "renumber them; Codex rebuilds its index";
    Some(Finding { count: Some(count), ..finding.mended(fix, false) })
}

/// Numbers the lines: gives the edits of those that are there, and the numbers of those that come.
pub(super) fn number(
    lines: &Lines<'_>,
    order: impl Iterator<Item = Line>,
    edits: &mut Vec<Edit>,
) -> Vec<(usize, u64)> {
    let mut last = None;
    let mut new = Vec::new();
    for line in order {
        let next = last.map_or(0, |it: u64| it.saturating_add(1));
        match line {
            Line::New(it) => new.push((it, next)),
            Line::Record(it) => {
                if let Some(kept) = ordinal(lines, it).filter(|it| Some(*it) > last) {
                    last = Some(kept);
                    continue;
                }
                edits.extend(lines.object(it).map(|it| set(&it, next)));
            }
        }
        last = Some(next);
    }
    new
}

fn ordinal(lines: &Lines<'_>, record: usize) -> Option<u64> {
    lines.object(record)?.get("ordinal")?.number()
}

/// Sets the number of a line: it stands behind the time.
fn set(record: &Object<'_>, ordinal: u64) -> Edit {
    match (record.get("ordinal"), record.get("timestamp")) {
        (None, Some(time)) => Edit::insert(time.end(), format!(",\"ordinal\":{ordinal}")),
        _ => crate::edit::set_member(record, "ordinal", ordinal.to_string()),
    }
}
