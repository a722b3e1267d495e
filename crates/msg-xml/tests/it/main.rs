//! The integration tests of msg-xml: the case files, and the laws over them and over random input.
//! What reading costs is not looked at here: no test reads a clock, and work is counted beside the code that does it.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod cases;
mod lag;
mod laws;
mod random;
mod shown;
