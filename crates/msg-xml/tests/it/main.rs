//! The integration tests of msg-xml: the case files, and the laws over them and over random input.
//! Cost is checked in `growth`, by counting bytes of work, never by a clock.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod cases;
mod check;
mod laws;
mod random;
