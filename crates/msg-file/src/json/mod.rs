//! The JSON form of documents (MF-58): members in a fixed order, written straight to text.
//!
//! Reading JSON is not done here, and neither is anything a library user cannot get from the types.

mod cell;
mod document;
mod out;

pub(crate) use out::Out;
