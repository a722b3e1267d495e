//! The tests of the crate: cases, laws over made-up chains, and what they do not reach.
#![allow(clippy::unwrap_used)]

mod cases;
mod hostile;
mod laws;
mod random;
mod units;
