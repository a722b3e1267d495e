//! A document that fits a budget (CP-70), and what was cut for it.
//!
//! What is cut is decided by `msg-compact`, who writes the summaries by the caller.

mod answer;
mod lead;
mod options;
mod run;
mod summarizer;

pub use self::answer::reached_json;
pub use self::options::{FitOptions, OneOrMany, Usage, no_tool};
pub use self::run::{Fitted, Goal, first_requests, fit, fit_messages, read_plan};
pub use self::summarizer::{Digest, Summarizer};
