//! Whether an edit did what it was asked for and nothing else (MF-39).

use crate::document::Document;
use crate::model::cell::Cell;

/// What an edit is to do to the list of cells; ordinals from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edited {
    /// This cell says something else.
    Changed(usize),
    /// This cell is gone.
    Deleted(usize),
    /// A cell has come to this place.
    Inserted(usize),
}

/// Whether every cell that was not edited says what it said before.
pub(super) fn others_stay(old: &Document, new: &Document, edited: Edited) -> bool {
    let (gone, come) = match edited {
        Edited::Changed(at) => (Some(at), Some(at)),
        Edited::Deleted(at) => (Some(at), None),
        Edited::Inserted(at) => (None, Some(at)),
    };
    let (before, after) = (others(old, gone), others(new, come));
    let counts = old.cells().len() + usize::from(come.is_some())
        == new.cells().len() + usize::from(gone.is_some());
    counts
        && before
            .zip(after)
            .all(|(a, b)| same_heading(a, b) && same_definition(a, b) && a.body() == b.body())
}

fn others(doc: &Document, but: Option<usize>) -> impl Iterator<Item = &Cell> {
    doc.cells().iter().filter(move |it| Some(it.ordinal()) != but)
}

fn same_heading(a: &Cell, b: &Cell) -> bool {
    a.heading() == b.heading()
}

/// Whether two cells have the same type and attributes.
pub(super) fn same_definition(a: &Cell, b: &Cell) -> bool {
    a.type_name() == b.type_name() && a.attrs().eq(b.attrs())
}

/// Whether two cells are the same but for the attributes of this key.
pub(super) fn same_but(a: &Cell, b: &Cell, key: &str) -> bool {
    let rest = |cell: &Cell| {
        cell.attrs()
            .filter(|it| it.key != key)
            .map(|it| (it.key.into_owned(), it.value.map(|it| it.into_owned())))
            .collect::<Vec<_>>()
    };
    same_heading(a, b)
        && a.type_name() == b.type_name()
        && rest(a) == rest(b)
        && a.body() == b.body()
}
