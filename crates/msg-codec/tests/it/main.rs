//! The tests of the crate: the laws that need no wire format. `laws.rs` holds those that do as well; the
//! crates of the formats take it in.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "most laws need a family, and families live in other crates")]
mod laws;
mod media;
mod sse;
