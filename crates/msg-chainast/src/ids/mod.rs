//! Tool call ids: patterns, fresh ids, and giving a whole chain ids of one shape (CA-50 to CA-52).
//!
//! No random number is drawn here that the caller's id source did not give.
//!
//! ```text
//! pattern  call_{r:24:x}      r: so many random characters, x: of the hexadecimal digits
//! fresh    call_9f86d081884c7d659a2feaa0
//! normalize  functions.f:0 ─▶ call_…, in the call and in each of its results
//! ```

mod fresh;
mod kept;
mod normalize;
mod pattern;

pub(crate) use fresh::FreshIds;
pub(crate) use kept::KeptIds;
pub use normalize::{IdChange, IdMap};
pub use pattern::IdPattern;
pub(crate) use pattern::MAX_FIELD;
