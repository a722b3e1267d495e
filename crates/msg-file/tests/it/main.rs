//! Tests of the crate as its users see it.
#![allow(clippy::unwrap_used)]

mod cases;
mod crash;
mod laws;
mod random;
mod scale;
mod store;
mod written;
