//! The tests of the library: cases in `test_data`, and laws over them, over hostile texts and over made-up ones.

#![allow(clippy::unwrap_used)]

mod cases;
mod laws;
