//! Where a request stops being a continuation of the one before it, in the order in which the provider caches it: which
//! member changed and how, what the provider can still read under its own rules, and what that costs.
//!
//! ```text
//! body ─▶ prompt (cells: tools, system, messages) ─▶ compare ─▶ change, notes
//! log line ─▶ entry ─▶ ledger ─▶ LedgerRow {"line":3,"run":1,"parent":2,"relation":"growth","usage":{…},"missed":{…}}
//! recorded responses ─▶ session ─▶ SessionRow
//! ```
//!
//! Nothing is sent anywhere, no clock is read and no text is guessed: usage is what was recorded, rules and prices are
//! data.

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod cell;
mod change;
mod compare;
mod entry;
mod error;
mod family;
mod ledger;
mod prompt;
mod session;
mod usage;

pub use crate::error::{CODES, help};
pub use change::How;
pub use compare::{CacheOptions, CachePlace, Change, Comparison, RULES, Relation, compare, rates};
pub use error::Error;
pub use family::Family;
pub use ledger::{Ledger, LedgerOptions, LedgerRow, LedgerTotals, Missed, Rewrite, RowComparison};
pub use session::{Response, SessionLedger, SessionRow};
pub use usage::{CacheUsage, Price, Prices};
