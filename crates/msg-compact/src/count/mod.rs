//! Counting tokens (CP-50): one trait, the counters that come with the crate, and what media and
//! tool definitions cost. Counting a whole history and keeping it counted is the token index's business.
//!
//! ```text
//! "Grüße, 世界"   script  by the kinds of characters    o200k, cl100k  the table itself
//! ```

mod bpe;
mod calibrated;
mod chat;
pub(crate) mod counter;
mod forge;
mod media;
mod script;
mod tools;
mod wolo;

#[cfg(feature = "bpe")]
pub use bpe::Bpe;
pub use calibrated::{Calibrated, Ratio};
pub use counter::Growing;
pub(crate) use counter::{ErrorBar, TokenCounter};
pub use forge::Forge;
pub use media::MediaRates;
pub use script::{Script, ScriptCount};
pub use tools::ToolSpec;
pub use wolo::Wolo;
