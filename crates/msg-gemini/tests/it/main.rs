//! The tests of the crate: case files, laws over them, and laws over random input.
#![allow(clippy::unwrap_used)]

mod convert;
mod hostile;
mod laws;
mod random;
