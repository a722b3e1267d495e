//! Tool call ids: patterns, fresh ids, and giving a whole chain ids of one shape (CA-50 to CA-52).
//!
//! No random number is drawn here that the caller's id source did not give.

mod fresh;
mod normalize;
mod pattern;

pub(crate) use fresh::FreshIds;
pub use normalize::{IdChange, IdMap};
pub(crate) use normalize::{ids_of, is_of_pattern};
pub use pattern::{IdPattern, PatternError};
