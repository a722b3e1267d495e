//! Whether an edit did what it was asked for and nothing else (MF-39).

use crate::document::Document;
use crate::model::cell::Cell;
use std::borrow::Cow;
use std::collections::HashSet;

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

/// Whether every cell that was not edited says what it said before: one is neither among those of `old` that are to
/// be gone or to say something else, nor the one that was inserted into `new`.
pub(super) fn others_stay(
    old: &Document,
    new: &Document,
    gone: &HashSet<usize>,
    changed: &HashSet<usize>,
    inserted: Option<usize>,
) -> bool {
    let left = || old.cells().iter().filter(|it| !gone.contains(&it.ordinal()));
    let come = || new.cells().iter().filter(|it| Some(it.ordinal()) != inserted);
    left().count() == come().count()
        && left().zip(come()).all(|(a, b)| changed.contains(&a.ordinal()) || same(a, b))
}

/// As [`others_stay`], after one edit.
pub(super) fn others_stay_but(old: &Document, new: &Document, edited: Edited) -> bool {
    let (one, none) = (|it: usize| HashSet::from([it]), HashSet::new);
    match edited {
        Edited::Changed(at) => others_stay(old, new, &none(), &one(at), None),
        Edited::Deleted(at) => others_stay(old, new, &one(at), &none(), None),
        Edited::Inserted(at) => others_stay(old, new, &none(), &none(), Some(at)),
    }
}

fn same(a: &Cell, b: &Cell) -> bool {
    // What the title says of a type depends on the agents of other cells.
    let strong_and_type = |it: &Cell| (it.raw.at.strong, it.type_name().map(Cow::into_owned));
    strong_and_type(a) == strong_and_type(b) && a.raw.says_the_same(&b.raw)
}

/// Whether two cells have the same type and attributes.
pub(super) fn same_definition(a: &Cell, b: &Cell) -> bool {
    a.type_name() == b.type_name() && a.attrs().eq(b.attrs())
}

/// Whether two cells are the same but for the attributes of this key.
pub(super) fn same_but(a: &Cell, b: &Cell, key: &str) -> bool {
    let rest = |cell| Cell::attrs(cell).filter(|it| it.key != key);
    a.heading() == b.heading()
        && a.type_name() == b.type_name()
        && rest(a).eq(rest(b))
        && a.body() == b.body()
}
