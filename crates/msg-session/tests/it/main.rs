//! The tests of the crate: case rows, laws over broken cases, and hostile input.
#![allow(clippy::unwrap_used)]

mod cases;
mod dataset;
mod hostile;
mod laws;
mod moved;
