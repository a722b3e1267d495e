//! The tests of the crate: case files, laws, and what neither reaches.
#![allow(clippy::unwrap_used)]

mod cases;
mod hostile;
mod laws;
mod openai;
mod providers;
mod random;
mod units;
