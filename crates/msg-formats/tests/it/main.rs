//! The tests of the library, by data: what a document is taken for, and in what layout it is written.

mod laws;
mod layout;
mod recognise;
