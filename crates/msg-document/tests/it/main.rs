//! The tests of the library, by data: what a document is taken for.

mod recognise;
mod responses;
