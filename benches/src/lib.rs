//! What the bench targets share: inputs of any size, allocation counts, a check of growth.
//!
//! The benches beside this library compile the peers too, pinned in `Cargo.toml`, so this package is
//! not among the default members: `cargo xtask bench` builds it, `cargo test` does not.
//! Nothing here asserts a time; what can be asserted on a shared machine is a count or a ratio.
//!
//! The peers unify features into this build: serde_json has `preserve_order` and `float_roundtrip`
//! here, which the workspace does not ask for. Figures of JSON parsing are a little low for that.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "benches read the clock and print counts"
)]

pub mod allocs;
pub mod chains;
pub mod corpus;
pub mod growth;
pub mod mutations;
