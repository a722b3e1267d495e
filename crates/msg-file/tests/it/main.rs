//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used)]

mod cases;
mod crash;
mod edits;
mod forms;
mod growing;
mod laws;
mod mutated;
mod random;
mod rendered;
mod scale;
mod store;
mod written;
