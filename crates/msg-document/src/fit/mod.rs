//! A document that fits a budget (CP-70), and what was cut for it.
//!
//! ```text
//! FitOptions --read once--> Fitter --a document--> Fitted, or Reached where a plan was given
//! ```
//!
//! `msg-compact` decides what is cut, the caller who writes the summaries.

mod answer;
mod counter;
mod fitted;
mod fitter;
mod options;
mod original;
mod plan;
mod requests;
mod run;
mod summarizer;
mod tools;

pub use self::answer::{FitAnswer, Reached};
pub use self::counter::Counter;
pub use self::fitted::Fitted;
pub use self::fitter::Fitter;
pub(crate) use self::fitter::counter;
pub use self::options::{FitOptions, FitTarget, Usage};
pub use self::plan::Goal;
pub use self::run::fit;
pub use self::summarizer::{Digest, Summarizer};
pub(crate) use self::tools::tool_specs;
