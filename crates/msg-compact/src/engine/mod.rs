//! Running a pipeline over a chain: the machine that goes from stage to stage, hands out requests and takes
//! answers. What a policy may read and change is `state`'s, what is asked `request`'s.
//!
//! ```text
//! Compactor ── next() ──> Step::Summarize([request 0, request 1])      stage by stage, round by round
//!           <─ answer(1, Ok("…")) ─ answer(0, Err(…))                  in any order
//!           ── next() ──> Step::Done(outcome)
//! ```

mod answers;
mod compactor;
mod result;
mod stages;

pub use compactor::{Compactor, Refused, Step, compact_with};
