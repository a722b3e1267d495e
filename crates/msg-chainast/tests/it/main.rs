//! The tests of the crate: case files, laws, and what neither reaches.
#![allow(clippy::unwrap_used)]

mod cases;
mod openai;
mod units;
