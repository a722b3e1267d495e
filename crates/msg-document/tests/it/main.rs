//! The tests of the library, by data: what a document is taken for, and what is made of it.

mod accepted;
mod breakpoints;
mod convert;
mod fit;
mod gemini;
mod laws;
mod layout;
mod ledger;
mod meaning;
mod memory;
mod options;
mod recognise;
mod refused;
mod responses;
mod rows;
mod skeleton;
mod stores;
mod text_calls;
mod thinking;
mod types;
mod undo;
mod values;
mod wrong_types;
