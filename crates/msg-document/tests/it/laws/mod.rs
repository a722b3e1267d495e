//! Laws that hold for any input.

pub(crate) mod closure;
pub(crate) mod ledger;
pub(crate) mod meaning;
pub(crate) mod signatures;
pub(crate) mod skeleton;
pub(crate) mod undo;
