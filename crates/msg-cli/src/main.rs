//! The `msg` program.
fn main() {}
