//! The tests of the library, by data: what a document is taken for, and what is made of it.

mod answers;
mod convert;
mod fit;
mod laws;
mod ledger;
mod meaning;
mod memory;
mod recognise;
mod refused;
mod responses;
mod rows;
mod skeleton;
mod stores;
mod text_calls;
mod undo;
mod wrong_types;
