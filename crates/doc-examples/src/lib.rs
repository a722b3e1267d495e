//! The Rust examples of the README and of the pages in `docs/`, run as doctests.
//!
//! This crate has no code: each page with a Rust example is the documentation of an empty module, so
//! that `cargo test` compiles and runs what readers copy. `cargo xtask tidy` finds a page that is missing.

#[doc = include_str!("../../../docs/architecture.md")]
pub mod architecture {}

#[doc = include_str!("../../../README.md")]
pub mod readme {}

#[doc = include_str!("../../../docs/compaction.md")]
pub mod compaction {}

#[doc = include_str!("../../../docs/migrating.md")]
pub mod migrating {}

#[doc = include_str!("../../../docs/moving.md")]
pub mod moving {}

#[doc = include_str!("../../../docs/scale.md")]
pub mod scale {}

#[doc = include_str!("../../../docs/guides/agent.md")]
pub mod agent {}

#[doc = include_str!("../../../docs/guides/from-cast.md")]
pub mod from_cast {}

#[doc = include_str!("../../../docs/guides/hooks.md")]
pub mod hooks {}

#[doc = include_str!("../../../docs/guides/refused.md")]
pub mod refused {}

#[doc = include_str!("../../../docs/guides/streams.md")]
pub mod streams {}

#[doc = include_str!("../../../docs/guides/text-calls.md")]
pub mod text_calls {}
