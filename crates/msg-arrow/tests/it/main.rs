//! The tests of the library: laws over rows in every layout, nested columns by cases, and what a call costs.

mod columns;
mod laws;
mod nested_columns;
