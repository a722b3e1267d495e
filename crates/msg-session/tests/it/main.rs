//! The tests of the crate: case rows, laws over broken cases, and hostile input.
#![allow(clippy::unwrap_used)]

mod broken;
mod cases;
mod dataset;
mod dialects;
mod hostile;
mod laws;
mod moved;
mod recorded;
mod secrets;
mod written;
