//! The tests of the crate: cases, laws over generated chains, and unit tests for the rest.
#![allow(clippy::unwrap_used)]

mod cases;
mod errors;
mod hostile;
mod laws;
mod random;
mod units;
