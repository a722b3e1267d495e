//! Whether an edit did what it was asked for and nothing else (MF-39).

use crate::document::Document;
use crate::model::cell::Cell;
use std::borrow::Cow;

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
    let others = |doc, but| Document::cells(doc).iter().filter(move |it| Some(it.ordinal()) != but);
    others(old, gone).count() == others(new, come).count()
        && others(old, gone).zip(others(new, come)).all(|(a, b)| same(a, b))
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
