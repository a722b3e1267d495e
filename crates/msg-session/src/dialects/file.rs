//! The records of a session of one file: its lines (goose, gemini-cli), or the elements of one array (cline,
//! exports of goose, older files of gemini-cli).

use crate::edit::Edit;
use crate::finding::{Finding, Place};
use crate::frame::{Array, Lines};
use crate::json::Value;

/// A session of one file.
#[derive(Clone, Copy)]
pub(super) enum File<'a> {
    Lines(&'a Lines<'a>),
    Array(&'a Array<'a>),
}

impl<'a> File<'a> {
    /// What was wrong with its frame.
    pub(super) fn findings(self) -> &'a [Finding] {
        match self {
            File::Lines(it) => &it.findings,
            File::Array(it) => &it.findings,
        }
    }

    /// Whether long values are marks.
    pub(super) fn has_marks(self) -> bool {
        matches!(self, File::Lines(it) if it.has_marks())
    }

    /// How many records there are.
    pub(super) fn len(self) -> usize {
        match self {
            File::Lines(it) => it.records.len(),
            File::Array(it) => it.records.len(),
        }
    }

    /// The value of a record.
    pub(super) fn value(self, record: usize) -> Option<Value<'a>> {
        match self {
            File::Lines(it) => it.value(record),
            File::Array(it) => it.value(record),
        }
    }

    /// Where a record is.
    pub(super) fn place(self, record: usize) -> Place {
        match self {
            File::Lines(it) => it.place(record),
            File::Array(it) => it.place(record),
        }
    }

    /// The edits that drop these records.
    pub(super) fn drop(self, records: &[usize]) -> Vec<Edit> {
        match self {
            File::Lines(it) => records.iter().map(|at| it.remove(*at)).collect(),
            File::Array(it) => it.drop(|at| records.binary_search(&at).is_ok()),
        }
    }

    /// The edit that puts a record after another one.
    pub(super) fn insert_behind(self, record: usize, json: &str) -> Edit {
        match self {
            File::Lines(it) => it.insert_behind(record, json),
            File::Array(it) => it.insert_behind(record, json),
        }
    }

    /// The edit that puts a record before another one.
    pub(super) fn insert_before(self, record: usize, json: &str) -> Edit {
        match self {
            File::Lines(it) => it.insert_before(record, json),
            File::Array(it) => it.insert_before(record, json),
        }
    }
}
