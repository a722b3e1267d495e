//! The tests of the library: laws over rows in every layout, nested columns by cases, and what a call costs.

mod cases;
mod hostile;
mod laws;
mod memory;
mod nested;
mod random;
